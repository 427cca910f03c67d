"""At which sizes a graph is measured (fusion_loses.py): nothing is known of it but what `tilec fuse` says.

A graph's dims are found to be *free* (each can be doubled alone), *tied* (they can be doubled together alone, such as
heads and groups of heads) or *fixed* (constants, and what a condition holds). Sizes are made of these groups: all of
them alike, one of them 1, one of them long, and so on, each as large as some bytes allow. What the graph's `requires`
refuses is no size of it; `plan` is asked.
"""

import dataclasses
import math
import re

BYTES = {"bool": 1, "i8": 1, "u8": 1, "f8e4m3": 1, "f8e5m2": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4,
         "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8}
USUAL = 4096  # what tilec fuse plans a dim for that nobody has given
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclasses.dataclass(frozen=True)
class Limits:
    """Bytes of all tensors of a graph together, and seconds of a run."""
    small: int
    middle: int
    large: int
    most: int
    seconds: float


GPU = Limits(small=1 << 18, middle=1 << 24, large=1 << 29, most=8 << 30, seconds=0.02)
CPU = Limits(small=1 << 18, middle=1 << 22, large=1 << 26, most=256 << 20, seconds=0.1)


@dataclasses.dataclass
class Tensor:
    """One of a graph's, inputs and those between calls, with extents over dims: "f32[M, 2 * N]"."""
    name: str
    type: str
    extents: list

    @staticmethod
    def of(name, text):
        element, _, rest = text.partition("[")
        return Tensor(name, element, [part.strip() for part in rest.rstrip("]").split(",") if part.strip()])

    def shape(self, dims):
        return [extent_of(extent, dims) for extent in self.extents]

    def bytes(self, dims):
        return BYTES[self.type] * math.prod(self.shape(dims))


def extent_of(text, dims):
    """An extent that no dim gives is taken as tilec fuse takes it."""
    words = text.replace("floordiv", "//").replace("mod", "%").replace("?", str(USUAL))
    if not re.fullmatch(r"[\w\s+*/%()-]*", words):
        return USUAL
    words = NAME.sub(lambda name: str(dims.get(name[0], USUAL)), words)
    return max(0, int(eval(re.sub(r"(?<!/)/(?!/)", "//", words))))


class Shape:
    """A graph's dims and tensors, and an example of inputs that it takes, if there is one."""

    def __init__(self, report, example=None, usual=None):
        """`report`: of tilec fuse --explain=json without --dim. `example`: {"in": {input: SPEC}, "dim": {…}}; `usual`:
        dims of a usual size."""
        self.inputs = report["inputs"]
        self.tensors = [Tensor.of(tensor["name"], tensor["type"]) for tensor in report["tensors"]]
        pairs = [text.split(" = ") for text in report["dims"]]
        pairs += [(name, report["assumed_extent"]) for name in report["assumed_dims"]]
        self.dims = [name for name, _ in pairs]
        self.example = example or {"in": {}}
        self.usual = {name: value for name, value in (usual or {}).items() if name in self.dims}
        # Constants have a value of their own without --dim.
        self.fixed = {name: int(value) for name, value in pairs if int(value) != USUAL}
        self.fixed |= {name: value for name, value in self.example.get("dim", {}).items() if name in self.dims}
        self.base = {name: self.fixed.get(name, 64) for name in self.dims} | self.bound(self.example["in"])

    def tensor_inputs(self):
        return [Tensor.of(entry["name"], entry["type"]) for entry in self.inputs if "[" in entry["type"]]

    def bound(self, specs):
        """The dims that such inputs have."""
        dims = {}
        for tensor in self.tensor_inputs():
            if shape := shape_in(specs.get(tensor.name, "")):
                dims |= {name: extent for name, extent in zip(tensor.extents, shape) if name in self.dims}
        return dims

    def bytes(self, dims):
        return sum(tensor.bytes(dims) for tensor in self.tensors)

    def words(self, dims):
        """The options of tilec that give a run these dims: inputs, and dims that no input has."""
        words = []
        for entry in self.inputs:
            if spec := self.spec(entry, dims):
                words += ["--in", f"{entry['name']}={spec}"]
        seen = {extent for tensor in self.tensor_inputs() for extent in tensor.extents}
        return words + [word for name in self.dims if name not in seen for word in ("--dim", f"{name}={dims[name]}")]

    def spec(self, entry, dims):
        """As --in has it: as in the example, at other sizes; none for what has a default."""
        name, given = entry["name"], self.example["in"].get(entry["name"])
        if "[" not in entry["type"]:
            return given or (None if entry["optional"] else "true" if entry["type"] == "bool" else "1")
        tensor = Tensor.of(name, entry["type"])
        shape = "x".join(map(str, tensor.shape(dims))) or "scalar"
        if not given:
            kind = "uniform" if tensor.type.startswith(("f", "bf", "bool")) else "zeros"
            return f"{kind}:{shape}:{tensor.type}"
        kind, *rest = given.split(":")
        if kind == "full":
            return f"full:{rest[0]}:{shape}:{rest[2]}"
        if kind == "randn" and tensor.bytes(dims) > 1 << 25:
            return f"uniform:{shape}:{rest[1]}"  # as good for a clock, and made in less time
        if kind == "uniform" and len(rest) == 5 and (extent := self.bound_of(tensor, rest[4])):
            rest[4] = str(max(int(rest[3]) + 1, dims[extent]))
        return ":".join([kind, shape, *rest[1:]])

    def bound_of(self, tensor, high):
        """The dim that numbers of a tensor of indices are below: the one that has this value in the example."""
        if not tensor.type.startswith(("i", "u")):
            return None
        found = [name for name in self.dims if str(self.base[name]) == high]
        return next((name for name in found if name not in tensor.extents), found[0] if found else None)

    def has_unknown_bounds(self):
        """Whether some indices are right for dims as large as the example's alone."""
        return any((fields := self.example["in"].get(tensor.name, "").split(":"))[0] in ("uniform", "arange")
                   and not (len(fields) == 6 and self.bound_of(tensor, fields[5]))
                   for tensor in self.tensor_inputs() if tensor.type in ("i32", "i64", "u32", "u64"))


def shape_in(spec):
    """Of "randn:37x13:f32:1"; none of what is no tensor."""
    fields = spec.split(":")[2 if spec.startswith("full:") else 1:]
    if not fields or not re.fullmatch(r"\d+(x\d+)*", fields[0]):
        return None
    return [int(extent) for extent in fields[0].split("x")]


def best_example(report, examples):
    """The one with most elements: odd sizes that nothing is 0 of."""
    def elements(example):
        return sum(math.prod(shape_in(spec) or [1]) for spec in example["in"].values())

    def is_file(example):
        return any(spec.partition(":")[0].endswith((".npy", ".safetensors")) for spec in example["in"].values())

    usable = [example for example in examples if not is_file(example) and all(math.prod(shape_in(spec) or [1]) > 0
                                                                              for spec in example["in"].values())]
    return max(usable, key=elements, default=None)


#--- Groups of dims -----------------------------------------------------------------

def groups_of(shape, plan):
    """Lists of dims that can grow together: [["M"], ["N"], ["H", "G"]]; none where no size works at all."""
    used = {name for tensor in shape.tensors for extent in tensor.extents for name in NAME.findall(extent)}
    open_dims = [name for name in shape.dims if name in used and name not in shape.fixed]
    for extent in (None, 128, 2048, 256, 32, 8, 2, 1):
        base = shape.base if extent is None else shape.base | {name: extent for name in open_dims}
        if is_possible(plan, base):
            shape.base = base
            break
    else:
        return None
    free = [name for name in open_dims if is_possible(plan, shape.base | {name: 2 * shape.base[name]})]
    tied = [name for name in open_dims if name not in free]
    groups = [[name] for name in free]
    if tied and is_possible(plan, scaled(shape, [tied], 2)):
        groups.append(tied)
    return sorted(groups, key=lambda group: shape.dims.index(group[0]))


def is_possible(plan, dims):
    return not isinstance(plan(dims), str)


def scaled(shape, groups, factor):
    return shape.base | {name: factor * shape.base[name] for group in groups for name in group}


#--- Sizes --------------------------------------------------------------------------

def grown(shape, least, fixed, groups, target):
    """The largest powers of two of the groups, near to each other, whose tensors take no more than the target; times
    `least`, a number by dim. Tied dims stay multiples of the example's."""
    def dims_at(exponents):
        dims = shape.base | fixed
        for group, exponent in zip(groups, exponents):
            if len(group) == 1:
                dims[group[0]] = least[group[0]] << exponent
            else:
                largest = max(shape.base[name] for name in group)
                dims |= {name: shape.base[name] * max(1, (1 << exponent) // largest) for name in group}
        return dims

    exponents = [0] * len(groups)
    growing = list(range(len(groups)))
    while growing:
        smallest = min(growing, key=lambda n: exponents[n])
        exponents[smallest] += 1
        if exponents[smallest] > 30 or shape.bytes(dims_at(exponents)) > target:
            exponents[smallest] -= 1
            growing.remove(smallest)
    return dims_at(exponents)


def shrunk_to(shape, dims, groups, target):
    """Halves the largest group until the tensors take no more than the target."""
    dims = dict(dims)
    while shape.bytes(dims) > target:
        halvable = [group for group in groups if all(dims[name] % 2 == 0 for name in group)]
        if not halvable:
            break
        for name in max(halvable, key=lambda group: max(dims[name] for name in group)):
            dims[name] //= 2
    return dims


def kinds_of(shape, groups, limits):
    """Pairs of a name and a function that gives dims, from a share of the bytes that it may have and what the dims are
    multiples of."""
    def together(target):
        return lambda share, least: grown(shape, least, {}, groups, target * share)

    def one(name, others):
        return lambda share, least: grown(shape, least, {name: 1}, others, 4 * limits.middle * share)

    def long(kept, few):
        others = [group[0] for group in groups if group not in kept and len(group) == 1]
        return lambda share, least: grown(shape, least, {name: few * least[name] for name in others}, kept,
                                          4 * limits.middle * share)

    usual = shape.base | shape.usual if shape.usual else scaled(shape, groups, 1 << 6)
    kinds = [("small", together(limits.small)), ("square", together(limits.middle)), ("large", together(limits.large)),
             ("odd", lambda share, least: odd(groups, grown(shape, least, {}, groups, 4 * limits.middle * share))),
             ("usual", lambda share, least: shrunk_to(shape, usual, groups, 4 * limits.large * share))]
    if len(groups) < 2:
        return kinds
    for group in groups:
        others = [other for other in groups if other != group]
        if len(group) == 1:
            kinds.append((f"{group[0]} = 1", one(group[0], others)))
        kinds.append((f"long {', '.join(group)}", long([group], few=4)))
    if len(groups) > 2:
        kinds += [("first two", long(groups[:2], few=1)), ("last two", long(groups[-2:], few=1))]
        pairs = [(n, n + step) for step in (1, 2) for n in range(len(groups) - step)]
        kinds += [(f"long {', '.join(groups[n] + groups[m])}", long([groups[n], groups[m]], few=4)) for n, m in pairs]
    return kinds


def odd(groups, dims):
    """Nothing is a whole number of tiles."""
    return dims | {group[0]: dims[group[0]] - 1 for group in groups if len(group) == 1 and dims[group[0]] > 2}


SHARES = (1, 1 / 4, 1 / 16, 1 / 64, 1 / 256)


def size_of(shape, kind, plan, limits, seconds_of, shares=SHARES):
    """Dims of a kind and the report on them, and the share of bytes that they have: the largest that neither take too
    many bytes nor too long."""
    ones = {name: 1 for name in shape.dims}
    for share in shares:
        # Where a condition refuses powers of two, multiples of the example may do.
        for least in (ones, shape.base):
            dims = kind(share, least)
            if shape.bytes(dims) > limits.most:
                continue
            if shape.has_unknown_bounds() and any(dims[name] < shape.base[name] for name in shape.dims):
                continue
            report = plan(dims)
            if isinstance(report, str):
                continue
            if seconds_of(report) <= limits.seconds:
                return dims, report, share
            break
    return None


def sizes_of(shape, groups, plan, limits, seconds_of):
    """Of each kind that has a size: its name, dims, the report on them, and a function that gives the same of its next
    smaller size, or None. Each dims once."""
    found, seen = [], set()
    def size(name, kind, shares):
        if not (made := size_of(shape, kind, plan, limits, seconds_of, shares)):
            return None
        dims, report, share = made
        return name, dims, report, lambda: size(name, kind, [less for less in SHARES if less < share])

    for name, kind in kinds_of(shape, groups, limits):
        one = size(name, kind, SHARES)
        if one and (key := tuple(sorted(one[1].items()))) not in seen:
            seen.add(key)
            found.append(one)
    return found
