# Finds MLIR, LLVM and lld 22 (Debian: llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools
# liblld-22-dev) and offers `tile_mlir`, an interface target that carries their headers and libraries,
# and `tile_lld`, the linker as a library.
#
# The textual and C++ APIs of MLIR change with every release, so only 22.x is taken.

list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR QUIET CONFIG)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "MLIR 22 was not found. On Debian 12 run cmake/install-deps.sh; "
                      "elsewhere give -DCMAKE_PREFIX_PATH=<where LLVM 22 and MLIR 22 are installed>.")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "tilec needs LLVM 22.x, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}. "
                      "On Debian 12 run cmake/install-deps.sh; elsewhere give -DCMAKE_PREFIX_PATH=….")
endif()
message(STATUS "MLIR and LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(tile_mlir INTERFACE)
foreach(folder IN LISTS MLIR_INCLUDE_DIRS LLVM_INCLUDE_DIRS)
  target_include_directories(tile_mlir SYSTEM INTERFACE $<BUILD_INTERFACE:${folder}>)
endforeach()
separate_arguments(tile_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(tile_mlir INTERFACE "$<BUILD_INTERFACE:${tile_llvm_definitions}>")

# The linker is archives only, also beside the shared LLVM.
find_library(TILE_LLD_ELF lldELF HINTS "${LLVM_LIBRARY_DIR}" REQUIRED)
find_library(TILE_LLD_COMMON lldCommon HINTS "${LLVM_LIBRARY_DIR}" REQUIRED)
find_path(TILE_LLD_INCLUDE_DIR lld/Common/Driver.h HINTS ${LLVM_INCLUDE_DIRS} REQUIRED)
mark_as_advanced(TILE_LLD_ELF TILE_LLD_COMMON TILE_LLD_INCLUDE_DIR)
add_library(tile_lld INTERFACE)
target_include_directories(tile_lld SYSTEM INTERFACE $<BUILD_INTERFACE:${TILE_LLD_INCLUDE_DIR}>)
target_link_libraries(tile_lld INTERFACE "${TILE_LLD_ELF}" "${TILE_LLD_COMMON}" tile_mlir)

if(NOT TILE_STATIC_LLVM)
  target_link_libraries(tile_lld INTERFACE zstd z)
  # Users of an installed tilec see none of MLIR's headers, so they need not find its package.
  foreach(library MLIR LLVM)
    get_target_property(file ${library} LOCATION)
    target_link_libraries(tile_mlir INTERFACE $<BUILD_INTERFACE:${library}>
                                              $<INSTALL_INTERFACE:${file}>)
  endforeach()
  return()
endif()

# The exported targets of Debian's packages lead to the shared libraries, so the archives are named
# by their files. MLIR's and LLVM's refer to each other in cycles: they become one group, written
# down in a linker script, and the linker takes from it just the objects that are called for. Of the
# code generators only the host's and NVPTX are there: a call of InitializeAllTargets does not link.
file(GLOB tile_mlir_archives CONFIGURE_DEPENDS "${LLVM_LIBRARY_DIR}/libMLIR*.a")
list(FILTER tile_mlir_archives EXCLUDE REGEX "CAPI|Test|Python")
execute_process(
  COMMAND "${LLVM_TOOLS_BINARY_DIR}/llvm-config" --link-static --libfiles
          ${LLVM_NATIVE_ARCH} NVPTX orcjit passes remarks linker irreader bitwriter lto dtlto option
  OUTPUT_VARIABLE tile_llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
# The linker is made for all targets and for link-time optimization with Polly. tilec gives it
# objects of the host alone: what would bring the others in does nothing.
string(REGEX REPLACE "[^ ]*/libPolly[A-Za-z]*\\.a" "" tile_llvm_archives "${tile_llvm_archives}")
set(tile_absent_targets ${LLVM_TARGETS_TO_BUILD})
list(REMOVE_ITEM tile_absent_targets ${LLVM_NATIVE_ARCH} NVPTX)
set(tile_stubs [=[#include "llvm/Plugins/PassPlugin.h"
llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }
]=])
foreach(target IN LISTS tile_absent_targets)
  foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser)
    string(APPEND tile_stubs "extern \"C\" void LLVMInitialize${target}${part}() {}\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/lld-stubs.cpp" CONTENT "${tile_stubs}" @ONLY)
add_library(tile_lld_stubs OBJECT "${PROJECT_BINARY_DIR}/lld-stubs.cpp")
target_include_directories(tile_lld_stubs SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_link_libraries(tile_lld INTERFACE $<TARGET_OBJECTS:tile_lld_stubs>)
list(JOIN tile_mlir_archives "\n  " tile_mlir_archives)
string(REPLACE " " "\n  " tile_llvm_archives "${tile_llvm_archives}")
set(tile_llvm_group "${PROJECT_BINARY_DIR}/libtile-llvm.a")
file(CONFIGURE OUTPUT "${tile_llvm_group}" @ONLY
     CONTENT "GROUP (\n  @tile_mlir_archives@\n  @tile_llvm_archives@\n)\n")
target_link_libraries(tile_mlir INTERFACE "${tile_llvm_group}" -l:libzstd.a -l:libz.a)
