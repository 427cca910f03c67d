// Options of the sanitizers for every executable of a sanitized build, in CTest and out of it.
// The environment's ASAN_OPTIONS and UBSAN_OPTIONS come after these and win.

extern "C" {

// Inlined parts of LLVM's allocators mark memory as poisoned when compiled here, and the same
// allocators inside LLVM's own libraries, which are not instrumented, never clear the marks.
const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_stack_use_after_return=1:strict_string_checks=1";
}

const char *__ubsan_default_options() { return "print_stacktrace=1"; }
}
