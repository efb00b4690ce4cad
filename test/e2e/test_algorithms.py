"""Every algorithm before an Envoy: what passes, what is refused, and whether the wait that Envoy tells is the true one."""

import time

from case import Case, seconds_to_window_end
from envoy_config import by_header, http_proxy
from traffic import request

HOUR = 3600


class Algorithms(Case):
    def edge(self, limit):
        """An Envoy before a Penstock with one rule: `limit` for each value of the header x-key."""
        limiter = self.penstock(f"domain: edge\ndescriptors:\n  - key: key\n    {limit}\n")
        backend = self.upstream()
        self._port = self.envoy(http_proxy(backend.port, [limiter.grpc_port], [[by_header("x-key", "key")]])).port

    def ask(self, key="one"):
        return request(self._port, headers={"x-key": key})

    def passes(self, remaining, key="one"):
        reply = self.ask(key)
        self.assertEqual((reply.status, reply.headers["x-ratelimit-remaining"]), (200, str(remaining)))
        return reply

    def is_refused(self, key="one"):
        reply = self.ask(key)
        self.assertEqual((reply.status, reply.headers["x-ratelimit-remaining"]), (429, "0"))
        self.assertEqual(reply.headers["x-ratelimit-reset"], reply.headers["retry-after"])
        return int(reply.headers["retry-after"])

    def waits_as_told(self, key="one", told=None):
        """Refused, told how long to wait, refused until a second before that, and let pass when the time has come."""
        asked = time.monotonic()
        wait = self.is_refused(key)
        answered = time.monotonic()
        if told is not None:
            self.assertEqual(wait, told)
        time.sleep(max(0.0, asked + wait - 1 - 0.1 - time.monotonic()))
        early = self.ask(key)
        if time.monotonic() < asked + wait - 1:  # else this machine stood still, and the request came too late
            self.assertEqual(early.status, 429)
        time.sleep(max(0.0, answered + wait - time.monotonic()))
        self.assertEqual(self.ask(key).status, 200)

    def test_fixed_window_of_several_units(self):
        self.edge("rate_limit: {unit: second, unit_multiplier: 4, requests_per_unit: 2}")
        left = seconds_to_window_end(4, needed=2)
        first = self.passes(1)
        self.assertEqual(first.headers["x-ratelimit-limit"], "2, 2;w=1", "the protocol has no word for the multiplier")
        self.assertAlmostEqual(int(first.headers["x-ratelimit-reset"]), left, delta=1.1)
        self.passes(0)
        self.waits_as_told()
        self.passes(0)

    def test_fixed_windows_with_an_offset_for_each_key(self):
        self.edge("rate_limits:\n"
                  "      - {unit: hour, requests_per_unit: 3, window_offset: per_key}\n"
                  "      - {unit: second, unit_multiplier: 3, requests_per_unit: 1, window_offset: per_key}")
        resets = [int(self.passes(0, key).headers["x-ratelimit-reset"]) for key in "abcdefgh"]
        self.assertTrue(all(1 <= reset <= 3 for reset in resets), resets)
        self.assertGreater(len(set(resets)), 1, "their windows do not end together")
        for key in ("new", "other"):
            self.passes(0, key)
            self.waits_as_told(key)

    def test_sliding_window(self):
        self.edge("rate_limit: {unit: second, unit_multiplier: 2, requests_per_unit: 2, algorithm: sliding_window}")
        seconds_to_window_end(2, needed=1.5)
        self.passes(1)
        self.passes(0)
        self.waits_as_told()  # until the former window counts for one, in the middle of the next
        self.assertEqual(self.ask().status, 429, "only one of the two has come free")

    def test_sliding_log(self):
        self.edge("rate_limit: {unit: second, unit_multiplier: 3, requests_per_unit: 3, algorithm: sliding_log}")
        began = time.monotonic()
        self.passes(2)
        time.sleep(max(0.0, began + 1.5 - time.monotonic()))
        self.passes(1)
        self.passes(0)
        self.waits_as_told(told=2)  # until the first is three seconds old
        self.assertEqual(self.ask().status, 429, "the other two still count")

    def test_token_bucket(self):
        self.edge("rate_limit: {unit: minute, requests_per_unit: 30, algorithm: token_bucket, burst: 3}")
        self.assertEqual(self.passes(2).headers["x-ratelimit-limit"], "30, 30;w=60")
        self.passes(1)
        self.assertEqual(self.passes(0).headers["x-ratelimit-reset"], "6", "when all three are there again")
        self.waits_as_told(told=2)
        self.assertEqual(self.ask().status, 429)

    def test_leaky_bucket_admits_an_envoy_that_cannot_wait_only_at_once(self):
        self.edge("rate_limit: {unit: minute, requests_per_unit: 30, algorithm: leaky_bucket, burst: 1, max_wait: 10s}")
        self.passes(0)
        self.waits_as_told(told=2)
        self.assertEqual(self.is_refused(), 2, "who was refused did not join the queue")

    def test_gcra_with_a_peak(self):
        self.edge("rate_limit: {unit: minute, requests_per_unit: 6, algorithm: gcra, burst: 3, "
                  "peak: {unit: second, requests_per_unit: 1, burst: 2}}")
        began = time.monotonic()
        self.passes(1)
        self.passes(0)
        self.waits_as_told(told=1)  # the peak's second
        wait = self.is_refused()  # now the three of the minute are spent: the next comes ten seconds after the first
        self.assertAlmostEqual(wait, began + 10 - time.monotonic(), delta=1.2)

    def test_gcra_that_counts_refused_requests_refuses_who_keeps_asking(self):
        self.edge("rate_limit: {unit: minute, requests_per_unit: 20, algorithm: gcra, burst: 2, count_refused: true}")
        self.passes(1)
        self.passes(0)
        for _ in range(6):  # for longer than the three seconds after which one would have come free
            time.sleep(0.7)
            wait = self.is_refused()
            self.assertEqual(wait, 3, "the wait begins anew")
        time.sleep(wait)
        self.assertEqual(self.ask().status, 200)

    def test_a_list_of_a_sliding_window_and_a_gcra(self):
        self.edge("rate_limits:\n"
                  "      - {unit: hour, requests_per_unit: 3, algorithm: sliding_window}\n"
                  "      - {unit: minute, requests_per_unit: 60, algorithm: gcra, burst: 1}")
        seconds_to_window_end(HOUR, needed=15)
        self.assertEqual(self.passes(0).headers["x-ratelimit-limit"], "60, 60;w=60", "the one with the least left")
        self.waits_as_told(told=1)
        self.waits_as_told(told=1)
        refused = self.ask()
        self.assertEqual(refused.status, 429)
        self.assertEqual(refused.headers["x-ratelimit-limit"], "3, 3;w=3600", "those that the gcra refused did not count")
        self.assertGreater(int(refused.headers["retry-after"]), 600)
