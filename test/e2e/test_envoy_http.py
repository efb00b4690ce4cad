"""Envoy's HTTP rate limit filter asks Penstock before each request goes to the upstream."""

import time

from case import Case, seconds_to_window_end
from envoy_config import by_header, constant, http_proxy
from traffic import request

HOUR, DAY = 3600, 86400


class EnvoyHttp(Case):
    def edge(self, rules, policies, **options):
        """Penstock, an upstream and an Envoy between them and the user."""
        self.limiter = self.penstock(rules)
        self.backend = self.upstream()
        return self.envoy(http_proxy(self.backend.port, [self.limiter.grpc_port], policies, **options))

    def test_requests_pass_until_the_limit_and_are_told_what_is_left(self):
        edge = self.edge("""
            domain: edge
            descriptors:
              - key: api_key
                rate_limit: {name: per-key, unit: hour, requests_per_unit: 3}
            """, [[by_header("x-api-key", "api_key")]])
        left = seconds_to_window_end(HOUR)
        for remaining in (2, 1, 0):
            reply = request(edge.port, headers={"x-api-key": "alice"})
            self.assertEqual(reply.status, 200)
            self.assertEqual(reply.headers["x-ratelimit-limit"], '3, 3;w=3600;name="per-key"')
            self.assertEqual(reply.headers["x-ratelimit-remaining"], str(remaining))
            self.assertAlmostEqual(int(reply.headers["x-ratelimit-reset"]), left, delta=3)
            self.assertNotIn("x-envoy-ratelimited", reply.headers)

        refused = request(edge.port, headers={"x-api-key": "alice"})
        self.assertEqual(refused.status, 429)
        self.assertEqual(refused.headers["x-envoy-ratelimited"], "true")
        self.assertEqual(refused.headers["x-ratelimit-limit"], '3, 3;w=3600;name="per-key"')
        self.assertEqual(refused.headers["x-ratelimit-remaining"], "0")
        self.assertAlmostEqual(int(refused.headers["x-ratelimit-reset"]), left, delta=3)
        self.assertAlmostEqual(int(refused.headers["retry-after"]), left, delta=3)

        self.assertEqual(request(edge.port, headers={"x-api-key": "bob"}).status, 200)
        self.assertEqual(self.backend.served(), 4)
        self.assertEqual(edge.rate_limit_stats(), {"ok": 4, "over_limit": 1, "error": 0, "failure_mode_allowed": 0})

    def test_a_shadow_rule_counts_but_lets_everything_pass(self):
        edge = self.edge("""
            domain: edge
            descriptors:
              - key: api_key
                shadow_mode: true
                rate_limit: {unit: day, requests_per_unit: 2}
            """, [[by_header("x-api-key", "api_key")]])
        seconds_to_window_end(DAY)
        replies = [request(edge.port, headers={"x-api-key": "alice"}) for _ in range(4)]
        self.assertEqual([r.status for r in replies], [200] * 4)
        self.assertEqual([r.headers["x-ratelimit-remaining"] for r in replies], ["1", "0", "0", "0"])
        self.assertEqual(edge.rate_limit_stats()["over_limit"], 0)

    def test_one_descriptor_over_its_limit_refuses_the_request(self):
        edge = self.edge("""
            domain: edge
            descriptors:
              - key: api_key
                rate_limit: {unit: day, requests_per_unit: 10}
              - key: route
                rate_limit: {unit: hour, requests_per_unit: 2}
            """, [[by_header("x-api-key", "api_key")], [by_header("x-route", "route")]])
        seconds_to_window_end(HOUR)

        def ask(key, route):
            return request(edge.port, headers={"x-api-key": key, "x-route": route})

        replies = [ask("alice", "orders") for _ in range(3)]
        self.assertEqual([r.status for r in replies], [200, 200, 429])
        for reply, remaining in zip(replies, ("1", "0", "0")):
            self.assertEqual(reply.headers["x-ratelimit-limit"], "2, 10;w=86400, 2;w=3600")
            self.assertEqual(reply.headers["x-ratelimit-remaining"], remaining)

        other = ask("alice", "payments")
        self.assertEqual(other.status, 200)
        self.assertEqual(other.headers["x-ratelimit-remaining"], "1")

    def test_the_most_specific_rule_decides(self):
        edge = self.edge("""
            domain: edge
            descriptors:
              - key: plan
                rate_limit: {unit: day, requests_per_unit: 1000}
              - key: plan
                value: gold
                rate_limit: {unit: day, requests_per_unit: 1001}
              - key: plan
                value: trial-*
                rate_limit: {unit: day, requests_per_unit: 1002}
              - key: plan
                value: internal
                rate_limit: {unlimited: true}
              - key: tenant
                descriptors:
                  - key: route
                    value: orders
                    rate_limit: {unit: day, requests_per_unit: 1003}
              - key: tenant
                value: acme
                rate_limit: {unit: day, requests_per_unit: 1004}
                descriptors:
                  - key: route
                    rate_limit: {unit: day, requests_per_unit: 1005}
            """, [[by_header("x-plan", "plan")],
                  [by_header("x-tenant", "tenant"), by_header("x-route", "route", optional=True)]])
        cases = [
            ("an exact value", {"x-plan": "gold"}, 1001),
            ("the default of a key", {"x-plan": "silver"}, 1000),
            ("a wildcard", {"x-plan": "trial-7"}, 1002),
            ("unlimited", {"x-plan": "internal"}, None),
            ("a nested rule below a default", {"x-tenant": "zeta", "x-route": "orders"}, 1003),
            ("a nested value without a rule", {"x-tenant": "zeta", "x-route": "carts"}, None),
            ("no limit at the last entry", {"x-tenant": "zeta"}, None),
            ("a limit at a node with children", {"x-tenant": "acme"}, 1004),
            ("a nested default below an exact value", {"x-tenant": "acme", "x-route": "orders"}, 1005),
            ("nothing that any rule names", {}, None),
        ]
        for what, headers, limit in cases:
            with self.subTest(what):
                reply = request(edge.port, headers=headers)
                self.assertEqual(reply.status, 200)
                expected = None if limit is None else f"{limit}, {limit};w=86400"
                self.assertEqual(reply.headers.get("x-ratelimit-limit"), expected)

    def test_values_of_a_wildcard_are_counted_apart(self):
        edge = self.edge("""
            domain: edge
            descriptors:
              - key: plan
                value: trial-*
                rate_limit: {unit: day, requests_per_unit: 1}
            """, [[by_header("x-plan", "plan")]])
        seconds_to_window_end(DAY)
        statuses = [request(edge.port, headers={"x-plan": p}).status for p in ("trial-1", "trial-2", "trial-1")]
        self.assertEqual(statuses, [200, 200, 429])

    def test_a_list_of_limits_answers_as_its_strictest(self):
        edge = self.edge("""
            domain: edge
            descriptors:
              - key: api_key
                rate_limits:
                  - {unit: hour, requests_per_unit: 5}
                  - {unit: day, requests_per_unit: 2}
            """, [[by_header("x-api-key", "api_key")]])
        seconds_to_window_end(HOUR)
        replies = [request(edge.port, headers={"x-api-key": "alice"}) for _ in range(3)]
        self.assertEqual([r.status for r in replies], [200, 200, 429])
        self.assertEqual([r.headers["x-ratelimit-limit"] for r in replies], ["2, 2;w=86400"] * 3)
        self.assertEqual([r.headers["x-ratelimit-remaining"] for r in replies], ["1", "0", "0"])

    def test_the_retry_after_of_a_steady_rate_is_true_to_the_second(self):
        edge = self.edge("""
            domain: edge
            descriptors:
              - key: client
                rate_limit: {unit: minute, requests_per_unit: 20, algorithm: gcra, burst: 3}
            """, [[constant("client", "one")]])
        burst = [request(edge.port) for _ in range(3)]
        self.assertEqual([r.status for r in burst], [200] * 3)
        self.assertEqual([r.headers["x-ratelimit-remaining"] for r in burst], ["2", "1", "0"])
        self.assertEqual([r.headers["x-ratelimit-limit"] for r in burst], ["20, 20;w=60"] * 3)
        # Fresh again after 3 s for each taken, less the moments since the first.
        self.assertEqual([r.headers["x-ratelimit-reset"] for r in burst], ["3", "6", "9"])

        asked = time.monotonic()
        refused = request(edge.port)
        answered = time.monotonic()
        self.assertEqual(refused.status, 429)
        retry_after = int(refused.headers["retry-after"])
        self.assertEqual(refused.headers["x-ratelimit-reset"], str(retry_after))
        self.assertEqual(retry_after, 3)

        time.sleep(max(0.0, asked + retry_after - 1 - 0.1 - time.monotonic()))
        early = request(edge.port)
        if time.monotonic() < asked + retry_after - 1:  # else this machine stood still, and the request came too late
            self.assertEqual(early.status, 429)
        time.sleep(max(0.0, answered + retry_after - time.monotonic()))
        self.assertEqual(request(edge.port).status, 200)
        self.assertEqual(request(edge.port).status, 429)
