"""Faults that users of other limiters met: hot keys, floods of keys, huge keys, and entries in another order.

BR-103 (leases), BR-105 (Redis commands a hit) and BR-107 (sliding logs) do not apply yet: no shared store, no such limits.
"""

import collections
import json
import subprocess
import threading

import grpc

import rls
from case import Case, seconds_to_window_end
from processes import run, settings
from traffic import figures

DAY = 86400
RULES = """
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {unit: day, requests_per_unit: 5}
      - key: busy
        rate_limit: {unit: day, requests_per_unit: 1000000}
      - key: a
        descriptors:
          - key: b
            rate_limit: {unit: day, requests_per_unit: 2}
    """
LARGEST_VALUE = 65536
HOT_LIMIT = 30_000
HOT = f"""
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {{unit: day, requests_per_unit: {HOT_LIMIT}}}
    """


class Asking(Case):
    def caller(self, limiter):
        channel = grpc.insecure_channel(limiter.grpc_address)
        self.addCleanup(channel.close)
        return channel.unary_unary(rls.SHOULD_RATE_LIMIT, lambda data: data, lambda data: data)

    def codes(self, call, entries, count):
        ask = rls.encode("edge", [entries])
        return [rls.decode(call(ask, timeout=10))[0] for _ in range(count)]


class HotKey(Case):
    AT_LEAST, ROUNDS = 0.5, 4  # of the speed with many keys, in one of the rounds: what is measured is noisy

    def two_clients(self, limiter, *arguments):
        """The results of two at once, which two event loops serve."""
        command = [settings.grpc_go_client, "-address", limiter.grpc_address, "-calls", "20000", "-at-once", "100",
                   *arguments]
        clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        return [json.loads(client.communicate(timeout=60)[0]) for client in clients]

    def test_one_key_is_as_fast_as_many_and_exact(self):
        limiter = self.penstock(HOT, options=["--threads", "2"])
        seconds_to_window_end(DAY)
        shares = []
        while not shares or (shares[-1] < self.AT_LEAST and not settings.sanitized):
            self.assertLess(len(shares), self.ROUNDS, f"speed of one key as a share of that of many: {shares}")
            spread = self.two_clients(limiter, "-keys", "10000", "-key", f"some-{len(shares)}-")
            hot = self.two_clients(limiter, "-key", f"hot-{len(shares)}")
            self.assertEqual([r["failed"] for r in spread + hot], [{}] * 4)
            self.assertEqual((sum(r["ok"] for r in hot), sum(r["over"] for r in hot)), (HOT_LIMIT, 40_000 - HOT_LIMIT))
            shares.append(sum(r["per_second"] for r in hot) / sum(r["per_second"] for r in spread))


class FloodOfKeys(Asking):
    TABLE_KEYS, FLOOD, DESCRIPTORS, IN_FLIGHT = 1_000_000, 2_000_000, 500, 16
    BYTES_A_KEY = 37  # so the table is 37 MB, beside which what follows is little
    ELSEWHERE = 4 * 1024 * 1024  # the buffers of the connection that the flood comes on

    def test_who_is_over_stays_over_and_the_new_are_welcome_within_the_memory(self):
        limiter = self.penstock(RULES, options=["--table-keys", self.TABLE_KEYS])
        call = self.caller(limiter)
        seconds_to_window_end(DAY, needed=60)
        self.assertEqual(self.codes(call, [("api_key", "X")], 6), [rls.OK] * 5 + [rls.OVER_LIMIT])
        before = limiter.resident_bytes()
        self.flood(call)
        after = limiter.resident_bytes()
        self.assertEqual(self.codes(call, [("api_key", "X")], 1), [rls.OVER_LIMIT])
        for new in range(10):
            self.assertEqual(self.codes(call, [("api_key", f"new-{new}")], 1), [rls.OK])
        self.assertGreater(figures(limiter)["penstock_table_evicted"], self.FLOOD - 1.5 * self.TABLE_KEYS)
        if not settings.sanitized:
            self.assertLess(after - before, 1.2 * self.TABLE_KEYS * self.BYTES_A_KEY + self.ELSEWHERE)

    def flood(self, call):
        """Two million keys once each, without `rls.encode`, which would take a minute."""
        entry = rls.text(1, rls.text(1, "api_key") + rls.text(2, b"%012d" % 0))
        descriptor = rls.text(2, entry).replace(b"%012d" % 0, b"%012d")
        request = rls.text(1, "edge") + descriptor * self.DESCRIPTORS
        pending = collections.deque()
        for first in range(1, self.FLOOD, self.DESCRIPTORS):
            pending.append(call.future(request % tuple(range(first, first + self.DESCRIPTORS)), timeout=60))
            if len(pending) == self.IN_FLIGHT:
                pending.popleft().result()
        for answer in pending:
            answer.result()


class HugeKeys(Asking):
    GROWTH = 64 * 1024 * 1024
    TIMES_SLOWER, AND_US = 10, 10_000  # that others may be at p99: what is measured is noisy

    def setUp(self):
        super().setUp()
        self.limiter = self.penstock(RULES)
        self.call = self.caller(self.limiter)

    def test_large_values_are_counted_as_any_other(self):
        seconds_to_window_end(DAY)
        for size in (1024, LARGEST_VALUE):
            self.assertEqual(self.codes(self.call, [("api_key", "v" * size)], 6), [rls.OK] * 5 + [rls.OVER_LIMIT])

    def test_more_than_the_documented_most_is_refused_by_name(self):
        good = self.codes(self.call, [("api_key", "alice")] * 1000, 1)
        self.assertEqual(good, [rls.OK])
        cases = [(f"at most {LARGEST_VALUE}", [[("api_key", "v" * (LARGEST_VALUE + 1))]]),
                 (f"at most {LARGEST_VALUE}", [[("api_key", "v" * 1024 * 1024)]]),
                 ("1000 entries", [[("api_key", "alice")] * 1001]), ("10000", [[("api_key", "alice")]] * 10_001)]
        for most, descriptors in cases:
            with self.assertRaises(grpc.RpcError) as failure:
                self.call(rls.encode("edge", descriptors), timeout=10)
            self.assertEqual(failure.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
            self.assertIn(most, failure.exception.details())

    def others(self, seconds):
        return json.loads(run(settings.grpc_go_client, "-address", self.limiter.grpc_address, "-seconds", seconds,
                              "-keys", 1000).stdout)

    def test_callers_beside_them_notice_nothing_and_memory_is_bounded(self):
        alone, before, results = self.others(1), self.limiter.resident_bytes(), []
        other = threading.Thread(target=lambda: results.append(self.others(3)))
        other.start()
        sent, filling = 0, "v" * (LARGEST_VALUE - 100)
        while other.is_alive():  # 64 KiB each, all distinct, and 1,000 descriptors now and then
            pending = [self.call.future(rls.encode("edge", [[("api_key", f"{sent + i}-{filling}")]]), timeout=20)
                       for i in range(8)]
            pending.append(self.call.future(rls.encode("edge", [[("busy", f"{i}")] for i in range(1000)]), timeout=20))
            self.assertEqual({rls.decode(answer.result())[0] for answer in pending}, {rls.OK})
            sent += 8
        other.join()
        self.assertGreater(sent, 100)
        self.assertEqual(results[0]["failed"], {})
        if not settings.sanitized:
            self.assertLess(results[0]["p99_us"], self.TIMES_SLOWER * alone["p99_us"] + self.AND_US)
            self.assertLess(self.limiter.resident_bytes() - before, self.GROWTH)


class OrderOfEntries(Asking):
    def test_other_orders_repetitions_and_cases_have_no_limit_and_no_counter(self):
        limiter = self.penstock(RULES)
        call = self.caller(limiter)
        seconds_to_window_end(DAY)
        others = [[("b", "2"), ("a", "1")], [("a", "1"), ("a", "1"), ("b", "2")], [("a", "1"), ("b", "2"), ("b", "2")],
                  [("A", "1"), ("b", "2")], [("a", "1"), ("B", "2")], [("a", "1")], [("b", "2")]]
        for entries in others:
            answers = [rls.decode(call(rls.encode("edge", [entries]), timeout=10))[1] for _ in range(4)]
            self.assertEqual([(s.code, s.limit) for (s,) in answers], [(rls.OK, 0)] * 4, entries)
        self.assertEqual(figures(limiter)["penstock_table_inserted"], 0)
        self.assertEqual(self.codes(call, [("a", "1"), ("b", "2")], 3), [rls.OK, rls.OK, rls.OVER_LIMIT])
        self.assertEqual(self.codes(call, [("a", "1"), ("b", "two")], 1), [rls.OK])
        self.assertEqual(self.codes(call, [("a", "one"), ("b", "2")], 1), [rls.OK])
