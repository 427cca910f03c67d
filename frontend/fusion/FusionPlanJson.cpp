//===- FusionPlanJson.cpp - plans as files --------------------------------===//

#include "frontend/base/JsonFile.h"
#include "frontend/fusion/FusionPlan.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace tile;
using namespace tile::frontend;
using codegen::FoldOrder;
using ir::FusionStep;
using Transform = ir::FusionEntry::Transform;

static constexpr int64_t version = 5;

static constexpr std::pair<Transform, llvm::StringLiteral> transformNames[] = {
    {Transform::Inline, "inline"},
    {Transform::InlineAll, "inline-all"},
    {Transform::InlineAndKeep, "inline-and-keep"},
    {Transform::Merge, "merge"},
    {Transform::Finish, "finish"},
};

//===-- Writing -----------------------------------------------------------===//

static llvm::json::Object toJson(const TileSizes::ByBinder &sizes) {
  llvm::json::Object object;
  for (const auto &[binder, size] : sizes)
    object[binder] = size;
  return object;
}

static llvm::json::Object toJson(const FusionStep &step) {
  llvm::json::Object object;
  for (const auto &[transform, name] : transformNames)
    if (transform == step.transform)
      object["do"] = name;
  object["first"] = step.first;
  object["second"] = step.second;
  if (step.transform == Transform::Merge)
    return object;
  object["tensor"] = step.tensor;
  object["widens"] = step.widens;
  object["single"] = step.isSingle;
  return object;
}

llvm::json::Array tile::frontend::toJson(llvm::ArrayRef<ir::FusionVeto> vetoes) {
  llvm::json::Array list;
  for (const ir::FusionVeto &veto : vetoes)
    list.push_back(
        llvm::json::Object{{"calls", llvm::json::Array(veto.calls)}, {"reason", veto.reason}});
  return list;
}

static llvm::json::Object contentsOf(const FusionPlan &plan) {
  llvm::json::Object dims;
  for (const auto &[name, value] : plan.dims)
    dims[name] = value;
  llvm::json::Array calls, steps, kernels;
  for (const FusionPlan::Call &call : plan.calls) {
    llvm::json::Object orders;
    for (const auto &[op, order] : call.orders)
      orders[std::to_string(op)] = llvm::json::Array{order.lanes, order.copies, order.chain};
    calls.push_back(llvm::json::Object{{"kernel", call.kernel},
                                       {"code", call.code},
                                       {"sizes", ::toJson(call.sizes)},
                                       {"orders", std::move(orders)}});
  }
  for (const FusionStep &step : plan.steps)
    steps.push_back(::toJson(step));
  for (const TileSizes::ByBinder &sizes : plan.kernels)
    kernels.push_back(::toJson(sizes));
  return llvm::json::Object{{"plan", version},
                            {"device", plan.isForGpu ? "gpu" : "cpu"},
                            {"graph", plan.graph},
                            {"code", plan.code},
                            {"dims", std::move(dims)},
                            {"calls", std::move(calls)},
                            {"steps", std::move(steps)},
                            {"vetoes", toJson(plan.vetoes)},
                            {"kernels", std::move(kernels)}};
}

/// Of all that a plan says: what its parts promise each other holds as it was written alone.
static std::string checksumOf(const FusionPlan &plan) {
  std::string text = llvm::formatv("{0}", llvm::json::Value(contentsOf(plan)));
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}

llvm::json::Object tile::frontend::toJson(const FusionPlan &plan) {
  llvm::json::Object object = contentsOf(plan);
  object["checksum"] = checksumOf(plan);
  return object;
}

//===-- Reading -----------------------------------------------------------===//

std::optional<std::vector<ir::FusionVeto>>
tile::frontend::vetoesIn(const llvm::json::Value &value) {
  const llvm::json::Array *list = value.getAsArray();
  if (!list)
    return std::nullopt;
  std::vector<ir::FusionVeto> vetoes;
  for (const llvm::json::Value &entry : *list) {
    const llvm::json::Object *object = entry.getAsObject();
    const llvm::json::Array *calls = object ? object->getArray("calls") : nullptr;
    auto reason = object ? object->getString("reason") : std::nullopt;
    if (!calls || !reason)
      return std::nullopt;
    ir::FusionVeto &veto = vetoes.emplace_back(ir::FusionVeto{{}, reason->str()});
    for (const llvm::json::Value &call : *calls) {
      auto number = call.getAsInteger();
      if (!number || *number < 0 || *number > 1000000)
        return std::nullopt;
      veto.calls.push_back(static_cast<unsigned>(*number));
    }
    if (veto.calls.size() < 2 || !llvm::is_sorted(veto.calls))
      return std::nullopt;
  }
  return vetoes;
}

namespace {
/// Says what is missing, and stops there.
class Reader {
public:
  explicit Reader(const std::string &path) : path(path) {}

  Outcome<FusionPlan> read(llvm::StringRef text);

private:
  bool fail(const llvm::Twine &what) {
    if (problem.empty())
      problem = what.str();
    return false;
  }
  Failure takeFailure() const {
    return Failure::invalid(
        {path + ": " + problem, "write it anew: tilec fuse … --explain=plan -o PLAN"});
  }
  bool readString(const llvm::json::Object &object, llvm::StringRef key, std::string &text);
  bool readNumber(const llvm::json::Object &object, llvm::StringRef key, unsigned &number);
  bool readSizes(const llvm::json::Value *value, TileSizes::ByBinder &sizes);
  bool readDims(const llvm::json::Value *value, FusionPlan &plan);
  bool readCall(const llvm::json::Value &value, FusionPlan &plan);
  bool readOrders(const llvm::json::Value *value, FusionPlan::Call &call);
  bool readStep(const llvm::json::Value &value, FusionPlan &plan);
  bool readAll(const llvm::json::Object &object, FusionPlan &plan);

  const std::string &path;
  std::string problem;
};
} // namespace

bool Reader::readString(const llvm::json::Object &object, llvm::StringRef key, std::string &text) {
  auto found = object.getString(key);
  if (!found)
    return fail("\"" + key + "\" is no text");
  text = found->str();
  return true;
}

bool Reader::readNumber(const llvm::json::Object &object, llvm::StringRef key, unsigned &number) {
  auto found = object.getInteger(key);
  if (!found || *found < 0 || *found > 1000000)
    return fail("\"" + key + "\" is no number of a call");
  number = static_cast<unsigned>(*found);
  return true;
}

bool Reader::readSizes(const llvm::json::Value *value, TileSizes::ByBinder &sizes) {
  const llvm::json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object)
    return fail("tile sizes are missing");
  for (const auto &[binder, size] : *object) {
    auto number = size.getAsInteger();
    if (!number || *number < 1 || *number > ir::maxTileSize)
      return fail("the tile size of `" + binder.str() + "` is no whole number from 1 to " +
                  llvm::Twine(ir::maxTileSize));
    sizes[binder.str()] = *number;
  }
  return true;
}

bool Reader::readDims(const llvm::json::Value *value, FusionPlan &plan) {
  const llvm::json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object)
    return fail("\"dims\" are missing");
  for (const auto &[name, extent] : *object) {
    auto number = extent.getAsInteger();
    if (!number)
      return fail("the value of `" + name.str() + "` is no number");
    plan.dims[name.str()] = *number;
  }
  return true;
}

bool Reader::readOrders(const llvm::json::Value *value, FusionPlan::Call &call) {
  const llvm::json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object)
    return fail("\"orders\" are missing");
  for (const auto &[key, value] : *object) {
    const llvm::json::Array *numbers = value.getAsArray();
    auto number = [&](size_t n) {
      return numbers && numbers->size() == 3 ? (*numbers)[n].getAsInteger() : std::nullopt;
    };
    auto lanes = number(0), copies = number(1), chain = number(2);
    unsigned op;
    bool isOrder = lanes && copies && chain && *lanes >= -1 && *lanes < 64 &&
                   llvm::is_contained({0, 1, 2, 4}, *copies) &&
                   llvm::is_contained({0, 32, 64}, *chain);
    if (!isOrder || llvm::StringRef(key.str()).getAsInteger(10, op))
      return fail("the order `" + key.str() + "` of a sum of `" + call.kernel +
                  "` is none: [LANES, COPIES, CHAIN]");
    call.orders[op] = {*lanes, *copies, *chain};
  }
  return true;
}

bool Reader::readCall(const llvm::json::Value &value, FusionPlan &plan) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail("a call is no {…}");
  FusionPlan::Call &call = plan.calls.emplace_back();
  return readString(*object, "kernel", call.kernel) && readString(*object, "code", call.code) &&
         readSizes(object->get("sizes"), call.sizes) && readOrders(object->get("orders"), call);
}

bool Reader::readStep(const llvm::json::Value &value, FusionPlan &plan) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail("a step is no {…}");
  std::string name;
  if (!readString(*object, "do", name))
    return false;
  const auto *known =
      llvm::find_if(transformNames, [&](const auto &entry) { return entry.second == name; });
  if (known == std::end(transformNames))
    return fail("`" + name + "` is no step");
  FusionStep &step = plan.steps.emplace_back();
  step.transform = known->first;
  if (!readNumber(*object, "first", step.first) || !readNumber(*object, "second", step.second))
    return false;
  if (step.transform == Transform::Merge)
    return true;
  step.widens = object->getBoolean("widens").value_or(false);
  step.isSingle = object->getBoolean("single").value_or(false);
  return readNumber(*object, "tensor", step.tensor);
}

bool Reader::readAll(const llvm::json::Object &object, FusionPlan &plan) {
  auto found = object.getInteger("plan");
  if (!found)
    return fail("no plan of a fused graph");
  if (*found != version)
    return fail("a plan of version " + llvm::Twine(*found) + "; this is tilec with version " +
                llvm::Twine(version));
  const llvm::json::Array *calls = object.getArray("calls"), *steps = object.getArray("steps"),
                          *kernels = object.getArray("kernels");
  if (!calls || !steps || !kernels)
    return fail("\"calls\", \"steps\" or \"kernels\" are missing");
  std::string device;
  if (!readString(object, "device", device))
    return false;
  if (device != "cpu" && device != "gpu")
    return fail("\"device\" is `" + device + "`, not cpu or gpu");
  plan.isForGpu = device == "gpu";
  auto readKernel = [&](const llvm::json::Value &value) {
    return readSizes(&value, plan.kernels.emplace_back());
  };
  const llvm::json::Value *vetoes = object.get("vetoes");
  auto known = vetoes ? vetoesIn(*vetoes) : std::nullopt;
  if (!known)
    return fail("\"vetoes\" are missing, or none");
  plan.vetoes = *std::move(known);
  bool isRead = readString(object, "graph", plan.graph) && readString(object, "code", plan.code) &&
                readDims(object.get("dims"), plan) &&
                llvm::all_of(*calls, [&](const auto &value) { return readCall(value, plan); }) &&
                llvm::all_of(*steps, [&](const auto &value) { return readStep(value, plan); }) &&
                llvm::all_of(*kernels, readKernel);
  if (isRead && object.getString("checksum") != checksumOf(plan))
    return fail("the plan has been changed since it was written");
  return isRead;
}

Outcome<FusionPlan> Reader::read(llvm::StringRef text) {
  auto value = parseJson(text);
  FusionPlan plan;
  if (!value) {
    fail("malformed JSON: " + llvm::toString(value.takeError()));
    return takeFailure();
  }
  const llvm::json::Object *object = value->getAsObject();
  if (!object ? !fail("no plan of a fused graph") : !readAll(*object, plan))
    return takeFailure();
  return plan;
}

Outcome<FusionPlan> tile::frontend::readPlan(const std::string &path) {
  auto text = readText(path, 64, "a plan");
  if (!text)
    return text.takeFailure();
  return Reader(path).read(*text);
}
