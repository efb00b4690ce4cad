"""The command line, as a person meets it."""

import json
import re

from case import Case, seconds_to_window_end
from processes import run, settings

GOOD = """domain: edge
descriptors:
  - key: api_key
    rate_limit:
      unit: day
      requests_per_unit: 1
"""
BAD = """domain: edge
descriptors:
  - key: api_key
    rate_limit:
      unit: day
      request_per_unit: 1
  - key: path
    rate_limit:
      unit: dya
      requests_per_unit: 5
"""


def penstock(*arguments):
    return run(settings.penstock, *arguments)


class Check(Case):
    def file(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def test_good_rules_are_fine(self):
        ended = penstock("check", self.file("good.yaml", GOOD))
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_good_rules_are_told_in_words(self):
        rules = self.file("good.yaml", """domain: edge
descriptors:
  - key: api_key
    rate_limit: {unit: minute, unit_multiplier: 5, requests_per_unit: 600, algorithm: gcra, burst: 20}
  - key: tenant
    shadow_mode: true
    rate_limits:
      - {unit: second, requests_per_unit: 5, algorithm: sliding_log}
      - {unit: day, requests_per_unit: 1000}
""")
        ended = penstock("check", rules)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout, """'edge.api_key': 600 per 5 minutes, gcra, burst 20; at most 620 in any 5 minutes \
(burst 20 + 600); exact; 24 bytes a key
'edge.tenant': 5 per second, sliding_log, shadow_mode; at most 5 in any second (every hit is remembered); exact; \
48 bytes a key and 13.5 to 27 a remembered hit
'edge.tenant': 1000 per day, fixed_window, shadow_mode; at most 2000 in any day (2 x 1000 around a seam of windows); \
exact; 24 bytes a key
ok: 1 file, 1 domain, 2 rules
""")
        self.assertEqual(penstock("check", "--quiet", rules).stdout, "ok: 1 file, 1 domain, 2 rules\n")

    def test_all_mistakes_are_named_at_once_with_their_places(self):
        bad, good = self.file("bad.yaml", BAD), self.file("good.yaml", GOOD.replace("edge", "other"))
        ended = penstock("check", good, bad)
        said = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, 1, said)
        self.assertRegex(said, rf"{re.escape(str(bad))}:6:7: .*request_per_unit.*requests_per_unit")
        self.assertRegex(said, rf"{re.escape(str(bad))}:9:13: .*dya.*day")
        self.assertNotIn("good.yaml:", said)

    def test_text_that_is_no_yaml_has_a_place_too(self):
        bad = self.file("bad.yaml", "domain: edge\ndescriptors: [\n")
        ended = penstock("check", bad)
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stdout + ended.stderr, rf"{re.escape(str(bad))}:\d+:\d+: ")

    def test_a_folder_is_read_whole(self):
        self.file("a.yaml", GOOD)
        self.file("b.yaml", BAD.replace("edge", "other"))
        ended = penstock("check", self.directory)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("b.yaml:6:7", ended.stdout + ended.stderr)

    def test_a_file_that_is_not_there_is_named(self):
        ended = penstock("check", self.directory / "nothing.yaml")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("nothing.yaml", ended.stderr)

    def test_bad_rules_are_not_served(self):
        self.file("bad.yaml", BAD)
        ended = penstock("serve", "--rules", self.directory, "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("bad.yaml:6:7", ended.stderr)
        self.assertNotIn("ready:", ended.stderr)


class Ask(Case):
    def test_a_verdict_is_an_exit_code_and_a_text(self):
        limiter = self.penstock(GOOD)
        seconds_to_window_end(86400)
        ask = ("ask", "--server", limiter.grpc_address, "--domain", "edge", "--descriptor", "api_key=alice")
        passed, refused = penstock(*ask), penstock(*ask)
        self.assertEqual((passed.returncode, refused.returncode), (0, 1), passed.stderr + refused.stderr)
        self.assertRegex(passed.stdout, r"\bOK\b")
        self.assertRegex(refused.stdout, r"\bOVER_LIMIT\b")

    def test_what_is_left_and_how_long_to_wait_are_told_and_that_waiting_is_of_no_use(self):
        limiter = self.penstock("""domain: edge
descriptors:
  - key: api_key
    rate_limit: {name: keys, unit: hour, requests_per_unit: 6, algorithm: gcra, burst: 3}
""")
        ask = ("ask", "--server", limiter.grpc_address, "--domain", "edge", "--descriptor", "api_key=alice", "--hits")
        limit = "limit 'keys' of 6 per hour"
        told = [penstock(*ask, hits).stdout.splitlines()[1].strip() for hits in (4, 3, 1)]
        self.assertEqual(told, [
            f"descriptor 1: OVER_LIMIT, 3 left now, and no wait helps: 4 never pass at once; {limit}",
            f"descriptor 1: OK, 0 left now, all of it left in 1800 s; {limit}",
            f"descriptor 1: OVER_LIMIT, 0 left now, try again in 600 s; {limit}"])

    def test_json_is_the_answer_of_the_protocol(self):
        limiter = self.penstock(GOOD)
        ended = penstock("ask", "--server", limiter.grpc_address, "--domain", "edge", "--format", "json",
                         "--descriptor", "api_key=alice", "--descriptor", "other=thing,second=entry", "--hits", "2")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        answer = json.loads(ended.stdout)
        self.assertEqual(answer["overallCode"], "OVER_LIMIT")
        self.assertEqual([s["code"] for s in answer["statuses"]], ["OVER_LIMIT", "OK"])

    def test_no_answer_is_its_own_exit_code(self):
        limiter = self.penstock(GOOD)
        limiter.kill()
        ended = penstock("ask", "--server", limiter.grpc_address, "--domain", "edge", "--descriptor", "a=b",
                         "--timeout-ms", "500")
        self.assertEqual(ended.returncode, 3)
        self.assertIn(limiter.grpc_address, ended.stderr)

    def test_a_refusal_to_answer_is_told_with_its_status(self):
        limiter = self.penstock(GOOD)
        ended = penstock("ask", "--server", limiter.grpc_address, "--domain", "", "--descriptor", "a=b")
        self.assertEqual(ended.returncode, 3, ended.stdout)
        self.assertIn("domain", ended.stderr)


class Use(Case):
    COMMANDS = {
        "serve": ("--rules", "--grpc", "--http", "--threads", "--table-keys", "--table-bytes", "--drain-seconds",
                  "--log-format", "--log-level", "--allow-negative-hits", "--shadow-mode", "--quota-mode", "--spare-others",
                  "--response-headers", "--request-headers", "--dynamic-metadata", "--who-decided"),
        "check": ("--diff", "--try", "--domain", "--format", "--merge-domains", "--quiet"),
        "test": ("--run", "--format"),
        "ask": ("--server", "--domain", "--descriptor", "--hits", "--format", "--timeout-ms"),
        "version": (),
    }

    def test_wrong_use_is_exit_code_2_and_names_what_was_meant(self):
        cases = [
            (("serve", "--thread", "2", "--rules", "."), "--threads"),
            (("ask", "--servr", "127.0.0.1:1", "--domain", "d", "--descriptor", "a=b"), "--server"),
            (("chekc", "."), "check"),
        ]
        for arguments, meant in cases:
            with self.subTest(arguments=arguments):
                ended = penstock(*arguments)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertRegex(ended.stderr, rf"did you mean '?{meant}\b")

    def test_wrong_values_are_exit_code_2_and_named(self):
        cases = [
            (("check",), "PATH"),
            (("serve",), "--rules"),
            (("serve", "--rules", ".", "--threads", "many"), "many"),
            (("serve", "--rules", ".", "--grpc", "nonsense"), "nonsense"),
            (("serve", "--rules", ".", "--log-format", "xml"), "xml"),
            (("ask", "--domain", "d", "--descriptor", "=v"), "=v"),
            (("ask", "--domain", "d", "--descriptor", "a=b", "--format", "xml"), "xml"),
        ]
        for arguments, named in cases:
            with self.subTest(arguments=arguments):
                ended = penstock(*arguments)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(named.lower(), ended.stderr.lower())

    def test_help_lists_every_command_and_every_option_with_its_default(self):
        ended = penstock("--help")
        self.assertEqual(ended.returncode, 0)
        for command, options in self.COMMANDS.items():
            with self.subTest(command=command):
                self.assertRegex(ended.stdout, rf"(?m)^\s*{command}\b")
                help_text = penstock(command, "--help").stdout
                for option in options:
                    self.assertIn(option, help_text)
                for line in re.findall(r"(?m)^  --.*(?:\n {20,}.*)?", help_text):
                    self.assertRegex(line, r"REQUIRED|=\S|default off", "neither required nor with a default")
                    self.assertRegex(line, r"--[a-z-]+ [A-Z]+|default off", "neither a unit nor a flag")

    def test_the_version_is_told(self):
        ended = penstock("version")
        self.assertEqual(ended.returncode, 0)
        self.assertRegex(ended.stdout, r"penstock \d+\.\d+\.\d+")

    def test_logs_may_be_json_lines(self):
        limiter = self.penstock(GOOD, options=["--log-format", "json", "--drain-seconds", "0"])
        limiter.terminate()
        self.assertEqual(limiter.wait(), 0)
        lines = [json.loads(line) for line in limiter.log().splitlines()]
        self.assertTrue(any("ready: grpc 127.0.0.1:" in json.dumps(line) for line in lines), lines)
