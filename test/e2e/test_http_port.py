"""The HTTP port: /json and /healthcheck."""

import json

from case import Case, seconds_to_window_end
from processes import wait_until
from traffic import request

RULES = """
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {unit: day, requests_per_unit: 1}
    """
ASK = {"domain": "edge", "descriptors": [{"entries": [{"key": "api_key", "value": "alice"}]}]}


class HttpPort(Case):
    def test_json_says_whether_a_request_may_go_on(self):
        limiter = self.penstock(RULES)
        left = seconds_to_window_end(86400)
        replies = [request(limiter.http_port, "/json", method="POST", body=json.dumps(ASK)) for _ in range(2)]
        self.assertEqual([r.status for r in replies], [200, 429])
        self.assertEqual([r.headers["content-type"] for r in replies], ["application/json"] * 2)
        passed, refused = (json.loads(r.body) for r in replies)
        self.assertEqual((passed["overallCode"], refused["overallCode"]), ("OK", "OVER_LIMIT"))
        status = passed["statuses"][0]
        self.assertEqual(status["currentLimit"], {"requestsPerUnit": 1, "unit": "DAY"})
        self.assertAlmostEqual(int(status["durationUntilReset"].removesuffix("s")), left, delta=3)

    def test_json_takes_names_as_written_in_the_proto_too(self):
        limiter = self.penstock(RULES)
        for name in ("hitsAddend", "hits_addend"):
            ask = {**ASK, name: 2}
            reply = request(limiter.http_port, "/json", method="POST", body=json.dumps(ask))
            self.assertEqual(reply.status, 429, name)

    def test_json_refuses_what_it_cannot_read(self):
        limiter = self.penstock(RULES)
        for body in ("", "{", "[]", json.dumps({**ASK, "domian": "x"}), json.dumps(ASK) + "x"):
            with self.subTest(body=body):
                self.assertEqual(request(limiter.http_port, "/json", method="POST", body=body).status, 400)

    def test_other_paths_are_not_found(self):
        limiter = self.penstock(RULES)
        for path in ("/", "/json/", "/healthcheck/", "/nothing"):
            self.assertEqual(request(limiter.http_port, path).status, 404, path)

    def test_the_health_check_fails_while_it_drains(self):
        limiter = self.penstock(RULES, options=["--drain-seconds", "2"])
        healthy = request(limiter.http_port, "/healthcheck")
        self.assertEqual((healthy.status, healthy.body), (200, b"OK"))
        limiter.terminate()
        wait_until("a failing health check", lambda: request(limiter.http_port, "/healthcheck").status == 500, 1.5)
        self.assertEqual(request(limiter.http_port, "/json", method="POST", body=json.dumps(ASK)).status, 200)
        self.assertEqual(limiter.wait(seconds=15), 0)
