// A view of a callable, for callbacks that are called before the call they were passed to returns.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace tile::runtime {

template <typename Signature>
class FunctionRef;

/// Two words, nothing owned: what it was made from must outlive it.
template <typename Return, typename... Arguments>
class FunctionRef<Return(Arguments...)> {
public:
  template <typename Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
           std::is_invocable_r_v<Return, Callable &, Arguments...>) FunctionRef(Callable &&callable)
      : object(const_cast<void *>(static_cast<const void *>(std::addressof(callable)))),
        invoke([](void *object, Arguments... arguments) -> Return {
          return (*static_cast<std::add_pointer_t<Callable>>(object))(
              std::forward<Arguments>(arguments)...);
        }) {}

  Return operator()(Arguments... arguments) const {
    return invoke(object, std::forward<Arguments>(arguments)...);
  }

private:
  void *object;
  Return (*invoke)(void *, Arguments...);
};

} // namespace tile::runtime
