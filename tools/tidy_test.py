"""Every rule of tidy.py against a small tree that breaks it and one that is fine."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import tidy
from checks import cpp
from checks.cache import key_of
from checks.tree import Tree

TOOLS = Path(__file__).resolve().parent
HEADER = "#pragma once\n"


class SmallTree(unittest.TestCase):
    """A project of two rooms that breaks no rule; tests add files to it and look at the rules that these break."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="tidy-"))
        self.addCleanup(shutil.rmtree, self.root)
        for table in ("rooms.toml", "words.toml"):
            self.write(f"tools/{table}", (TOOLS / table).read_text(encoding="utf-8"))
        self.write("penstock/base/README.md", "# base\n")
        self.write("penstock/base/instant.h", HEADER + "struct Instant {};\n")

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def write_room(self, name, **files):
        """A room, anew, with a README and files that its CMakeLists.txt names; `a_h="..."` becomes a.h."""
        shutil.rmtree(self.root / "penstock" / name, ignore_errors=True)
        names = {key.replace("__", "/")[::-1].replace("_", ".", 1)[::-1]: text for key, text in files.items()}
        self.write(f"penstock/{name}/README.md", f"# {name}\n")
        self.write(f"penstock/{name}/CMakeLists.txt", f"penstock_room({name} SOURCES {' '.join(names)})\n")
        for file, text in names.items():
            self.write(f"penstock/{name}/{file}", text)

    def rules(self):
        return [finding.rule for finding in tidy.findings(Tree(self.root))]

    def assert_broken(self, rule, times=1):
        self.assertEqual([rule] * times, self.rules())

    def assert_fine(self):
        self.assertEqual([], [str(finding) for finding in tidy.findings(Tree(self.root))])


class Rooms(SmallTree):
    def test_a_room_may_include_itself_what_its_line_names_and_the_standard_library(self):
        self.write_room(
            "rules",
            a_h=HEADER,
            a_cc='#include "penstock/rules/a.h"\n#include <map>\n#include <fmt/core.h>\n#include "penstock/base/instant.h"\n',
        )
        self.assert_fine()

    def test_a_room_that_its_line_does_not_name_is_refused(self):
        self.write_room("rules", a_cc='#include "penstock/metrics/counter.h"\n')
        self.assert_broken("room-include")

    def test_a_line_may_open_a_single_header(self):
        self.write_room("limiter", a_cc='#include "penstock/store/store.h"\n')
        self.assert_fine()
        self.write_room("limiter", a_cc='#include "penstock/store/memory/table.h"\n')
        self.assert_broken("room-include")

    def test_a_star_means_lower_rooms_only_and_not_the_excluded(self):
        self.write_room("server", a_cc='#include "penstock/store/memory/table.h"\n')
        self.assert_fine()
        self.write_room("server", a_cc='#include "penstock/cli/commands.h"\n#include "penstock/simulation/world.h"\n')
        self.assert_broken("room-include", times=2)

    def test_a_test_may_include_any_lower_room_and_googletest(self):
        includes = '#include <gtest/gtest.h>\n#include "penstock/yaml/value.h"\n'
        self.write_room("store", a_test_cc=includes)
        self.assert_fine()
        self.write_room("store", a_cc=includes)
        self.assertEqual(["library-include", "room-include"], self.rules())

    def test_a_test_may_not_include_a_higher_room(self):
        self.write_room("store", a_test_cc='#include "penstock/limiter/limiter.h"\n')
        self.assert_broken("room-include")

    def test_a_library_is_for_the_rooms_that_name_it(self):
        self.write_room("protocol", a_cc='#include <google/protobuf/message.h>\n#include "envoy/rls.pb.h"\n')
        self.assert_fine()
        self.write_room("protocol", a_cc="#include <nghttp2/nghttp2.h>\n")
        self.assert_broken("library-include")

    def test_system_headers_are_for_the_server(self):
        self.write_room("server", a_cc="#include <sys/socket.h>\n")
        self.assert_fine()
        self.write_room("transport", a_cc="#include <sys/socket.h>\n")
        self.assert_broken("library-include")

    def test_the_product_does_not_include_testing(self):
        self.write_room("algorithm", testing__oracle_h=HEADER, a_test_cc='#include "penstock/algorithm/testing/oracle.h"\n')
        self.assert_fine()
        self.write_room(
            "algorithm", testing__oracle_h=HEADER, a_cc='#include "penstock/algorithm/testing/oracle.h"\n'
        )
        self.assert_broken("test-include")

    def test_headers_are_named_from_the_root(self):
        self.write_room("rules", a_h=HEADER, a_cc='#include "a.h"\n')
        self.assert_broken("include-path")

    def test_a_cycle_of_headers_is_named_whole(self):
        self.write_room(
            "rules", a_h=HEADER + '#include "penstock/rules/b.h"\n', b_h=HEADER + '#include "penstock/rules/a.h"\n'
        )
        (finding,) = tidy.findings(Tree(self.root))
        self.assertEqual("include-cycle", finding.rule)
        self.assertEqual("penstock/rules/a.h -> penstock/rules/b.h -> penstock/rules/a.h", finding.text)

    def test_a_folder_that_is_no_room_is_refused(self):
        self.write_room("util", a_h=HEADER)
        self.assert_broken("unknown-room")

    def test_the_table_must_be_a_ladder(self):
        table = (TOOLS / "rooms.toml").read_text(encoding="utf-8")
        self.write("tools/rooms.toml", table.replace('rooms = ["base", "yaml", "algorithm"]', 'rooms = ["store", "nosuch"]'))
        self.assert_broken("room-table", times=2)


class Sizes(SmallTree):
    LISTED = '[[function]]\npath = "penstock/rules/a.cc"\nname = "f"\nlines = 45\nreason = "one table of cases"\n'

    def write_function(self, lines):
        self.write_room("rules", a_cc="int f() {\n" + "  g();\n" * (lines - 2) + "}\n")

    def test_a_function_at_the_soft_limit_is_fine_and_one_line_more_is_not(self):
        self.write_function(40)
        self.assert_fine()
        self.write_function(41)
        self.assert_broken("function-size")

    def test_a_listed_function_keeps_its_size(self):
        self.write("tools/ratchet.toml", self.LISTED)
        self.write_function(45)
        self.assert_fine()

    def test_a_listed_function_must_not_grow(self):
        self.write("tools/ratchet.toml", self.LISTED)
        self.write_function(46)
        self.assert_broken("function-size")

    def test_the_list_follows_a_function_that_shrank(self):
        self.write("tools/ratchet.toml", self.LISTED)
        self.write_function(43)
        self.assert_broken("ratchet")

    def test_the_list_forgets_a_function_that_is_small_now(self):
        self.write("tools/ratchet.toml", self.LISTED)
        self.write_function(10)
        self.assert_broken("ratchet")

    def test_an_exception_needs_a_reason(self):
        self.write("tools/ratchet.toml", self.LISTED.replace("one table of cases", " "))
        self.write_function(45)
        self.assert_broken("ratchet")

    def test_nothing_excuses_what_is_over_the_hard_limit(self):
        self.write("tools/ratchet.toml", self.LISTED.replace("45", "71"))
        self.write_function(71)
        self.assert_broken("function-size")

    def test_tests_have_the_hard_limit_alone(self):
        self.write_room("rules", a_test_cc="TEST(A, B) {\n" + "  g();\n" * 60 + "}\n")
        self.assert_fine()
        self.write_room("rules", a_test_cc="TEST(A, B) {\n" + "  g();\n" * 70 + "}\n")
        self.assert_broken("function-size")

    def test_files_have_limits_too(self):
        self.write_room("rules", a_h=HEADER + "\n" * 399)
        self.assert_fine()
        self.write_room("rules", a_h=HEADER + "\n" * 400)
        self.assert_broken("file-size")

    def test_python_is_measured_as_well(self):
        self.write("tools/a.py", "def f():\n" + "    g()\n" * 40)
        self.assert_broken("function-size")


class FunctionFinder(unittest.TestCase):
    def names(self, text):
        return [(f.name, f.line, f.lines) for f in cpp.functions(cpp.without_comments_and_strings(text))]

    def test_free_functions_members_and_operators(self):
        text = """namespace a {
int f(int x) { return x; }
class C : public B {
 public:
  C() noexcept : x_{1}, y_(2) {
    g();
  }
  bool operator()(int) const { return true; }
  int x_{0};
};
Result<int> C::h(std::span<const int> values,
                 int other) const noexcept {
  if (other) { return [&] { return 1; }(); }
}
}  // namespace a
"""
        expected = [("f", 2, 1), ("C", 5, 3), ("operator()", 8, 1), ("C::h", 11, 4)]
        self.assertEqual(expected, self.names(text))

    def test_tables_are_no_functions(self):
        self.assertEqual([], self.names("constexpr std::array<P, 2> kTable{{{1, f(2)}, {3, 4}}};\nint x[] = {1,\n2};\n"))

    def test_tests_are_named_by_suite_and_case(self):
        self.assertEqual([("Topic.SaysIt", 1, 3)], self.names("TEST(Topic, SaysIt) {\n  f();\n}\n"))

    def test_braces_in_comments_strings_and_directives_do_not_count(self):
        text = 'void f() {\n  // }\n  g("}", \'}\', R"({{)");  /* } */\n#define X }\n}\nint n = 1\'000;\nvoid h() {}\n'
        self.assertEqual([("f", 1, 5), ("h", 7, 1)], self.names(text))

    def test_templates_attributes_and_annotations_are_looked_through(self):
        text = "template <class T>\n[[nodiscard]] T f(T x) PENSTOCK_REQUIRES(mutex_) {\n  return x;\n}\n"
        self.assertEqual([("f", 1, 4)], self.names(text))


class Words(SmallTree):
    # what stands in a file, and where else the same is right (None: nowhere)
    CASES = {
        "clock": ("auto t = std::chrono::steady_clock::now();", "server"),
        "thread": ("std::jthread thread_;", "server"),
        "file-access": ("#include <fstream>", "server"),
        "environment": ('auto home = getenv("HOME");', "cli"),
        "sleep": ("std::this_thread::sleep_for(kShort);", None),
        "randomness": ("std::random_device device;", "server"),
        "volatile": ("volatile int x;", None),
        "iostream": ("#include <iostream>", "cli"),
        "mutex": ("std::mutex mutex_;", "base"),
        "assert": ("assert(x);", None),
        "catch-all": ("try { f(); } catch (...) {}", "server"),
        "nolint": ("f();  // NOLINT", None),
        "todo": ("// TODO: later", None),
        "machine-path": ("// see /home/somebody/notes", None),
        "registry-host": ("// from pypi.org", None),
    }

    def test_each_word_is_found_where_it_must_not_stand(self):
        for rule, (line, _) in self.CASES.items():
            with self.subTest(rule):
                self.write_room("rules", a_cc=line + "\n")
                self.assert_broken(rule)

    def test_each_word_is_left_where_it_may_stand(self):
        self.write_room("rules", a_cc="")
        for rule, (line, room) in self.CASES.items():
            with self.subTest(rule):
                if room is not None:
                    self.write_room(room, a_cc=line + "\n")
                    self.assert_fine()

    def test_code_words_in_comments_and_strings_are_no_code(self):
        self.write_room("rules", a_cc='// volatile, std::mutex\nauto x = "assert(volatile)";\n')
        self.assert_fine()

    def test_likely_names_are_not_mistaken(self):
        self.write_room("rules", a_cc="static_assert(true);\nauto t = response_time(x) + a.time(b) + operand(1);\nasm volatile("");\n")
        self.assert_fine()

    def test_a_clock_is_seen_behind_an_alias_and_in_its_old_forms(self):
        for line in ("auto t = Clock::now();", "auto t = std::clock();", "timespec_get(&t, TIME_UTC);", "auto t = __rdtsc();"):
            with self.subTest(line):
                self.write_room("rules", a_cc=line + "\n")
                self.assert_broken("clock")

    def test_using_namespace_is_refused_in_headers_only(self):
        self.write_room("rules", a_cc="using namespace std::chrono_literals;\n")
        self.assert_fine()
        self.write_room("rules", a_h=HEADER + "using namespace std;\n")
        self.assert_broken("using-namespace")

    def test_decisions_have_no_floating_point_but_tests_may(self):
        self.write_room("algorithm", a_test_cc="double x;\n")
        self.assert_fine()
        self.write_room("algorithm", a_cc="double x;\n")
        self.assert_broken("floating-point")

    def test_a_todo_with_its_issue_and_a_nolint_with_its_reason_are_fine(self):
        self.write_room("rules", a_cc="// TODO(#12): later\nf();  // NOLINT(bugprone-x): the macro is not ours\n")
        self.assert_fine()

    def test_the_message_says_where_what_and_what_instead(self):
        self.write_room("rules", a_cc="\nint x;\nstd::mutex m;\n")
        (finding,) = tidy.findings(Tree(self.root))
        self.assertRegex(str(finding), r"^penstock/rules/a\.cc:3: mutex: `std::mutex` .*; use penstock::Mutex")


class Layout(SmallTree):
    def test_a_test_that_no_target_builds_is_found(self):
        self.write_room("rules", a_cc="")
        self.write("penstock/rules/lost_test.cc", "")
        self.assert_broken("unbuilt")

    def test_a_folder_above_may_name_it_and_a_comment_does_not(self):
        self.write_room("store", a_cc="")
        self.write("penstock/store/memory/b_test.cc", "")
        self.write("penstock/store/CMakeLists.txt", "x(SOURCES a.cc memory/b_test.cc)\n")
        self.assert_fine()
        self.write("penstock/store/CMakeLists.txt", "x(SOURCES a.cc)  # memory/b_test.cc\n")
        self.assert_broken("unbuilt")

    def test_a_room_needs_a_readme(self):
        self.write_room("rules", a_cc="")
        (self.root / "penstock/rules/README.md").unlink()
        self.assert_broken("room-readme")

    def test_code_that_no_rule_would_see_is_refused(self):
        for path in ("penstock/a.h", "penstock/rules/a.hpp", "penstock/rules/a.cpp", "penstock/rules/table.inc"):
            with self.subTest(path):
                self.write_room("rules", a_cc="")
                self.write(path, HEADER)
                self.assert_broken("stray")
                (self.root / path).unlink()

    def test_pragma_once_may_follow_a_comment_only(self):
        self.write_room("rules", a_h="// what this is\n\n" + HEADER)
        self.assert_fine()
        self.write_room("rules", a_h="#include <map>\n" + HEADER)
        self.assert_broken("pragma-once")

    def test_only_files_that_git_would_keep_are_looked_at(self):
        self.write_room("util", a_h="")
        self.write(".gitignore", "util/\n")
        subprocess.run(["git", "init", "--quiet", "."], cwd=self.root, check=True)
        self.assert_fine()


class Headers(SmallTree):
    def findings(self):
        entry = f'{{"file": "{self.root}/penstock/rules/a.cc", "command": "g++ -std=c++20 -I{self.root} -o a.o -c a.cc"}}'
        self.write("build/compile_commands.json", f"[{entry}]")
        return tidy.findings(Tree(self.root), self.root / "build")

    def test_a_header_that_compiles_alone_is_fine(self):
        self.write_room("rules", a_cc="", a_h=HEADER + "#include <string>\nstd::string name(int);\n")
        self.assertEqual([], self.findings())

    def test_a_header_that_needs_another_first_is_found(self):
        self.write_room("rules", a_cc="", a_h=HEADER + "std::string name(int);\n")
        (finding,) = self.findings()
        self.assertEqual(("penstock/rules/a.h", "header-alone"), (finding.path, finding.rule))

    def test_the_key_of_a_cached_check_tells_its_parts_apart(self):
        self.assertNotEqual(key_of("a", "bc"), key_of("ab", "c"))


class CommandLine(unittest.TestCase):
    def test_every_rule_of_a_finding_is_listed(self):
        done = subprocess.run([TOOLS / "tidy.py", "--list-rules"], capture_output=True, text=True, check=True)
        listed = {line.split()[0] for line in done.stdout.splitlines()}
        self.assertLessEqual(set(Words.CASES) | {"room-include", "file-size", "unbuilt", "header-alone"}, listed)

    def test_a_build_folder_that_is_none_is_wrong_use(self):
        command = [TOOLS / "tidy.py", "--build", "nosuch"]
        self.assertEqual(2, subprocess.run(command, capture_output=True, check=False).returncode)


if __name__ == "__main__":
    unittest.main()
