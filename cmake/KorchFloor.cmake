# korch_floor(NAME DEPS... [EXCEPT PATHS...]): one static library per folder of src/korch, from all its sources but those
#   whose path in it begins with one of PATHS.
# korch_test(NAME DEPS... [LABEL unit|kernel|whole] [PARTS N] [CPU FILES...]): one GoogleTest program per folder of
#   tests/, from all its sources; a test of that name, or NAME.1 to NAME.N, each with every Nth case. FILES need the CPU
#   backend: a build without it has the test without them, and says so.
# korch_needs_cpu(): ends a folder's CMakeLists.txt where the build lacks the CPU backend, and says so.
# korch_add_test(NAME LABEL COMMAND...): a test by another program.
# korch_batch(TARGET): compiles its sources some at a time.

# Most of what a file costs is its headers and the templates that it shares with others; in a batch that is done once.
# The price: an edit compiles the batch again, and names in the anonymous namespaces of a folder are distinct. Sources
# with options of their own are compiled alone, and those with the property KORCH_ALONE. Batches name their files as
# seen from the top, not as CMake's unity builds do by absolute paths: ccache knows them in every checkout.
option(KORCH_BATCHES "compile several files of a target at a time: a build from nothing costs half" ON)
function(korch_batch target)
  if(KORCH_BATCHES)  # when the folder has said all that it says of its sources
    cmake_language(EVAL CODE "cmake_language(DEFER CALL korch_make_batches ${target})")
  endif()
endfunction()

function(korch_make_batches target)
  get_target_property(sources ${target} SOURCES)
  set(kept "")
  set(together "")
  set(together_cpu "")  # apart, so that builds with and without them have the other batches in common
  foreach(source ${sources})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(alone ${source} KORCH_ALONE)
    get_source_file_property(needs_cpu ${source} KORCH_NEEDS_CPU)
    if(NOT source MATCHES "[.]cpp$" OR options OR definitions OR alone)
      list(APPEND kept ${source})
    elseif(needs_cpu)
      list(APPEND together_cpu ${source})
    else()
      list(APPEND together ${source})
    endif()
  endforeach()
  korch_add_batches(${target} "" ${together})
  korch_add_batches(${target} cpu_ ${together_cpu})
  set_target_properties(${target} PROPERTIES SOURCES "${kept}")
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  # g++ takes what a batch includes for headers.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Appends them to `kept` of the caller.
function(korch_add_batches target prefix)
  set(batch_files 8)
  set(together ${ARGN})
  list(LENGTH together count)
  if(count LESS 2)
    list(APPEND kept ${together})
    set(kept ${kept} PARENT_SCOPE)
    return()
  endif()
  # As even as they can be.
  math(EXPR batches "(${count} + ${batch_files} - 1) / ${batch_files}")
  math(EXPR size "(${count} + ${batches} - 1) / ${batches}")
  math(EXPR last "${count} - 1")
  foreach(start RANGE 0 ${last} ${size})
    list(SUBLIST together ${start} ${size} files)
    set(KORCH_INCLUDES "")
    foreach(source ${files})
      get_filename_component(source ${source} ABSOLUTE)
      file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${source})
      string(APPEND KORCH_INCLUDES "#include \"${path}\"\n")
    endforeach()
    set(batch ${CMAKE_CURRENT_BINARY_DIR}/batches/${target}_${prefix}${start}.cpp)
    file(CONFIGURE OUTPUT ${batch} CONTENT "@KORCH_INCLUDES@" @ONLY)
    list(APPEND kept ${batch})
  endforeach()
  set(kept ${kept} PARENT_SCOPE)
endfunction()

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
  cmake_parse_arguments(PARSE_ARGV 1 floor "" "" "EXCEPT")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(path ${floor_EXCEPT})
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${path}")
  endforeach()
  if(NOT sources)  # headers alone
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp "")
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
  endif()
  add_library(korch_${name} STATIC ${sources})
  target_link_libraries(korch_${name} PUBLIC korch_flags PRIVATE korch_coverage)
  korch_batch(korch_${name})
  foreach(dep ${floor_UNPARSED_ARGUMENTS})
    if(TARGET korch_${dep})
      target_link_libraries(korch_${name} PUBLIC korch_${dep})
    else()
      target_link_libraries(korch_${name} PUBLIC ${dep})
    endif()
  endforeach()
endfunction()

# Labels: `unit`, parts of the program alone; `kernel`, code for processors made and run; `whole`, programs from outside
# and networks from import to run. Whole ones begin first: the longest then ends beside others.
function(korch_add_test name label)
  set(cost_unit 1)
  set(cost_kernel 2)
  set(cost_whole 3)
  add_test(NAME ${name} COMMAND ${ARGN})
  # Seconds. The slowest takes some 200 under sanitizers: a test that hangs fails, and the others still run.
  set_tests_properties(${name} PROPERTIES LABELS ${label} COST ${cost_${label}} TIMEOUT 900)
endfunction()

macro(korch_needs_cpu)
  if(NOT KORCH_CPU)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    message(STATUS "without the CPU backend: no ${folder}")
    return()
  endif()
endmacro()

function(korch_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "LABEL;PARTS" "CPU")
  if(NOT test_LABEL)
    set(test_LABEL unit)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(test_CPU)
    list(TRANSFORM test_CPU PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM sources ${test_CPU})
    if(KORCH_CPU)
      set_source_files_properties(${test_CPU} PROPERTIES KORCH_NEEDS_CPU ON)
      list(APPEND sources ${test_CPU})
    else()
      list(TRANSFORM test_CPU REPLACE "^${CMAKE_SOURCE_DIR}/" "")
      list(JOIN test_CPU ", " names)
      message(STATUS "without the CPU backend: no ${names}")
    endif()
  endif()
  if(NOT sources)
    message(FATAL_ERROR "tests/${name} has no sources")
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE korch_flags GTest::gtest GTest::gtest_main)
  korch_batch(test_${name})
  target_compile_options(test_${name} PRIVATE -O0)  # run once: what is tested is optimized, in its library
  target_compile_definitions(test_${name} PRIVATE KORCH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  foreach(dep ${test_UNPARSED_ARGUMENTS})
    if(TARGET korch_${dep})
      target_link_libraries(test_${name} PRIVATE korch_${dep})
    else()
      target_link_libraries(test_${name} PRIVATE ${dep})
    endif()
  endforeach()
  if(NOT test_PARTS)
    korch_add_test(${name} ${test_LABEL} test_${name})
    return()
  endif()
  foreach(part RANGE 1 ${test_PARTS})
    math(EXPR index "${part} - 1")
    korch_add_test(${name}.${part} ${test_LABEL} test_${name})
    set_tests_properties(${name}.${part} PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=${test_PARTS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
