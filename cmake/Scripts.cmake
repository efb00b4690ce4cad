# penstock_scripts(OUTPUT file.cc FUNCTION penstock::room::name SOURCES a.lua ...): a source file with a function that
# returns the joined text of all sources, written anew when one of them changes.
function(penstock_scripts)
  cmake_parse_arguments(ARG "" "OUTPUT;NAMESPACE;FUNCTION;HEADER" "SOURCES" ${ARGN})
  set(text "")
  foreach(source ${ARG_SOURCES})
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${source} part)
    string(APPEND text "${part}\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
  file(CONFIGURE OUTPUT ${ARG_OUTPUT} @ONLY CONTENT
    "#include \"@ARG_HEADER@\"\n\nnamespace @ARG_NAMESPACE@ {\n\nstd::string_view @ARG_FUNCTION@() noexcept {\n  return R\"lua(@text@)lua\";\n}\n\n}  // namespace @ARG_NAMESPACE@\n")
endfunction()
