"""The gRPC port before h2spec, which sends what RFC 7540 and RFC 7541 allow and forbid and watches the answers."""

import pathlib
import tomllib
import xml.etree.ElementTree

from case import Case
from processes import LOOPBACK, run, settings

RULES = """
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {unit: day, requests_per_unit: 2}
    """
EXCEPTIONS = tomllib.loads((pathlib.Path(__file__).parent / "h2spec_exceptions.toml").read_text())["exception"]
LEAST_CASES = 140  # all of `generic`, `http2` and `hpack`: fewer means that the run was cut short


def exceptions(way):
    return {case for exception in EXCEPTIONS for case in exception.get(way, [])}


class H2spec(Case):
    def test_every_case_is_met_that_is_not_a_listed_exception(self):
        limiter = self.penstock(RULES)
        report = self.directory / "report.xml"
        ended = run(settings.h2spec, "--strict", "--host", LOOPBACK, "--port", limiter.grpc_port, "--timeout", "1",
                    "--junit-report", report, seconds=120)
        self.assertTrue(report.exists(), ended.stdout + ended.stderr)
        cases = list(xml.etree.ElementTree.parse(report).getroot().iter("testcase"))
        names = {f"{case.get('package')}: {case.get('classname')}" for case in cases}
        failed = {f"{case.get('package')}: {case.get('classname')}" for case in cases
                  if case.find("failure") is not None or case.find("error") is not None}
        self.assertGreaterEqual(len(cases), LEAST_CASES)
        self.assertEqual(failed - exceptions("fails") - exceptions("may_fail"), set(), ended.stdout.partition("Failures:")[2])
        self.assertEqual(exceptions("fails") - failed, set(), "met by now: take it out of h2spec_exceptions.toml")
        self.assertEqual(exceptions("may_fail") - names, set(), "no case of h2spec")
        self.assertIsNone(limiter.exit_code())
