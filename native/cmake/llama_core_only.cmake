# Included by CMake at llama.cpp's own project() call, through
#   CMAKE_ARGS="-DCMAKE_PROJECT_llama.cpp_INCLUDE=<this file>"
# llama-cpp-python forces LLAMA_BUILD_COMMON on, yet neither it nor mtp uses that library;
# a normal variable hides the forced cache entry and saves most of the build time.
set(LLAMA_BUILD_COMMON OFF)
set(LLAMA_BUILD_TOOLS OFF)
set(LLAMA_BUILD_EXAMPLES OFF)
set(LLAMA_BUILD_TESTS OFF)
set(LLAMA_BUILD_SERVER OFF)
