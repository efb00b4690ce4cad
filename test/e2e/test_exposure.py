"""What callers may do, and what an operator is told of it at the start."""

import json

import grpc

import rls
from case import Case
from processes import settings
from traffic import request

RULES = """
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {unit: day, requests_per_unit: 1}
    """
ENTRY = rls.text(1, rls.text(1, "api_key") + rls.text(2, "alice"))
NEGATIVE_HITS = rls.varint(4 << 3) + rls.varint(1)
WARNING = "may give hits back"


class Refunds(Case):
    def answers(self, limiter, *descriptors):
        """The code of each request in turn, by its name."""
        codes = []
        with grpc.insecure_channel(limiter.grpc_address) as channel:
            ask = channel.unary_unary(rls.SHOULD_RATE_LIMIT, response_deserializer=rls.decode)
            for descriptor in descriptors:
                try:
                    overall, _ = ask(rls.text(1, "edge") + rls.text(2, descriptor), timeout=5)
                    codes.append("OK" if overall == rls.OK else "OVER_LIMIT")
                except grpc.RpcError as error:
                    codes.append(error.code().name)
        return codes

    def test_hits_are_taken_back_unless_that_is_forbidden(self):
        hit, refund = ENTRY, ENTRY + NEGATIVE_HITS
        asked = (hit, refund, hit, hit)
        self.assertEqual(self.answers(self.penstock(RULES), *asked), ["OK", "OK", "OK", "OVER_LIMIT"])
        strict = self.penstock(RULES, name="strict", options=["--allow-negative-hits", "false"])
        self.assertEqual(self.answers(strict, *asked), ["OK", "INVALID_ARGUMENT", "OVER_LIMIT", "OVER_LIMIT"])

    def test_the_http_port_forbids_it_too(self):
        strict = self.penstock(RULES, options=["--allow-negative-hits", "false"])
        ask = {"domain": "edge", "descriptors": [{"entries": [{"key": "api_key", "value": "alice"}],
                                                  "isNegativeHits": True}]}
        reply = request(strict.http_port, "/json", method="POST", body=json.dumps(ask))
        self.assertEqual(reply.status, 400)
        self.assertIn("is_negative_hits", reply.headers["x-penstock-error"])


class Warnings(Case):
    def said(self, name, *options):
        folder = self.directory / "rules"
        folder.mkdir(exist_ok=True)
        (folder / "rules.yaml").write_text(RULES)
        limiter = self.program(name, settings.penstock, "serve", "--rules", folder, *options)
        limiter.wait_for("ready: grpc")
        limiter.kill()
        return limiter.log()

    def test_a_port_open_to_others_is_warned_of_where_callers_may_refund(self):
        inside, outside = "127.0.0.1:0", "0.0.0.0:0"
        self.assertRegex(self.said("both", "--grpc", outside, "--http", outside), rf"grpc 0\.0.*http 0\.0.*{WARNING}")
        self.assertRegex(self.said("http", "--grpc", inside, "--http", outside), rf": http 0\.0.*{WARNING}")
        self.assertNotIn(WARNING, self.said("inside", "--grpc", inside, "--http", inside))
        self.assertNotIn(WARNING, self.said("strict", "--grpc", outside, "--http", outside,
                                            "--allow-negative-hits", "false"))
