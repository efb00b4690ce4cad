"""Faults of envoyproxy/ratelimit that recordings in test/golden are marked with: what is answered here instead."""

import json

from case import Case, seconds_to_window_end
from processes import Penstock
from traffic import request

DAY = 86400
RULES = """domain: d
descriptors:
  - {key: detailed, detailed_metric: true, rate_limit: {unit: day, requests_per_unit: 9}, metadata: {from: detailed}}
  - {key: named, value_to_metric: true, rate_limit: {unit: day, requests_per_unit: 9}, metadata: {from: named}}
  - {key: one, rate_limit: {unit: day, requests_per_unit: 9}, metadata: {top: {a: 1}}}
  - {key: two, rate_limit: {unit: day, requests_per_unit: 9}, metadata: {top: {b: 2}}}
  - {key: small, rate_limit: {unit: day, requests_per_unit: 1}}
  - {key: ten, rate_limit: {unit: day, requests_per_unit: 10}}
"""


def descriptor(key, **more):
    return {"entries": [{"key": key, "value": "v"}], **more}


class MendedDefects(Case):
    def start(self, *environment):
        self.limiter = self.keep(Penstock(self.directory, "penstock", RULES, environment=environment))
        seconds_to_window_end(DAY)

    def ask(self, *descriptors):
        reply = request(self.limiter.http_port, "/json", method="POST",
                        body=json.dumps({"domain": "d", "descriptors": list(descriptors)}))
        self.assertIn(reply.status, (200, 429), reply.headers)
        return json.loads(reply.body)

    def left(self, key):
        return self.ask(descriptor(key, hitsAddend="0"))["statuses"][0].get("limitRemaining", 0)

    def test_metadata_is_kept_where_statistics_have_other_names(self):
        self.start("RESPONSE_DYNAMIC_METADATA=true")
        for key in ("detailed", "named"):
            self.assertEqual(self.ask(descriptor(key))["dynamicMetadata"]["metadata"], {"from": key})

    def test_joining_metadata_leaves_that_of_each_rule_alone(self):
        self.start("RESPONSE_DYNAMIC_METADATA=true")
        both = self.ask(descriptor("one"), descriptor("two"))
        self.assertEqual(both["dynamicMetadata"]["metadata"], {"top": {"a": 1, "b": 2}})
        self.assertEqual(self.ask(descriptor("one"))["dynamicMetadata"]["metadata"], {"top": {"a": 1}})

    def test_huge_hits_are_refused_and_neither_subtract_nor_break_the_counter(self):
        self.start()
        for hits in (2**63 - 1, 2**63, 2**64 - 5, 2**64 - 1):
            self.assertEqual(self.ask(descriptor("ten", hitsAddend=str(hits)))["overallCode"], "OVER_LIMIT", hits)
            self.assertEqual(self.ask(descriptor("ten"))["overallCode"], "OVER_LIMIT", hits)

    def test_a_limit_without_a_known_unit_is_an_error_with_its_reason(self):
        self.start()
        for unit in (0, 8, 99, -1):
            body = {"domain": "d", "descriptors": [descriptor("one", limit={"requestsPerUnit": 3, "unit": unit})]}
            reply = request(self.limiter.http_port, "/json", method="POST", body=json.dumps(body))
            self.assertEqual(reply.status, 400)
            self.assertIn("unknown unit", reply.headers["x-penstock-error"])
        self.assertEqual(self.ask(descriptor("one"))["overallCode"], "OK")

    def test_hits_are_given_back_over_json(self):
        self.start()
        self.ask(descriptor("ten", hitsAddend="6"))
        self.ask(descriptor("ten", hitsAddend="2", isNegativeHits=True))
        self.assertEqual(self.left("ten"), 6)

    def test_a_larger_limit_in_a_request_is_judged_by_itself(self):
        self.start("LOCAL_CACHE_SIZE_IN_BYTES=1000000")
        for _ in range(3):
            self.ask(descriptor("small"))
        larger = self.ask(descriptor("small", limit={"requestsPerUnit": 100, "unit": "DAY"}))
        self.assertEqual((larger["overallCode"], larger["statuses"][0]["limitRemaining"]), ("OK", 96))

    def test_beside_a_limit_that_is_over_the_others_are_checked_all_the_same(self):
        self.start("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT=true", "LOCAL_CACHE_SIZE_IN_BYTES=1000000")
        self.ask(descriptor("small", hitsAddend="2"))
        self.ask(descriptor("ten", hitsAddend="9"))
        reply = self.ask(descriptor("small"), descriptor("ten", hitsAddend="12"))
        self.assertEqual([status["code"] for status in reply["statuses"]], ["OVER_LIMIT", "OVER_LIMIT"])
