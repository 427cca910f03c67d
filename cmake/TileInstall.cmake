# What `cmake --install` lays down. A build with shared LLVM: tilec, and the C++ API for
# find_package(Tile), which offers Tile::tile, and Tile::runtime for artifacts. A build with static LLVM: tilec with what it needs
# beside the system's C and C++ libraries, to be copied anywhere.

include(GNUInstallDirs)

if(TILE_STATIC_LLVM)
  # Debian has oneTBB as a shared library only. It comes along, in a folder of its own. The system's
  # libstdc++ stays shared, since oneTBB brings it in anyway and two in one process don't mix.
  set(private_libraries "${CMAKE_INSTALL_LIBDIR}/tilec")
  set_target_properties(tilec PROPERTIES INSTALL_RPATH "$ORIGIN/../${private_libraries}")
  install(TARGETS tilec RUNTIME)
  find_package(TBB REQUIRED CONFIG)
  install(IMPORTED_RUNTIME_ARTIFACTS TBB::tbb TBB::tbbmalloc LIBRARY DESTINATION "${private_libraries}")
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  return()
endif()

set_target_properties(tilec PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS tilec RUNTIME)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# Headers keep their paths: `#include "frontend/tile/Tile.h"` reads the same inside and outside.
set(headers "${CMAKE_INSTALL_INCLUDEDIR}/tilec")
set(public_runtime_headers load/Artifact.h launch/Binding.h tensor/DType.h base/FunctionRef.h
    launch/GraphRun.h base/Hash.h tensor/Memory.h tensor/Npy.h base/Result.h tensor/Tensor.h
    artifact/ArtifactData.h artifact/CpuEntry.h artifact/CudaCode.h artifact/Opcodes.def
    artifact/Program.h cuda/Device.h cuda/DeviceBuffer.h cuda/DeviceTensor.h cuda/Dlpack.h
    cuda/Driver.h cuda/Gpu.h cuda/DriverTypes.h cuda/Functions.def cuda/LaunchLog.h cuda/Stream.h)
list(TRANSFORM public_runtime_headers PREPEND runtime/)
install(DIRECTORY frontend/tile DESTINATION "${headers}/frontend" FILES_MATCHING PATTERN "*.h")
foreach(header IN LISTS public_runtime_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION "${headers}/${folder}")
endforeach()

get_property(libraries GLOBAL PROPERTY tile_libraries)
set_target_properties(tile_builder PROPERTIES EXPORT_NAME tile)
set_target_properties(tile_runtime PROPERTIES EXPORT_NAME runtime)
install(TARGETS ${libraries} tile_mlir tile_lld EXPORT Tile
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/tilec"
        INCLUDES DESTINATION "${headers}")

include(CMakePackageConfigHelpers)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Tile")
install(EXPORT Tile NAMESPACE Tile:: FILE TileTargets.cmake DESTINATION "${package}")
configure_package_config_file(cmake/TileConfig.cmake.in "${PROJECT_BINARY_DIR}/TileConfig.cmake"
                              INSTALL_DESTINATION "${package}")
# Before 1.0 each minor version may change the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TileConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TileConfig.cmake" "${PROJECT_BINARY_DIR}/TileConfigVersion.cmake"
        DESTINATION "${package}")
