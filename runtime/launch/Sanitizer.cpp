#include "runtime/launch/Sanitizer.h"

namespace tile::runtime {

using Finding = SanitizerFinding;

Sanitizer::Sanitizer(std::vector<SanitizerSite> givenSites, std::vector<SanitizerTensor> given,
                     uint32_t numBinders)
    : sites(std::move(givenSites)), allTensors(std::move(given)), shadows(allTensors.size()),
      numBinders(numBinders) {
  for (size_t n = 0; n < allTensors.size(); ++n) {
    if (allTensors[n].mode != ParamMode::Out && allTensors[n].mode != ParamMode::InOut)
      continue;
    int64_t elements = 1;
    for (int64_t extent : allTensors[n].shape)
      elements *= extent;
    shadows[n].resize(static_cast<size_t>(elements));
  }
}

//===-- Findings ----------------------------------------------------------===//

void Sanitizer::add(Finding finding) {
  auto number = [](std::optional<uint32_t> site) { return site ? int64_t(*site) : -1; };
  auto key =
      std::tuple(finding.kind, number(finding.site), number(finding.otherSite), finding.param);
  auto [entry, isNew] = known.try_emplace(key, found.size());
  if (isNew)
    found.push_back(std::move(finding));
  ++found[entry->second].count;
}

std::vector<int64_t> Sanitizer::coordinatesOf(int64_t of) const {
  auto entry = coordinates.find(of);
  return entry == coordinates.end() ? std::vector<int64_t>() : entry->second;
}

std::vector<int64_t> Sanitizer::indexOf(uint32_t param, int64_t element) const {
  const std::vector<int64_t> &shape = allTensors[param].shape;
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d])
    index[d] = element % shape[d];
  return index;
}

Finding Sanitizer::make(Finding::Kind kind, uint32_t site, const int64_t *indices) const {
  Finding finding;
  finding.kind = kind;
  finding.site = site;
  finding.param = sites[site].param;
  finding.index.assign(indices, indices + allTensors[finding.param].shape.size());
  finding.program = coordinatesOf(program);
  return finding;
}

void Sanitizer::race(uint32_t site, const Access &other, const int64_t *indices) {
  Finding finding = make(Finding::Kind::Race, site, indices);
  finding.otherSite = other.site;
  finding.otherProgram = coordinatesOf(other.program);
  add(std::move(finding));
}

//===-- Accesses ----------------------------------------------------------===//

void Sanitizer::enter(int64_t number, const int64_t *at) {
  program = number;
  coordinates[number].assign(at, at + numBinders);
}

bool Sanitizer::access(uint32_t number, const int64_t *indices) {
  const SanitizerSite &site = sites[number];
  const SanitizerTensor &tensor = allTensors[site.param];
  int64_t element = 0;
  bool isInside = true, isFault = false;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    bool isHere = indices[d] >= 0 && indices[d] < tensor.shape[d];
    isInside &= isHere;
    isFault |= !isHere && !site.drops[d];
    element = isInside ? element * tensor.shape[d] + indices[d] : 0;
  }
  if (!isInside) {
    if (isFault)
      add(make(Finding::Kind::Outside, number, indices));
    return false;
  }
  if (shadows[site.param].empty())
    return true;
  Shadow &shadow = shadows[site.param][static_cast<size_t>(element)];
  auto races = [&](const Access &other) {
    return other.program >= 0 && other.program != program &&
           !(site.isAtomic && sites[other.site].isAtomic);
  };
  if (races(shadow.writer))
    race(number, shadow.writer, indices);
  if (site.kind == SanitizerSite::Kind::Load) {
    if (shadow.writer.program < 0 && tensor.mode == ParamMode::Out)
      add(make(Finding::Kind::Unwritten, number, indices));
    for (Access &reader : shadow.readers) {
      if (reader.program == program)
        break;
      if (reader.program < 0) {
        reader = {program, number};
        break;
      }
    }
    return true;
  }
  for (const Access &reader : shadow.readers)
    if (races(reader)) {
      race(number, reader, indices);
      break;
    }
  shadow.writer = {program, number};
  return true;
}

void Sanitizer::finish() {
  for (uint32_t param = 0; param < allTensors.size(); ++param) {
    if (allTensors[param].mode != ParamMode::Out)
      continue;
    for (size_t element = 0; element < shadows[param].size(); ++element) {
      if (shadows[param][element].writer.program >= 0)
        continue;
      Finding finding;
      finding.kind = Finding::Kind::NeverStored;
      finding.param = param;
      finding.index = indexOf(param, static_cast<int64_t>(element));
      add(std::move(finding));
    }
  }
}

} // namespace tile::runtime
