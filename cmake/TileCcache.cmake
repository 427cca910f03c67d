# Compiles through ccache where it works, set up so that files with a precompiled header are cached,
# too, and so that two checkouts share what they compile. A launcher of the user's is kept.

find_program(TILE_CCACHE ccache)
mark_as_advanced(TILE_CCACHE)
if(TILE_CCACHE AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache"))
  # A precompiled header's time stamps differ from build to build; ccache compares its content.
  set(tile_ccache
      "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
      "${TILE_CCACHE}")
  # It fails, and with it the build, where its folder cannot be written.
  set(probe "${PROJECT_BINARY_DIR}/CMakeFiles/ccache-probe.cpp")
  file(WRITE "${probe}" "")
  execute_process(COMMAND ${tile_ccache} "${CMAKE_CXX_COMPILER}" -c "${probe}" -o "${probe}.o"
                  RESULT_VARIABLE failed ERROR_VARIABLE reason OUTPUT_QUIET)
  if(failed)
    message(STATUS "Compiling without ccache: ${reason}")
  else()
    set(CMAKE_CXX_COMPILER_LAUNCHER ${tile_ccache})
  endif()
endif()
