# Compiles through ccache where it works, set up so that files with a precompiled header are cached,
# too, and so that two checkouts share what they compile. A launcher of the user's is kept.

find_program(TILE_CCACHE ccache)
mark_as_advanced(TILE_CCACHE)
if(TILE_CCACHE AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache"))
  # A precompiled header's time stamps differ from build to build; ccache compares its content.
  set(tile_ccache "${PROJECT_BINARY_DIR}/CMakeFiles/ccache.sh")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/ccache.sh.in" "${tile_ccache}" @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
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
