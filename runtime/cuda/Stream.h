// Streams, which run what they are given one after the other, and events in them.
#pragma once

#include "runtime/cuda/Device.h"

#include <span>

namespace tile::runtime::cuda {

class Event;

/// A stream of our own, or one that a caller has. Any thread may use it.
class Stream {
public:
  /// A new one, which doesn't wait for the default stream.
  static Result<std::shared_ptr<Stream>> create(std::shared_ptr<Device> device);
  /// A caller's, which has to outlive this and everything made with it; null is the default stream.
  static std::shared_ptr<Stream> wrap(std::shared_ptr<Device> device, CUstream handle);
  /// Doesn't wait: what was given to the stream is still done.
  ~Stream();
  Stream(const Stream &) = delete;

  CUstream handle() const { return stream; }
  Device &device() const { return *owner; }
  const std::shared_ptr<Device> &sharedDevice() const { return owner; }

  /// Waits until everything is done. The error tells the kernels launched since the last
  /// synchronization if one of them failed.
  Status synchronize();
  /// What comes afterwards waits for an event of any stream. Doesn't block.
  Status wait(const Event &event);

  // Copies and fills, after what the stream was given. Zero bytes are right at any address.

  /// Waits until the host's memory may be used for something else.
  Status copyToDevice(CUdeviceptr to, std::span<const std::byte> from);
  /// Waits until the data is there.
  Status copyToHost(std::span<std::byte> to, CUdeviceptr from);
  /// Doesn't wait. The two may not overlap.
  Status copy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes);
  /// Sets every byte. Doesn't wait.
  Status fill(CUdeviceptr to, uint8_t value, uint64_t bytes);

  LaunchLog &log() { return launches; }
  /// The error of a call on this stream.
  Error error(CUresult code, const std::string &what, const std::string &hint = "") const;

private:
  Stream(std::shared_ptr<Device> device, CUstream stream, bool isOurs);

  std::shared_ptr<Device> owner;
  CUstream stream;
  bool isOurs;
  LaunchLog launches;
};

/// A place in a stream: for waiting and for times.
class Event {
public:
  enum class Timing { On, Off };

  static Result<Event> create(std::shared_ptr<Device> device, Timing timing = Timing::On);
  ~Event();
  Event(Event &&other) noexcept;
  Event &operator=(Event &&other) noexcept;

  CUevent handle() const { return event; }

  /// Stands behind all that the stream has been given by now.
  Status record(std::shared_ptr<Stream> stream);
  /// Waits until the stream is there; at once if it was never recorded. The error is as that of
  /// Stream::synchronize.
  Status synchronize();

  /// Milliseconds between two events that were recorded and are done, to about half a microsecond.
  static Result<double> milliseconds(const Event &start, const Event &end);

private:
  Event(std::shared_ptr<Device> device, CUevent event) : owner(std::move(device)), event(event) {}

  std::shared_ptr<Device> owner;
  CUevent event = nullptr;
  /// Where it was recorded, and what had been launched there.
  std::shared_ptr<Stream> stream;
  uint64_t position = 0;
};

} // namespace tile::runtime::cuda
