# korch_floor(NAME DEPS...): one static library per folder of src/korch, from all its sources.
# korch_test(NAME DEPS...): one GoogleTest program per folder of tests/, from all its sources.

add_library(korch_flags INTERFACE)
# -Wrestrict: g++ 12 reports string concatenation that is in order (its bug 105651). Deprecated declarations: clang
# reports what g++ 12's own headers do for std::stable_sort.
target_compile_options(korch_flags INTERFACE -Wall -Wextra -Werror $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                                             $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
                                             -fno-math-errno)
target_include_directories(korch_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(KORCH_SANITIZE)
  # -Wmaybe-uninitialized is wrong about std::regex in g++ 12 when sanitizers instrument it. LLVM comes without run-time
  # type information, so the vptr check would see standard objects that it made as foreign; generated kernels are not
  # functions of types that clang could check; a null pointer faults by itself, and asking before each access whether
  # one is null costs a third of the build.
  target_compile_options(korch_flags INTERFACE -fsanitize=${KORCH_SANITIZE} -fno-omit-frame-pointer
                                               -fno-sanitize-recover=undefined -fno-sanitize=vptr,null,object-size
                                               $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
                                               $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_link_options(korch_flags INTERFACE -fsanitize=${KORCH_SANITIZE})
endif()

# What libFuzzer guides itself by.
add_library(korch_coverage INTERFACE)
if(KORCH_FUZZ)
  target_compile_options(korch_coverage INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(korch_floor name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)  # headers alone
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp "")
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
  endif()
  add_library(korch_${name} STATIC ${sources})
  target_link_libraries(korch_${name} PUBLIC korch_flags PRIVATE korch_coverage)
  foreach(dep ${ARGN})
    if(TARGET korch_${dep})
      target_link_libraries(korch_${name} PUBLIC korch_${dep})
    else()
      target_link_libraries(korch_${name} PUBLIC ${dep})
    endif()
  endforeach()
endfunction()

function(korch_test name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    message(FATAL_ERROR "tests/${name} has no sources")
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE korch_flags GTest::gtest GTest::gtest_main)
  target_compile_options(test_${name} PRIVATE -O0)  # run once: what is tested is optimized, in its library
  target_compile_definitions(test_${name} PRIVATE KORCH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  foreach(dep ${ARGN})
    if(TARGET korch_${dep})
      target_link_libraries(test_${name} PRIVATE korch_${dep})
    else()
      target_link_libraries(test_${name} PRIVATE ${dep})
    endif()
  endforeach()
  add_test(NAME ${name} COMMAND test_${name})
  # Seconds. The slowest takes some 200 under sanitizers: a test that hangs fails, and the others still run.
  set_tests_properties(${name} PROPERTIES TIMEOUT 900)
endfunction()
