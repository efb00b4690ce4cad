# Language level, warnings, hardening, sanitizers, and the fast tools (ccache, mold) that every target uses.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -D_GLIBCXX_ASSERTIONS")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG -D_GLIBCXX_ASSERTIONS -fno-plt")  # docs/decisions/0009
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -D_GLIBCXX_ASSERTIONS")  # optimised, with all checks: for fuzzing

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# Everything ends in an executable, so code is position independent in the executable's cheap way (PIE, not PIC).
add_compile_options(-fPIE)
add_link_options(-pie)

# None of these shows in an instruction count of the hot path: no arrays on its stack, no fortified copies.
add_compile_options("$<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2;-fstack-protector-strong;-fcf-protection>")
add_link_options("$<$<CONFIG:Release>:LINKER:-z,relro,-z,now>")

add_library(penstock_warnings INTERFACE)
target_compile_options(penstock_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wconversion -Wimplicit-fallthrough -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wno-gnu-zero-variadic-macro-arguments>)

if(PENSTOCK_SANITIZE)
  add_compile_options(-fsanitize=${PENSTOCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PENSTOCK_SANITIZE})
endif()
if(PENSTOCK_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "PENSTOCK_FUZZ needs clang, the compiler is ${CMAKE_CXX_COMPILER_ID}; use the preset asan or fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # rooms see what the rooms below them link
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
