# Compiles through ccache where it is installed, set up so that files with a precompiled header are
# cached, too, and so that two checkouts share what they compile. A launcher of the user's is kept.

find_program(TILE_CCACHE ccache)
mark_as_advanced(TILE_CCACHE)
if(TILE_CCACHE AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache"))
  # A precompiled header's time stamps differ from build to build; ccache compares its content.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
      "${TILE_CCACHE}")
endif()
