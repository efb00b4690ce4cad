"""What replies carry beyond the verdict, seen behind a real Envoy, and the settings that ask for it."""

import json

from case import Case, seconds_to_window_end
from envoy_config import by_header, http_proxy
from processes import Penstock, run, settings
from traffic import figures, request

DAY = 86400
RULES = """domain: edge
descriptors:
  - key: api_key
    rate_limit: {unit: day, requests_per_unit: 2}
    metadata: {tier: gold, penstock: {count_refused: false}}
"""


def ask_json(limiter, *keys, **more):
    body = {"domain": "edge", "descriptors": [{"entries": [{"key": "api_key", "value": key}], **more} for key in keys]}
    reply = request(limiter.http_port, "/json", method="POST", body=json.dumps(body))
    return reply.status, json.loads(reply.body) if reply.body.startswith(b"{") else reply.body


class Replies(Case):
    def limiter(self, *environment, options=()):
        return self.keep(Penstock(self.directory, "penstock", RULES, environment=environment, options=options))

    def test_envoy_hands_headers_to_the_user_and_to_the_service_behind_it(self):
        limiter = self.limiter("LIMIT_RESPONSE_HEADERS_ENABLED=true", "LIMIT_REQUEST_HEADERS_ENABLED=1",
                               "LIMIT_REQUEST_LIMIT_HEADER=x-limit", options=["--who-decided", "both"])
        backend = self.upstream()
        edge = self.envoy(http_proxy(backend.port, [limiter.grpc_port], [[by_header("x-api-key", "api_key")]],
                                     limit_headers=False))
        left = seconds_to_window_end(DAY)
        replies = [request(edge.port, headers={"x-api-key": "alice"}) for _ in range(3)]
        self.assertEqual([r.status for r in replies], [200, 200, 429])
        self.assertEqual([r.headers["ratelimit-remaining"] for r in replies], ["1", "0", "0"])
        self.assertEqual(replies[0].headers["ratelimit-limit"], "2")
        self.assertAlmostEqual(int(replies[0].headers["ratelimit-reset"]), left, delta=3)
        said = '"edge.api_key";limit="2 per day, fixed_window";remaining={}'
        self.assertEqual([r.headers["x-penstock-limit"] for r in replies],
                         [said.format(1), said.format(0), said.format(0) + ";over"])

    def test_dynamic_metadata_holds_the_request_and_the_rules_metadata(self):
        limiter = self.limiter("RESPONSE_DYNAMIC_METADATA=true", options=["--who-decided", "metadata"])
        seconds_to_window_end(DAY)
        _, reply = ask_json(limiter, "alice", hitsAddend="2")
        self.assertEqual(reply["dynamicMetadata"], {
            "domain": "edge", "descriptors": [{"entries": ["api_key=alice"], "hitsAddend": 2}],
            "metadata": {"tier": "gold"},
            "penstock": {"rule": "edge.api_key", "limit": "2 per day, fixed_window", "remaining": 0, "over": False,
                         "descriptor": 0}})

    def test_flags_win_over_the_environment(self):
        limiter = self.limiter("SHADOW_MODE=true", "QUOTA_MODE=t", options=["--shadow-mode", "false"])
        seconds_to_window_end(DAY)
        self.assertEqual([ask_json(limiter, "a")[0] for _ in range(3)], [200, 200, 429])
        self.assertEqual(ask_json(limiter, "a", "b")[0], 200, "quota mode: one of two is not over")

    def test_shadow_mode_for_all_rules_refuses_nothing_and_counts_what_it_would(self):
        limiter = self.limiter("SHADOW_MODE=true")
        self.assertIn("no request is refused", limiter.log())
        seconds_to_window_end(DAY)
        replies = [ask_json(limiter, "a") for _ in range(3)]
        self.assertEqual([status for status, _ in replies], [200] * 3)
        self.assertEqual(replies[2][1]["statuses"][0]["code"], "OVER_LIMIT")
        self.assertEqual(figures(limiter)["penstock_limiter_global_shadow_mode"], 1)

    def test_a_bad_variable_ends_the_start_with_its_name(self):
        ended = run("/usr/bin/env", "NEAR_LIMIT_RATIO=80%", "BACKEND_TYPE=memcache", settings.penstock, "serve", "--rules",
                    self.directory)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("NEAR_LIMIT_RATIO='80%' in the environment; accepted is a number from 0", ended.stderr)
        self.assertIn("BACKEND_TYPE='memcache'", ended.stderr)

    def test_a_start_without_rules_answers_every_request_with_an_error_that_says_so(self):
        limiter = self.keep(Penstock(self.directory, "penstock", "domain: [", options=["--start-without-rules", "true"]))
        self.assertIn("no rules, for the reasons above", limiter.log())
        reply = request(limiter.http_port, "/json", method="POST", body='{"domain":"edge","descriptors":[{}]}')
        self.assertEqual(reply.status, 400)
        self.assertIn("no rate limit configuration loaded", reply.headers["x-penstock-error"])
        self.assertEqual(request(limiter.debug_port, "/rlconfig").body, b"")
