//===- Readers.cpp - the calls that read a tensor, by number --------------===//

#include "ir/fusion/Readers.h"

using namespace mlir;
using namespace tile::ir;

void Readers::add(CallOp call, unsigned id) {
  for (Value input : call.getInputs())
    if (isa<TensorType>(input.getType()))
      readers[input].insert(id);
}

void Readers::remove(CallOp call, unsigned id) {
  for (Value input : call.getInputs())
    if (auto found = readers.find(input); found != readers.end())
      if (found->second.erase(id); found->second.empty())
        readers.erase(found);
}

void Readers::replace(Value old, Value now) {
  auto found = readers.find(old);
  if (found == readers.end())
    return;
  std::set<unsigned> ids = std::move(found->second);
  readers.erase(found);
  readers[now] = std::move(ids);
}

size_t Readers::count(Value tensor) const {
  auto found = readers.find(tensor);
  return found == readers.end() ? 0 : found->second.size();
}

SmallVector<unsigned> Readers::nearest(Value tensor, unsigned id, size_t most,
                                       bool onlyBefore) const {
  SmallVector<unsigned> near;
  auto found = readers.find(tensor);
  if (found == readers.end())
    return near;
  const std::set<unsigned> &ids = found->second;
  auto before = ids.lower_bound(id), after = onlyBefore ? ids.end() : ids.upper_bound(id);
  while (near.size() < most && (before != ids.begin() || after != ids.end())) {
    bool isBefore =
        before != ids.begin() && (after == ids.end() || id - *std::prev(before) <= *after - id);
    near.push_back(isBefore ? *--before : *after++);
  }
  return near;
}
