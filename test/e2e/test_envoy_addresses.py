"""Limits by address: which of the texts in X-Forwarded-For is believed is Envoy's setting, and the examples show it."""

import random

from case import Case, seconds_to_window_end
from envoy_config import http_proxy, peer_address
from traffic import request

RULES = """
    domain: edge
    descriptors:
      - key: remote_address
        rate_limit: {unit: day, requests_per_unit: 5}
    """
FIVE_PASS = [200] * 5 + [429] * 5


class EnvoyAddresses(Case):
    def edge(self, trusted_hops):
        limiter = self.penstock(RULES)
        seconds_to_window_end(86400)
        return self.envoy(http_proxy(self.upstream().port, [limiter.grpc_port], [[peer_address()]],
                                     deny_on_failure=True, trusted_hops=trusted_hops))

    def statuses(self, edge, forwarded_for):
        return [request(edge.port, headers={"x-forwarded-for": forwarded_for()}).status for _ in range(10)]

    def test_a_caller_cannot_choose_its_address(self):
        chance = random.Random(1)
        self.assertEqual(self.statuses(self.edge(0), lambda: f"198.51.100.{chance.randrange(256)}"), FIVE_PASS)

    def test_behind_a_proxy_of_ours_only_what_that_one_wrote_counts(self):
        chance, edge = random.Random(2), self.edge(1)
        self.assertEqual(self.statuses(edge, lambda: f"198.51.100.{chance.randrange(256)}, 203.0.113.9"), FIVE_PASS)
        self.assertEqual(request(edge.port, headers={"x-forwarded-for": "203.0.113.10"}).status, 200)

    def test_a_header_that_is_no_address_is_no_way_out(self):
        texts = iter(["", ",", "nobody", "1.2.3", "::1::2", "256.1.1.1", "'; --", "a" * 4000, ",,,,", "127.0.0.1,"])
        self.assertEqual(self.statuses(self.edge(0), lambda: next(texts)), FIVE_PASS)
