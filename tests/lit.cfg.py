# How LLVM's lit runs the text tests: the RUN lines of each .mlir file, by lit's own shell.
import os

import lit.formats

config.suffixes = [".mlir"]
config.excludes = ["kernels"]  # inputs of other tests
config.test_format = lit.formats.ShTest(execute_external=False)
config.environment["PATH"] = os.pathsep.join(config.tool_dirs + [config.environment["PATH"]])
# FileCheck shows the whole input of a check that failed, not only its surroundings.
config.environment["FILECHECK_OPTS"] = "--dump-input=fail"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TILE_NUM_THREADS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
