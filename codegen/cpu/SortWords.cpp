//===- SortWords.cpp - a function that sorts numbers without a sign -------===//
//
// Short runs are sorted by insertion, and runs merged two by two, from one array to the other. From
// some hundred words on it pays to count the bytes of all keys first: then each round puts every
// word where its byte, from the last to the first, says (H. H. Seward, 1954). A byte that all
// have alike takes no round.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/SortWords.h"

using namespace mlir;
using namespace tile::codegen;
using arith::CmpIPredicate;
using Values = CodeBuilder::Values;

//===-- Words -------------------------------------------------------------===//

SortWords SortWords::of(unsigned keyBits, int64_t mostElements) {
  bool isShort = !ShapedType::isDynamic(mostElements) && mostElements <= int64_t(1) << 32;
  return {keyBits, keyBits == 32 && isShort ? 64u : 128u};
}

Value SortWords::make(CodeBuilder &b, Value key, Value place) const {
  int width = std::max(widthOf(key), widthOf(place));
  Type word = lanesOf(type(b), width);
  Value high = b.fold<arith::ExtUIOp>(word, b.splat(key, width));
  high = b.fold<arith::ShLIOp>(high, b.integer(word, bits - keyBits));
  Value low = b.splat(place, width);
  if (bits != 64)
    low = b.fold<arith::ExtUIOp>(word, low);
  return b.fold<arith::OrIOp>(high, low);
}

Value SortWords::keyOf(CodeBuilder &b, Value word) const {
  Value high = b.fold<arith::ShRUIOp>(word, b.integer(type(b), bits - keyBits));
  return b.fold<arith::TruncIOp>(b.getIntegerType(keyBits), high);
}

Value SortWords::placeOf(CodeBuilder &b, Value word) const {
  if (bits == 128)
    return b.fold<arith::TruncIOp>(b.getI64Type(), word);
  return b.fold<arith::AndIOp>(word, b.i64((int64_t(1) << (64 - keyBits)) - 1));
}

//===-- The function ------------------------------------------------------===//

namespace {
class Sorter {
public:
  Sorter(CodeBuilder &b, const SortWords &words) : b(b), words(words), word(words.type(b)) {}

  /// The body of the function: where the sorted words are.
  Value emit(Value here, Value there, Value count) const;

private:
  static constexpr int64_t run = 16;     // words that are inserted
  static constexpr int64_t values = 256; // of a byte

  Value wordAt(Value array, Value index) const {
    return b.load(word, b.at(array, index, word), false);
  }
  void put(Value value, Value array, Value index) const {
    b.store(value, b.at(array, index, word));
  }
  void copy(Value from, Value to, Value source, Value end, Value target) const;
  void insertRuns(Value array, Value count) const;
  void merge(Value from, Value to, Value low, Value middle, Value high) const;
  Value mergeRuns(Value here, Value there, Value count) const;

  int64_t digits() const { return words.keyBits / 8; }
  /// Byte `digit` of the key at an index.
  Value digitAt(Value array, Value index, Value digit) const;
  void countDigits(Value array, Value count, Value counts) const;
  void distribute(Value from, Value to, Value count, Value digit, Value starts) const;
  Value sortByDigits(Value here, Value there, Value count, Value counts) const;

  CodeBuilder &b;
  const SortWords &words;
  Type word;
};
} // namespace

//===-- Few words ---------------------------------------------------------===//

void Sorter::copy(Value from, Value to, Value source, Value end, Value target) const {
  Value offset = b.sub(target, source);
  b.loop(source, end, b.i64(1), {}, [&](Value at, ValueRange) {
    put(wordAt(from, at), to, b.add(at, offset));
    return Values();
  });
}

void Sorter::insertRuns(Value array, Value count) const {
  Value one = b.i64(1);
  b.loop(b.i64(0), count, b.i64(run), {}, [&](Value low, ValueRange) {
    Value high = b.minS(b.add(low, b.i64(run)), count);
    b.loop(b.add(low, one), high, one, {}, [&](Value at, ValueRange) {
      Value inserted = wordAt(array, at);
      // Words that go behind it move by one.
      auto hasGreater = [&](ValueRange state) {
        Value isFirst = b.compare(CmpIPredicate::sle, state[0], low);
        Value before = b.select(isFirst, low, b.sub(state[0], one));
        Value other = wordAt(array, before);
        Value moves = b.both(b.compare(CmpIPredicate::sgt, state[0], low),
                             b.compare(CmpIPredicate::ugt, other, inserted));
        return std::pair(moves, Values{state[0], before, other});
      };
      SmallVector<Type> types = {b.getI64Type(), b.getI64Type(), word};
      Values stays = b.repeat(
          at, hasGreater,
          [&](ValueRange state) {
            put(state[2], array, state[0]);
            return Values{state[1]};
          },
          types);
      put(inserted, array, stays[0]);
      return Values();
    });
    return Values();
  });
}

/// Merges [low, middle) and [middle, high).
void Sorter::merge(Value from, Value to, Value low, Value middle, Value high) const {
  Value one = b.i64(1);
  SmallVector<Type> types(2, b.getI64Type());
  auto haveBoth = [&](ValueRange state) {
    return std::pair(b.both(b.compare(CmpIPredicate::slt, state[0], middle),
                            b.compare(CmpIPredicate::slt, state[1], high)),
                     Values(state));
  };
  Values rest = b.repeat(
      {low, middle}, haveBoth,
      [&](ValueRange state) {
        Value left = state[0], right = state[1];
        Value x = wordAt(from, left), y = wordAt(from, right);
        Value takesRight = b.compare(CmpIPredicate::ult, y, x);
        put(b.select(takesRight, y, x), to, b.sub(b.add(left, right), middle));
        Value moved = b.fold<arith::ExtUIOp>(b.getI64Type(), takesRight);
        return Values{b.add(left, b.sub(one, moved)), b.add(right, moved)};
      },
      types);
  Value target = b.sub(b.add(rest[0], rest[1]), middle);
  copy(from, to, rest[0], middle, target);
  copy(from, to, rest[1], high, rest[1]); // which has its place already, but in the other array
}

Value Sorter::mergeRuns(Value here, Value there, Value count) const {
  insertRuns(here, count);
  auto isShort = [&](ValueRange state) {
    return std::pair(b.compare(CmpIPredicate::slt, state[0], count), Values(state));
  };
  SmallVector<Type> types = {b.getI64Type(), b.ptr(), b.ptr()};
  Values last = b.repeat(
      {b.i64(run), here, there}, isShort,
      [&](ValueRange state) {
        Value length = state[0], both = b.add(length, length);
        Value from = state[1], to = state[2];
        b.loop(b.i64(0), count, both, {}, [&](Value low, ValueRange) {
          Value middle = b.minS(b.add(low, length), count);
          merge(from, to, low, middle, b.minS(b.add(low, both), count));
          return Values();
        });
        return Values{both, to, from};
      },
      types);
  return last[1];
}

//===-- Many words --------------------------------------------------------===//

Value Sorter::digitAt(Value array, Value index, Value digit) const {
  // A number in memory begins with its low bytes.
  Value first =
      b.at(b.at(array, index, word), b.i64((words.bits - words.keyBits) / 8), b.getI8Type());
  Value byte = b.load(b.getI8Type(), b.at(first, digit, b.getI8Type()), false);
  return b.fold<arith::ExtUIOp>(b.getI64Type(), byte);
}

void Sorter::countDigits(Value array, Value count, Value counts) const {
  Value zero = b.i64(0), one = b.i64(1);
  b.loop(zero, b.i64(digits() * values), b.i64(8), {}, [&](Value at, ValueRange) {
    b.store(b.integer(lanesOf(b.getI64Type(), 8), 0), b.at(counts, at, b.getI64Type()));
    return Values();
  });
  b.loop(zero, count, one, {}, [&](Value at, ValueRange) {
    for (int64_t digit = 0; digit < digits(); ++digit) {
      Value slot = b.add(digitAt(array, at, b.i64(digit)), b.i64(digit * values));
      Value place = b.at(counts, slot, b.getI64Type());
      b.store(b.add(b.load(b.getI64Type(), place, false), one), place);
    }
    return Values();
  });
}

void Sorter::distribute(Value from, Value to, Value count, Value digit, Value starts) const {
  Value zero = b.i64(0), one = b.i64(1);
  // How many have the value becomes where the first of them goes.
  b.loop(zero, b.i64(values), one, zero, [&](Value at, ValueRange sum) {
    Value place = b.at(starts, at, b.getI64Type());
    Value before = b.load(b.getI64Type(), place, false);
    b.store(sum[0], place);
    return Values{b.add(sum[0], before)};
  });
  b.loop(zero, count, one, {}, [&](Value at, ValueRange) {
    Value place = b.at(starts, digitAt(from, at, digit), b.getI64Type());
    Value target = b.load(b.getI64Type(), place, false);
    put(wordAt(from, at), to, target);
    b.store(b.add(target, one), place);
    return Values();
  });
}

Value Sorter::sortByDigits(Value here, Value there, Value count, Value counts) const {
  countDigits(here, count, counts);
  Value zero = b.i64(0);
  Values last =
      b.loop(zero, b.i64(digits()), b.i64(1), {here, there}, [&](Value digit, ValueRange state) {
        Value from = state[0], to = state[1];
        Value starts = b.at(counts, b.mul(digit, b.i64(values)), b.getI64Type());
        Value ofFirst = b.at(starts, digitAt(from, zero, digit), b.getI64Type());
        Value areAlike =
            b.compare(CmpIPredicate::eq, b.load(b.getI64Type(), ofFirst, false), count);
        return b.branch(
            areAlike,
            [&] {
              return Values{from, to};
            },
            [&] {
              distribute(from, to, count, digit, starts);
              return Values{to, from};
            });
      });
  return last[0];
}

Value Sorter::emit(Value here, Value there, Value count) const {
  // A round costs its counters, so many additions that wait for each other.
  int64_t few = digits() * 64;
  Value size = b.i64(digits() * values);
  Value counts = LLVM::AllocaOp::create(b, b.ptr(), b.getI64Type(), size, 64);
  return b.branch(
      b.compare(CmpIPredicate::sle, count, b.i64(few)),
      [&] { return Values{mergeRuns(here, there, count)}; },
      [&] { return Values{sortByDigits(here, there, count, counts)}; })[0];
}

Value SortWords::sort(CodeBuilder &b, Value words, Value spare, Value count) const {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string name = "tile.sort." + std::to_string(keyBits) + "." + std::to_string(bits);
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    Type types[] = {b.ptr(), b.ptr(), b.getI64Type()};
    function = LLVM::LLVMFuncOp::create(b, name, LLVM::LLVMFunctionType::get(b.ptr(), types),
                                        LLVM::Linkage::Internal);
    function.setNoInline(true);
    b.setInsertionPointToStart(function.addEntryBlock(b));
    auto arguments = function.getArguments();
    Value sorted = Sorter(b, *this).emit(arguments[0], arguments[1], arguments[2]);
    LLVM::ReturnOp::create(b, sorted);
  }
  return LLVM::CallOp::create(b, function, ValueRange{words, spare, count}).getResult();
}
