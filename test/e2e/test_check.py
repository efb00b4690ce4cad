"""`penstock check` beyond reading files: manifests, JSON, what changes, loads; and `penstock test`."""

import json

from case import Case
from processes import run, settings

RULES = """domain: d
descriptors:
  - key: api_key
    rate_limit: {unit: second, requests_per_unit: 10, algorithm: gcra, burst: 20}
"""
MANIFEST = """apiVersion: v1
kind: ConfigMap
metadata: {name: rules}
data:
  readme.txt: hello
  config.yaml: |
    domain: d
    descriptors:
      - key: api_key
        rate_limit: {unit: dya, requests_per_unit: 10}
"""


def penstock(*arguments, environment=()):
    return run("/usr/bin/env", *environment, settings.penstock, *arguments)


class CheckMore(Case):
    def file(self, name, text):
        path = self.directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def test_rules_in_a_manifest_are_checked_with_places_in_the_manifest(self):
        manifest = self.file("manifest.yaml", MANIFEST)
        ended = penstock("check", manifest)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(f"{manifest}:10:28: error: unknown unit 'dya'; did you mean 'day'?", ended.stderr)
        self.assertIn("note: ", ended.stderr)
        self.file("manifest.yaml", MANIFEST.replace("dya", "day"))
        self.assertEqual(penstock("check", manifest).returncode, 0)

    def test_a_manifest_is_not_served_and_the_log_says_what_to_do(self):
        manifest = self.file("manifest.yaml", MANIFEST)
        ended = penstock("serve", "--rules", manifest)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("this is a Kubernetes manifest", ended.stderr)

    def test_everything_is_in_one_json_document(self):
        rules = self.file("rules.yaml", RULES)
        report = json.loads(penstock("check", "--format", "json", rules).stdout)
        self.assertTrue(report["ok"])
        limit = report["rules"][0]["limits"][0]
        self.assertEqual(report["rules"][0]["place"], {"file": str(rules), "line": 3, "column": 10})
        self.assertEqual((limit["worst_burst"], limit["window_seconds"], limit["bytes_per_key"]), (30, 1, 24))
        ended = penstock("check", "--format", "json", self.file("bad.yaml", "domain: d\nx: 1\n"))
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(json.loads(ended.stdout)["errors"][0]["line"], 2)

    def test_the_json_is_json_whatever_bytes_the_rules_hold(self):
        rules = self.file("rules.yaml", "domain: d\ndescriptors:\n  - {key: a, value: !!binary /w==, rate_limit: {unit: day, "
                                        "requests_per_unit: 1, name: !!binary /w==}}\n")
        report = json.loads(penstock("check", "--format", "json", rules).stdout)
        self.assertEqual(report["rules"][0]["path"], "d.a_\\xff")

    def test_a_difference_shouts_what_is_tenfold(self):
        before = self.file("before.yaml", RULES)
        after = self.file("after.yaml", RULES.replace("requests_per_unit: 10", "requests_per_unit: 100"))
        ended = penstock("check", "--diff", before, after)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stdout, r"!!! changed 'd.api_key': 10 per second.* -> 100 per second.*10 times the rate")
        self.assertEqual(penstock("check", "--diff", before, before).stdout, "nothing changes\n")
        changes = json.loads(penstock("check", "--format", "json", "--diff", before, after).stdout)["changes"]
        self.assertEqual((changes[0]["kind"], changes[0]["shout"]), ("changed", True))

    def test_a_load_is_drawn(self):
        rules = self.file("rules.yaml", RULES)
        ended = penstock("check", rules, "--try", "api_key=k1 100@25/s")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("59 of 100 admitted within 3.96s; first refused at 1.28s", ended.stdout)
        wrong = penstock("check", rules, "--try", "api_key=k1 100@x")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("'100@x' is neither an entry nor a load", wrong.stderr)

    def test_files_of_one_domain_are_merged_as_the_environment_says(self):
        self.file("rules/a.yaml", RULES)
        self.file("rules/b.yaml", RULES.replace("api_key", "other"))
        folder = self.directory / "rules"
        refused = penstock("check", folder)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("MERGE_DOMAIN_CONFIG", refused.stderr)
        self.assertEqual(penstock("check", folder, environment=["MERGE_DOMAIN_CONFIG=true"]).returncode, 0)
        wrong = penstock("check", folder, environment=["MERGE_DOMAIN_CONFIG=yes", "SHADOW_MODE="])
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("MERGE_DOMAIN_CONFIG='yes' in the environment; accepted is true or false", wrong.stderr)
        self.assertIn("SHADOW_MODE='' in the environment", wrong.stderr)

    def test_rules_that_limit_nothing_are_a_warning(self):
        self.assertIn("no rule limits anything", penstock("check", self.file("empty.yaml", "domain: d\n")).stderr)


TESTS = """rules: [rules.yaml]
tests:
  - name: a burst
    steps:
      - {domain: d, descriptors: [{api_key: k}], times: 21, expect: {ok: 20, over: 1}}
  - name: a wish
    steps:
      - {domain: d, descriptors: [{api_key: k}], times: 21, expect: OK}
"""


class RuleTests(Case):
    def file(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def test_a_failure_says_what_was_expected_what_came_and_why(self):
        rules, tests = self.file("rules.yaml", RULES), self.file("tests.yaml", TESTS)
        ended = penstock("test", tests)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual(ended.stdout, f"""ok    a burst (1 step)
FAIL  a wish
  {tests}:8:69: step 1 at 0s: code: expected OK, got OVER_LIMIT
      because rule 'd.api_key' ({rules}:3:10): 10 per second, gcra, burst 20; 0 left, passes in 0.1s, as good as fresh \
in 2s
1 passed, 1 failed
""")
        self.assertEqual(penstock("test", tests, "--run", "burst").returncode, 0)
        report = json.loads(penstock("test", tests, "--format", "json").stdout)
        self.assertEqual((report["passed"], report["failed"]), (1, 1))
        self.assertEqual(report["tests"][1]["differences"][0]["line"], 8)

    def test_mistakes_in_files_are_named_and_are_no_failures(self):
        self.file("rules.yaml", RULES)
        for text, message in ((TESTS.replace("expect: OK", "expct: OK"), "did you mean 'expect'?"),
                              (TESTS.replace("[rules.yaml]", "[none.yaml]"), "none.yaml"),
                              ("", "the file is empty"), (TESTS + "  - {name: x, steps: []}\n", "list that is not empty")):
            ended = penstock("test", self.file("tests.yaml", text))
            self.assertEqual(ended.returncode, 2, ended.stdout)
            self.assertIn(message, ended.stderr)
        self.file("tests.yaml", TESTS)
        none = penstock("test", self.directory / "tests.yaml", "--run", "nothing of this kind")
        self.assertEqual(none.returncode, 2)
        self.assertIn("no test was run", none.stderr)
