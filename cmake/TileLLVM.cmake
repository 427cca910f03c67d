# Finds MLIR and LLVM 22 (Debian: llvm-22-dev libmlir-22-dev mlir-22-tools) and offers
# `tile_mlir`, an interface target that carries their headers and libraries.
#
# The textual and C++ APIs of MLIR change with every release, so only 22.x is taken.

list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "tilec needs LLVM 22.x, found ${LLVM_VERSION}. "
                      "On Debian 12: apt-get install llvm-22-dev libmlir-22-dev mlir-22-tools")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(tile_mlir INTERFACE)
target_include_directories(tile_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
separate_arguments(tile_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(tile_mlir INTERFACE ${tile_llvm_definitions})
if(TILE_STATIC_LLVM)
  # The exported targets pull in the shared libraries; name the archives themselves. Both sets
  # refer to each other in cycles, so one group holds them all.
  file(GLOB tile_mlir_archives "${LLVM_LIBRARY_DIR}/libMLIR*.a")
  list(FILTER tile_mlir_archives EXCLUDE REGEX "CAPI|Test|Runner|Python")
  llvm_map_components_to_libnames(tile_llvm_names
    native nativecodegen x86 nvptx core support passes orcjit target linker irreader bitwriter
    analysis transformutils)
  llvm_expand_dependencies(tile_llvm_expanded ${tile_llvm_names})
  set(tile_llvm_archives)
  foreach(name IN LISTS tile_llvm_expanded)
    if(EXISTS "${LLVM_LIBRARY_DIR}/lib${name}.a")
      list(APPEND tile_llvm_archives "${LLVM_LIBRARY_DIR}/lib${name}.a")
    endif()
  endforeach()
  target_link_libraries(tile_mlir INTERFACE
    -Wl,--start-group ${tile_mlir_archives} ${tile_llvm_archives} -Wl,--end-group
    -Wl,--gc-sections z zstd m dl pthread)
else()
  target_link_libraries(tile_mlir INTERFACE MLIR LLVM)
endif()
