# Compile settings shared by every target of ours, and the helpers that create them.

add_library(tile_options INTERFACE)
target_compile_features(tile_options INTERFACE cxx_std_20)
target_include_directories(tile_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
target_compile_options(tile_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Werror=switch -Werror=return-type
  -ffunction-sections -fdata-sections
  # Messages of assertions name files from the root of the repository on.
  "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
# GCC 12 sees overlaps and overflows in `"`" + std::string` that are none (its PRs 105329 and 105562).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(tile_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                                                -Wno-stringop-overread)
endif()
# GCC collects garbage each time that its heap has grown by a third, precompiled headers and all: a tenth of its time, for a
# tenth of its memory.
target_compile_options(tile_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=300>)
target_link_options(tile_options INTERFACE -Wl,--gc-sections)
# LLVM's linker, which comes with the library that tilec links code with (TileLLVM.cmake), takes a seventh of the time of GNU's.
option(TILE_LLD "Link with LLVM's linker where it is" ON)
find_program(TILE_LD_LLD ld.lld HINTS "${LLVM_TOOLS_BINARY_DIR}")
mark_as_advanced(TILE_LD_LLD)
if(TILE_LLD AND TILE_LD_LLD AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld=")
  cmake_path(GET TILE_LD_LLD PARENT_PATH lld_folder)
  include(CheckLinkerFlag)
  check_linker_flag(CXX "-B${lld_folder};-fuse-ld=lld" tile_links_with_lld)
  if(tile_links_with_lld)
    target_link_options(tile_options INTERFACE "-B${lld_folder}" -fuse-ld=lld)
  endif()
endif()
if(TILE_ASSERTIONS)
  target_compile_options(tile_options INTERFACE -UNDEBUG)
endif()
if(TILE_SANITIZE)
  target_compile_options(tile_options INTERFACE -fsanitize=${TILE_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=undefined)
  target_link_options(tile_options INTERFACE -fsanitize=${TILE_SANITIZE})
  target_sources(tile_options INTERFACE
    "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${CMAKE_CURRENT_LIST_DIR}/SanitizerDefaults.cpp>")
endif()
if(TILE_FUZZ)
  # What libFuzzer sees of our code; its main function comes with the targets of tests/fuzz.
  target_compile_options(tile_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# tile_internal_library(name SOURCES … PUBLIC … PRIVATE … PCH header)
# One folder's library, installed and exported with the others (TileInstall.cmake). PUBLIC links show
# in its headers, PRIVATE ones do not.
function(tile_internal_library name)
  cmake_parse_arguments(ARG "" "PCH" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC $<BUILD_INTERFACE:tile_options> ${ARG_PUBLIC})
  foreach(library IN LISTS ARG_PRIVATE)
    # What is only headers is no business of those who link an installed library.
    if(TARGET ${library})
      get_target_property(type ${library} TYPE)
      get_target_property(imported ${library} IMPORTED)
      if(imported AND type STREQUAL "INTERFACE_LIBRARY")
        set(library $<BUILD_INTERFACE:${library}>)
      endif()
    endif()
    target_link_libraries(${name} PRIVATE ${library})
  endforeach()
  if(ARG_PCH)
    tile_precompile_headers(${name} "${ARG_PCH}")
  endif()
  set_property(GLOBAL APPEND PROPERTY tile_libraries ${name})
endfunction()

# tile_precompile_headers(target header)
# Precompiles a header for a target, in a way that ccache can work with. The first target that names
# a header compiles it; others that name it use the same: those compile with the same definitions.
function(tile_precompile_headers target header)
  file(REAL_PATH "${header}" header)
  get_property(first GLOBAL PROPERTY "tile_precompiled_${header}")
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY "tile_precompiled_${header}" ${target})
    target_precompile_headers(${target} PRIVATE "${header}")
  endif()
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
# Executables, too, compile as libraries do: a header is precompiled for one of -fPIC and -fPIE.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})

# tile_uses_mlir(target out): whether the headers of a target lead to MLIR's.
function(tile_uses_mlir target out)
  set(${out} FALSE PARENT_SCOPE)
  if(target STREQUAL "tile_mlir")
    set(${out} TRUE PARENT_SCOPE)
  elseif(TARGET ${target})
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    foreach(library IN LISTS libraries)
      tile_uses_mlir("${library}" found)
      if(found)
        set(${out} TRUE PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endif()
endfunction()

# tile_precompile_for_tests(target library …): MLIR's headers, where those of the libraries lead to them.
function(tile_precompile_for_tests target)
  foreach(library IN LISTS ARGN)
    tile_uses_mlir(${library} uses_mlir)
    if(uses_mlir)
      tile_precompile_headers(${target} "${PROJECT_SOURCE_DIR}/ir/Pch.h")
      return()
    endif()
  endforeach()
endfunction()

# tile_add_test(name SOURCES … LIBS … SHARDS n)
# A GoogleTest executable, registered with CTest as one test, or as n with a part of its cases each (NAME, NAME_2 …),
# and built by the target tile_tests.
# Tests take longer to compile than to run: they are hardly optimized, and those that read MLIR's
# headers read them precompiled.
function(tile_add_test name)
  cmake_parse_arguments(ARG "" "SHARDS" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tile_options ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  target_compile_options(${name} PRIVATE -O1)
  tile_precompile_for_tests(${name} ${ARG_LIBS})
  add_dependencies(tile_tests ${name})
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(test ${name})
    if(shard GREATER 1)
      string(APPEND test "_${shard}")
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND ${name})
    # What a test compiles it compiles anew, and leaves nothing behind.
    set(environment "TILE_CACHE_DIR=")
    if(ARG_SHARDS GREATER 1)
      list(APPEND environment GTEST_TOTAL_SHARDS=${ARG_SHARDS} GTEST_SHARD_INDEX=${index})
    endif()
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# tile_test_costs(test seconds …)
# About how long tests take on two cores, for their order alone: CTest starts the longest first also where it has never
# run them.
function(tile_test_costs)
  while(ARGN)
    list(POP_FRONT ARGN test seconds)
    if(TEST ${test})
      set_tests_properties(${test} PROPERTIES COST ${seconds})
    endif()
  endwhile()
endfunction()
