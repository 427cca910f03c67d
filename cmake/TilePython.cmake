# Python runs checks and the samples' references, which need NumPy. The first interpreter that has it
# is taken: often a Python of the user's without NumPy stands before the system's.

if(NOT Python3_EXECUTABLE)
  foreach(candidate python3 /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import numpy, sys; print(sys.executable)"
                    RESULT_VARIABLE failed OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed)
      set(Python3_EXECUTABLE "${found}" CACHE FILEPATH "A Python with NumPy")
      break()
    endif()
  endforeach()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
