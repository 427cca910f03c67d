# `ninja format` lays out all sources as .clang-format says; `ninja tidy` reads them with the checks
# of .clang-tidy, which takes about as long as a build without precompiled headers.

add_custom_target(format
  COMMAND "${PROJECT_SOURCE_DIR}/tests/structure/check_format.sh" --fix
  COMMENT "Laying out sources" VERBATIM)

find_program(TILE_RUN_CLANG_TIDY NAMES run-clang-tidy-22 run-clang-tidy)
find_program(TILE_CLANG_TIDY NAMES clang-tidy-22 clang-tidy)
mark_as_advanced(TILE_RUN_CLANG_TIDY TILE_CLANG_TIDY)
if(TILE_RUN_CLANG_TIDY AND TILE_CLANG_TIDY)
  # GCC's precompiled headers are not Clang's: it reads compile commands without them.
  add_custom_target(tidy
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_LIST_DIR}/plain_compile_commands.py"
            "${PROJECT_BINARY_DIR}/compile_commands.json" "${PROJECT_BINARY_DIR}/tidy"
    COMMAND "${TILE_RUN_CLANG_TIDY}" -clang-tidy-binary "${TILE_CLANG_TIDY}" -quiet
            -p "${PROJECT_BINARY_DIR}/tidy" "^${PROJECT_SOURCE_DIR}/(ir|dsl|codegen|runtime|frontend)/"
    COMMENT "Reading sources with clang-tidy" USES_TERMINAL VERBATIM)
  # The sources include what TableGen writes.
  if(TARGET tile_ir_tablegen)
    add_dependencies(tidy tile_ir_tablegen)
  endif()
else()
  add_custom_target(tidy
    COMMAND "${CMAKE_COMMAND}" -E echo "There is no clang-tidy: cmake/install-deps.sh --dev installs it"
    COMMAND "${CMAKE_COMMAND}" -E false VERBATIM)
endif()
