# A room is a static library penstock_<name>. Its unit tests are one program <name>_test, each test known to ctest with
# the label `unit`, or `race` where threads meet: those are also built and run under the thread sanitizer, by the
# target `race_tests`. A fuzzer is a program <name>_fuzz with its kept inputs in fuzz/corpus/<name>.

add_custom_target(race_tests)

# penstock_room(NAME SOURCES a.cc ... [ROOMS base ...] [LINK lib ...])
function(penstock_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ROOMS;LINK" ${ARGN})
  add_library(penstock_${name} STATIC ${ARG_SOURCES})
  target_include_directories(penstock_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  list(TRANSFORM ARG_ROOMS PREPEND penstock_)
  target_link_libraries(penstock_${name} PUBLIC ${ARG_ROOMS} ${ARG_LINK} PRIVATE penstock_warnings)
endfunction()

# penstock_test(NAME [RACE] SOURCES a_test.cc ... [ROOMS base ...] [LINK lib ...]); NAME_race_test implies RACE
function(penstock_test name)
  cmake_parse_arguments(ARG "RACE" "" "SOURCES;ROOMS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE PENSTOCK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  list(TRANSFORM ARG_ROOMS PREPEND penstock_)
  target_link_libraries(${name} PRIVATE ${ARG_ROOMS} ${ARG_LINK} GTest::gmock_main penstock_warnings)

  set(label unit)
  if(ARG_RACE OR name MATCHES "_race_test$")
    set(label race)
    add_dependencies(race_tests ${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${label} TIMEOUT 120)
endfunction()

# penstock_fuzz(NAME SOURCES a_fuzz.cc ... [ROOMS base ...] [LINK lib ...])
function(penstock_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ROOMS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  list(TRANSFORM ARG_ROOMS PREPEND penstock_)
  target_link_libraries(${name} PRIVATE ${ARG_ROOMS} ${ARG_LINK} penstock_warnings)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()
