# Compile settings shared by every target of ours, and the helpers that create them.

include(CheckCXXCompilerFlag)

add_library(tile_options INTERFACE)
target_include_directories(tile_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
target_compile_options(tile_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Werror=switch
                                              -Werror=return-type -ffunction-sections -fdata-sections)
if(TILE_ASSERTIONS)
  target_compile_options(tile_options INTERFACE -UNDEBUG)
endif()
if(TILE_SANITIZE)
  target_compile_options(tile_options INTERFACE -fsanitize=${TILE_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=undefined)
  target_link_options(tile_options INTERFACE -fsanitize=${TILE_SANITIZE})
endif()

# tile_internal_library(name SOURCES … PUBLIC … PRIVATE … PCH header…)
# One folder's library. PUBLIC links show in its headers, PRIVATE ones do not.
function(tile_internal_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE;PCH" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tile_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(ARG_PCH)
    target_precompile_headers(${name} PRIVATE ${ARG_PCH})
  endif()
endfunction()

# tile_add_test(name SOURCES … LIBS …)
# A GoogleTest executable, registered with CTest as one test.
function(tile_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tile_options ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# The former name, until every folder uses the new one.
macro(tile_add_library)
  tile_internal_library(${ARGN})
endmacro()
