#include "runtime/cuda/Stream.h"

#include <utility>

namespace tile::runtime::cuda {

//===-- Streams -----------------------------------------------------------===//

Stream::Stream(std::shared_ptr<Device> device, CUstream stream, bool isOurs)
    : owner(std::move(device)), stream(stream), isOurs(isOurs) {
  owner->addLog(&launches);
}

Stream::~Stream() {
  owner->removeLog(&launches);
  if (isOurs)
    (void)owner->call(&DriverTable::streamDestroy, stream);
}

Result<std::shared_ptr<Stream>> Stream::create(std::shared_ptr<Device> device) {
  CUstream handle = nullptr;
  if (CUresult code = device->call(&DriverTable::streamCreate, &handle,
                                   static_cast<unsigned>(CU_STREAM_NON_BLOCKING)))
    return device->error(code, "a stream can't be made");
  return std::shared_ptr<Stream>(new Stream(std::move(device), handle, true));
}

std::shared_ptr<Stream> Stream::wrap(std::shared_ptr<Device> device, CUstream handle) {
  return std::shared_ptr<Stream>(new Stream(std::move(device), handle, false));
}

Error Stream::error(CUresult code, const std::string &what, const std::string &hint) const {
  return owner->error(code, what, hint, &launches);
}

Status Stream::synchronize() {
  uint64_t position = launches.position();
  if (CUresult code = owner->call(&DriverTable::streamSynchronize, stream))
    return error(code, "waiting for a stream failed");
  launches.markDone(position);
  return {};
}

Status Stream::wait(const Event &event) {
  if (CUresult code = owner->call(&DriverTable::streamWaitEvent, stream, event.handle(), 0u))
    return error(code, "a stream can't wait for an event");
  return {};
}

//===-- Copies ------------------------------------------------------------===//

Status Stream::copyToDevice(CUdeviceptr to, std::span<const std::byte> from) {
  if (from.empty())
    return {};
  if (CUresult code = owner->call(&DriverTable::memcpyHtoDAsync, to,
                                  static_cast<const void *>(from.data()), from.size(), stream))
    return error(code, "copying to " + owner->properties().label() + " failed");
  return synchronize();
}

Status Stream::copyToHost(std::span<std::byte> to, CUdeviceptr from) {
  if (to.empty())
    return {};
  if (CUresult code = owner->call(&DriverTable::memcpyDtoHAsync, static_cast<void *>(to.data()),
                                  from, to.size(), stream))
    return error(code, "copying from " + owner->properties().label() + " failed");
  return synchronize();
}

Status Stream::copy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes) {
  if (bytes == 0)
    return {};
  if (CUresult code =
          owner->call(&DriverTable::memcpyDtoDAsync, to, from, static_cast<size_t>(bytes), stream))
    return error(code, "copying on " + owner->properties().label() + " failed");
  return {};
}

Status Stream::fill(CUdeviceptr to, uint8_t value, uint64_t bytes) {
  if (bytes == 0)
    return {};
  if (CUresult code =
          owner->call(&DriverTable::memsetD8Async, to, static_cast<unsigned char>(value),
                      static_cast<size_t>(bytes), stream))
    return error(code, "filling memory of " + owner->properties().label() + " failed");
  return {};
}

//===-- Events ------------------------------------------------------------===//

Result<Event> Event::create(std::shared_ptr<Device> device, Timing timing) {
  CUevent handle = nullptr;
  unsigned flags = timing == Timing::On ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
  if (CUresult code = device->call(&DriverTable::eventCreate, &handle, flags))
    return device->error(code, "an event can't be made");
  return Event(std::move(device), handle);
}

Event::~Event() {
  if (event)
    (void)owner->call(&DriverTable::eventDestroy, event);
}

Event::Event(Event &&other) noexcept
    : owner(std::move(other.owner)), event(std::exchange(other.event, nullptr)),
      stream(std::move(other.stream)), position(other.position) {}

Event &Event::operator=(Event &&other) noexcept {
  std::swap(owner, other.owner);
  std::swap(event, other.event);
  std::swap(stream, other.stream);
  std::swap(position, other.position);
  return *this;
}

Status Event::record(std::shared_ptr<Stream> where) {
  uint64_t launched = where->log().position();
  if (CUresult code = owner->call(&DriverTable::eventRecord, event, where->handle()))
    return where->error(code, "an event can't be recorded");
  stream = std::move(where);
  position = launched;
  return {};
}

Status Event::synchronize() {
  if (CUresult code = owner->call(&DriverTable::eventSynchronize, event))
    return stream ? stream->error(code, "waiting for an event failed")
                  : owner->error(code, "waiting for an event failed");
  if (stream)
    stream->log().markDone(position);
  return {};
}

Result<double> Event::milliseconds(const Event &start, const Event &end) {
  float time = 0;
  if (CUresult code =
          start.owner->call(&DriverTable::eventElapsedTime, &time, start.event, end.event))
    return start.owner->error(code, "the time between two events can't be told",
                              "record both, with timing, and wait for the second");
  return static_cast<double>(time);
}

} // namespace tile::runtime::cuda
