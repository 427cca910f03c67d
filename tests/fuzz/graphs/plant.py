#!/usr/bin/env python3
"""Plants bugs in copies of the fuser's sources, for fuzz_graphs_planted.

    plant.py SOURCES OUTPUT

Each bug replaces one piece of text by another, where `tile::ir::planted` is its number. A text has to
stand in its file exactly once; if the source changes, say here what the same bug looks like now.
Nothing of this is in the fuser itself.
"""
import pathlib
import sys

# name, file, kind, text, its replacement. A text is an expression (e) or statements (s).
BUGS = [
    # From an element to the producer's coordinates.
    ("the part of an index below another digit is not cut off", "InlineProducer", "s",
     "part.expr = part.expr % (*digits)[n - 1].first;", ""),
    ("the part of an index above another digit is not divided", "InlineProducer", "s",
     "part.expr = part.expr.floorDiv(factor);", ""),
    ("a digit may be as large as it likes", "InlineProducer", "e",
     "isDigit(operandOf(digit.second), above.first / digit.first)", "true"),
    ("what a padded load reads outside is computed all the same", "InlineProducer", "e",
     "isPadded ? select(transplant, edge, load, value) : value", "value"),
    ("a padded load pads only behind the end", "InlineProducer", "s",
     "require(arith::CmpIPredicate::sge, coordinate, zero);", ""),
    ("a padded load pads from one element behind the end", "InlineProducer", "e",
     "arith::CmpIPredicate::slt", "arith::CmpIPredicate::sle"),
    ("a clamped load is taken for one that is inside", "InlineProducer", "e",
     "load.getBounds() == BoundsMode::clamp", "false"),
    # Which calls may be one.
    ("a path through a third kernel is not seen", "InlineProducer", "e",
     "llvm::any_of(op->getOperands(), isKept)", "false"),
    ("of two tensors between two calls the first is taken for both", "InlineProducer", "e",
     "edges[*fused->tensorAt(load.getSource())]", "edges[0]"),
    ("what is kept besides is stored where the consumer reads", "InlineProducer", "e",
     "areAtOneIndex(theirs, ours)", "true"),
    # What follows a sum.
    ("what reads another element of a sum is taken for a map of it", "FinishReduction", "e",
     "load.getMap() == store.getMap()", "true"),
    ("what is made of a sum is lost where its kernel gets another one", "FusedKernel", "s",
     "behind.clone(op, mapping);", ""),
    # A value in the midst of another kernel.
    ("a clamp of the producer's is dropped", "Transplant", "e",
     "op.getBounds()",
     "(op.getBounds() == BoundsMode::clamp ? BoundsMode::within : op.getBounds())"),
    ("quotients of coordinates round toward zero", "Transplant", "e",
     "DivOp::create(builder, loc, type, lhs, rhs, nullptr, nullptr)",
     "DivOp::create(builder, loc, type, lhs, rhs, nullptr, builder.getUnitAttr())"),
    ("coordinates, and what is drawn by them, are those of the program", "Transplant", "e",
     "one(materialize(index, op->getLoc()))",
     "one(materialize(index.dims.empty() || !isa<SpanType>(index.dims[0].getType())"
     " ? index : HostIndex::ofSpan(index.dims[0]), op->getLoc()))"),
    # Axes and domains.
    ("an axis with a condition is taken for the whole one", "TransplantRegions", "e",
     "isRestricted(guest, axis) || isRestricted(kernel, axisOf(other))", "false"),
    ("a block is taken for the whole axis", "TransplantRegions", "e",
     "isa<BlockArgument>(own) != isa<BlockArgument>(other)", "false"),
    ("an axis that another coordinate varies along, too, is taken for the whole one",
     "TransplantRegions", "e", "isUsedBeside(axis, axisOf(other), scope)", "false"),
    ("a condition of the producer's domain is dropped", "TransplantRegions", "s",
     "RestrictOp::create(builder, op.getLoc(), set, dims, syms, unless);", ""),
    ("both branches are the first", "TransplantRegions", "s",
     "ok &= cloneYield(from.front().getTerminator()->getOperands(), types, &scope, end);",
     "scope.region = &op.getThenRegion();"
     " ok &= cloneYield(op.thenYield()->getOperands(), types, &scope, end);"),
    ("axes of different lengths are united", "UniteAxes", "e",
     "traceDims(other.getUpper()) == upper", "true"),
    # The signature, and what is rounded.
    ("dims that differ are united", "FusedDims", "e",
     "guestValues[theirs] != originValues[mine]", "false"),
    ("two tensors of one type are taken for one", "FusedKernel", "e",
     "param.operand == operand && param.shape == guestShape(n)",
     "param.operand && param.operand.getType() == operand.getType() && param.shape == guestShape(n)"),
    ("a loop of the producer's loses its block size", "FusedKernel", "s",
     "merged.set(now, size);", ""),
    ("rounding through the buffer's type is dropped", "FusedKernel", "s",
     "closeFma(kernel);",
     "closeFma(kernel); kernel.walk([](arith::ExtFOp wide) {"
     " if (auto narrow = wide.getIn().getDefiningOp<arith::TruncFOp>();"
     " narrow && narrow.getIn().getType() == wide.getType())"
     " wide.getResult().replaceAllUsesWith(narrow.getIn()); });"),
]


def main():
    sources, output = map(pathlib.Path, sys.argv[1:3])
    output.mkdir(parents=True, exist_ok=True)
    # All that are asked for are written, also those without a bug.
    texts = {file: (sources / (file + ".cpp")).read_text() for file in sys.argv[3:]}
    # The later of two bugs in one place first: what it leaves has the text of the earlier one.
    places = {}
    for number, (name, file, kind, old, new) in enumerate(BUGS, 1):
        places.setdefault((file, old), []).append((number, kind, new))
    for (file, old), bugs in places.items():
        text = texts[file]
        if text.count(old) != 1:
            names = ", ".join(BUGS[n - 1][0] for n, _, _ in bugs)
            sys.exit(f"{file}.cpp: {text.count(old)} places, not one, have `{old}`: "
                     f"plant.py has to say what these bugs look like now: {names}")
        now = old
        for number, kind, new in bugs:
            if kind == "e":
                now = f"(tile::ir::planted == {number} ? ({new}) : ({now}))"
            else:
                now = f"{{ if (tile::ir::planted == {number}) {{ {new} }} else {{ {now} }} }}"
        texts[file] = text.replace(old, now)
    for file, text in texts.items():
        (output / (file + ".cpp")).write_text(
            "namespace tile::ir { extern unsigned planted; }\n" + text)
    names = "".join(f'    "{name}",\n' for name, *_ in BUGS)
    (output / "Planted.cpp").write_text(
        '#include "tests/fuzz/graphs/Planted.h"\n\nunsigned tile::ir::planted = 0;\n\n'
        f"const std::vector<const char *> tile::fuzz::plantedBugs = {{\n{names}}};\n")


main()
