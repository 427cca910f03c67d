// A random kernel as a tree of text: what the generator makes and the shrinker takes apart.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tile::fuzz {

/// The same numbers on every machine (SplitMix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 … limit − 1
  size_t below(size_t limit) { return static_cast<size_t>(next() % limit); }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  template <typename ListT>
  auto &pick(ListT &list) {
    return list[below(list.size())];
  }

private:
  uint64_t state;
};

/// `text` with $0 … $9 in the places of children. The children of a block are its lines.
struct Node {
  enum class Kind { Expression, Statement, Block } kind = Kind::Expression;
  std::string text;
  std::vector<Node> children;
  // Of expressions.
  std::string type;
  std::set<std::string> axes;

  std::string str(unsigned indent = 0) const;
};

struct Parameter {
  enum class Mode { In, InOut, Out, Reduce } mode = Mode::In;
  std::string name, type;
  std::vector<std::string> shape;
  bool isScalar = false;
  std::string reduce; // the operator
  /// Inputs that index something: numbers around 0 … this.
  int64_t indexLimit = 0;
};

struct Program {
  uint64_t seed = 0;
  std::map<std::string, int64_t> dims;
  std::vector<Parameter> parameters;
  std::vector<Node> declarations;
  Node body;
  /// Tile sizes to try besides the default ones.
  std::vector<std::map<std::string, int64_t>> sizes;
  bool bindsDims = false;

  /// The source text: parameters and declarations that the body doesn't name are left out.
  std::string str() const;
};

Program generate(uint64_t seed);

} // namespace tile::fuzz
