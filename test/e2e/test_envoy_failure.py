"""Penstock goes away while Envoy has traffic: by a crash, and by an orderly stop."""

import signal
import time

from case import Case
from envoy_config import by_header, http_proxy
from processes import wait_until
from traffic import Load

RULES = """
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {unit: day, requests_per_unit: 1000000}
      - key: api_key
        value: poor
        rate_limit: {unit: day, requests_per_unit: 5}
    """
POLICIES = [[by_header("x-api-key", "api_key")]]


class EnvoyFailure(Case):
    def crash_and_return(self, deny_on_failure):
        """Steady load while Penstock is killed and started again; the samples and when it was away."""
        limiter = self.penstock(RULES)
        edge = self.envoy(http_proxy(self.upstream().port, [limiter.grpc_port], POLICIES, timeout="0.5s",
                                     deny_on_failure=deny_on_failure))
        rich, poor = Load(edge.port, {"x-api-key": "rich"}), Load(edge.port, {"x-api-key": "poor"}, threads=1)

        def recent(load, condition, since):
            return [s for s in load.samples() if s.began > since and condition(s)]

        wait_until("answers under load", lambda: len(recent(rich, lambda s: s.limited_by, 0)) > 20)
        wait_until("refusals under load", lambda: recent(poor, lambda s: s.status == 429, 0))
        gone = time.monotonic()
        limiter.kill()
        wait_until("failures counted by Envoy", lambda: edge.rate_limit_stats()["error"] > 10)
        self.keep(limiter.restarted("penstock-again"))
        back = time.monotonic()
        wait_until("answers again", lambda: len(recent(rich, lambda s: s.limited_by, back)) > 20)
        wait_until("refusals again", lambda: recent(poor, lambda s: s.status == 429, back))
        recovered = time.monotonic()
        return rich.stop(), poor.stop(), gone, back, recovered, edge

    def test_a_crash_costs_no_request_when_envoy_fails_open(self):
        rich, poor, _, _, _, edge = self.crash_and_return(deny_on_failure=False)
        self.assertEqual({s.status for s in rich}, {200})
        self.assertEqual({s.status for s in poor}, {200, 429})
        stats = edge.rate_limit_stats()
        self.assertEqual(stats["error"], stats["failure_mode_allowed"])

    def test_a_crash_refuses_only_while_it_lasts_when_envoy_fails_closed(self):
        rich, poor, gone, back, recovered, edge = self.crash_and_return(deny_on_failure=True)
        self.assertEqual({s.status for s in rich}, {200, 500})
        self.assertEqual({s.status for s in poor}, {200, 429, 500})
        failed = [s for s in rich + poor if s.status == 500]
        self.assertEqual([s for s in failed if s.ended < gone], [], "failed before the crash")
        self.assertEqual([s for s in failed if s.began > recovered], [], "failed after the recovery")
        self.assertLess(max(s.began for s in failed) - back, 2.0, "seconds from ready to the last failure")
        away = [s for s in rich + poor if s.began > gone + 0.1 and s.ended < back - 0.1 and s.status != 500]
        self.assertEqual(away, [], "answered while no limiter was there")
        self.assertEqual(edge.rate_limit_stats()["failure_mode_allowed"], 0)

    def test_a_storm_of_timeouts_costs_no_connection(self):
        limiter = self.penstock(RULES)
        edge = self.envoy(http_proxy(self.upstream().port, [limiter.grpc_port], POLICIES, timeout="0.02s"))
        load = Load(edge.port, {"x-api-key": "rich"}, threads=8, per_second=800)
        wait_until("answers under load", lambda: sum(bool(s.limited_by) for s in load.samples()) > 50)
        for stall in range(1, 3):
            limiter.signal(signal.SIGSTOP)
            wait_until("timeouts", lambda n=200 * stall: edge.rate_limit_stats()["error"] > n, 20)
            limiter.signal(signal.SIGCONT)
            since = time.monotonic()
            wait_until("answers again",
                       lambda t=since: sum(s.began > t and bool(s.limited_by) for s in load.samples()) > 50)
        self.assertEqual({s.status for s in load.stop()}, {200})
        connections = edge.stats("cluster.penstock.upstream_cx_")
        self.assertEqual((connections["total"], connections["destroy"]), (1, 0))

    def test_an_orderly_stop_costs_nothing_when_another_penstock_is_there(self):
        leaving = self.penstock(RULES, "leaving", options=["--drain-seconds", "2"])
        staying = self.penstock(RULES, "staying")
        edge = self.envoy(http_proxy(self.upstream().port, [leaving.grpc_port, staying.grpc_port], POLICIES,
                                     deny_on_failure=True, health_checks=True))
        load = Load(edge.port, {"x-api-key": "rich"}, threads=4, per_second=200)

        def healthy():
            return edge.stats("cluster.penstock.").get("membership_healthy")

        wait_until("both instances are healthy", lambda: healthy() == 2)
        wait_until("answers under load", lambda: len(load.samples()) > 50)
        asked = time.monotonic()
        leaving.terminate()
        wait_until("Envoy sees that one is leaving", lambda: healthy() == 1)
        self.assertIsNone(leaving.exit_code(), "it serves on through the drain period")
        self.assertEqual(leaving.wait(seconds=15), 0)
        self.assertGreater(time.monotonic() - asked, 1.9)
        after = len(load.samples())
        wait_until("answers by the other", lambda: len(load.samples()) > after + 50)
        self.assertEqual({s.status for s in load.stop()}, {200})
        self.assertEqual(edge.rate_limit_stats()["error"], 0)
