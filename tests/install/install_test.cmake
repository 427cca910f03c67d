# Installs BUILD below WORK, moves it, and builds and runs the project in SOURCE with it.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first")
# A prefix may be moved after the installation: nothing in it names its own place.
file(RENAME "${WORK}/first" "${WORK}/prefix")
run("${WORK}/prefix/bin/tilec" --version)
run("${CMAKE_COMMAND}" -S "${SOURCE}/user" -B "${WORK}/build" -G Ninja "-DCMAKE_PREFIX_PATH=${WORK}/prefix"
    "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/user")
# Kernels compiled ahead of time, and a program with the runtime alone.
run("${WORK}/prefix/bin/tilec" compile "${SOURCE}/user/scale.tile" --emit=artifact -o "${WORK}/scale.tileart")
run("${WORK}/build/artifact_user" "${WORK}/scale.tileart")
file(REMOVE_RECURSE "${WORK}")
