# Installs, moves what was installed, builds the examples against it, outside of the build, and runs them.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/cache)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)

# Public headers alone.
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix ${WORK}/prefix/include/*)
set(expected include/korch/compile.h include/korch/korch.h include/korch/korch.hpp include/korch/load.h)
list(SORT headers)
if(NOT headers STREQUAL expected)
  message(FATAL_ERROR "headers: ${headers}")
endif()

foreach(example cpp generate)
  run(${CMAKE_COMMAND} -S ${SOURCE}/examples/${example} -B ${WORK}/${example} -DCMAKE_PREFIX_PATH=${WORK}/prefix
      -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
  run(${CMAKE_COMMAND} --build ${WORK}/${example})
endforeach()
foreach(network product tokens)
  execute_process(COMMAND ${PROTOC} -I ${SOURCE}/src/korch/onnx --encode=korch.onnx.proto.ModelProto onnx.proto
    INPUT_FILE ${SOURCE}/tests/libkorch/install/${network}.textproto OUTPUT_FILE ${WORK}/${network}.onnx
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
set(ENV{XDG_CACHE_HOME} ${WORK}/cache)
execute_process(COMMAND ${WORK}/cpp/compile_and_run ${WORK}/product.onnx ${WORK}/product.so 2
  OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed STREQUAL "y f32: 16 16 16 16\n")
  message(FATAL_ERROR "the example printed: ${printed}")
endif()

# Each token votes for the next of five kinds; the votes so far are a state.
run(${WORK}/prefix/bin/korch compile ${WORK}/tokens.onnx --shape past=0..31 --shape seq=1..8 --no-measure --quiet
    -o ${WORK}/tokens.so)
execute_process(COMMAND ${WORK}/generate/generate ${WORK}/tokens.so 12 OUTPUT_VARIABLE printed
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed MATCHES "^tokens: 2 0 3 0 2 0 1 2 3 4 0 0\n")
  message(FATAL_ERROR "generation printed: ${printed}")
endif()

# What the program tells of itself, and its networks.
foreach(file share/man/man1/korch.1 share/bash-completion/completions/korch share/zsh/site-functions/_korch
             share/fish/vendor_completions.d/korch.fish)
  file(STRINGS ${WORK}/prefix/${file} lines REGEX "korch")
  if(NOT lines)
    message(FATAL_ERROR "nothing in ${file}")
  endif()
endforeach()
execute_process(COMMAND ${WORK}/prefix/bin/korch model --list OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed MATCHES "candy_224")
  message(FATAL_ERROR "the networks: ${printed}")
endif()
file(RENAME ${WORK}/prefix/share/korch/models ${WORK}/models)  # it looks there, not in the source
run(${CMAKE_COMMAND} -E make_directory ${WORK}/prefix/share/korch/models)
execute_process(COMMAND ${WORK}/prefix/bin/korch model --list OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
if(printed)
  message(FATAL_ERROR "networks of the source: ${printed}")
endif()

# A program in C needs no C++.
file(WRITE ${WORK}/c/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(c LANGUAGES C)\n"
  "find_package(korch REQUIRED)\nadd_executable(c c.c)\ntarget_link_libraries(c PRIVATE korch::korch)\n")
file(WRITE ${WORK}/c/c.c "#include <korch/load.h>\n"
  "int main(void) { return korch_load(\"none\", 0, 0, 0) == KORCH_ERROR_USAGE ? 0 : 1; }\n")
run(${CMAKE_COMMAND} -S ${WORK}/c -B ${WORK}/c/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
    "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -std=c99 -pedantic")
run(${CMAKE_COMMAND} --build ${WORK}/c/build)
run(${WORK}/c/build/c)

# The same by pkg-config.
find_program(PKG_CONFIG pkg-config)
if(NOT PKG_CONFIG)
  message(STATUS "pkg-config is not installed: its file is not tried")
else()
  file(GLOB_RECURSE pc ${WORK}/prefix/*/korch.pc)
  get_filename_component(folder ${pc} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs korch OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${PKG_CONFIG} --variable=libdir korch OUTPUT_VARIABLE libraries
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags)
  run(${COMPILER} -xc ${WORK}/c/c.c ${flags} -Wl,-rpath,${libraries} -o ${WORK}/c/by_pkg_config)
  run(${WORK}/c/by_pkg_config)
endif()
file(REMOVE_RECURSE ${WORK})
