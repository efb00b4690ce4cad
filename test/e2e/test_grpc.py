"""The gRPC port, asked by clients that share no code with it: grpcurl, grpcio and curl."""

import json
import threading

import grpc

import rls
from case import Case, seconds_to_window_end
from processes import LOOPBACK, run, settings, wait_until

RULES = """
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {name: per-key, unit: day, requests_per_unit: 2}
    """
SERVICE = "envoy.service.ratelimit.v3.RateLimitService"


def as_is(data):
    return data


class Grpcurl(Case):
    def setUp(self):
        super().setUp()
        self.limiter = self.penstock(RULES)

    def grpcurl(self, *arguments):
        ended = run(settings.grpcurl, "-plaintext", "-max-time", "10", *arguments)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def test_reflection_lists_the_services(self):
        services = self.grpcurl(self.limiter.grpc_address, "list").split()
        self.assertIn(SERVICE, services)
        self.assertIn("grpc.health.v1.Health", services)
        self.assertEqual(self.grpcurl(self.limiter.grpc_address, "list", SERVICE).split(),
                         [f"{SERVICE}.ShouldRateLimit"])

    def test_reflection_describes_the_messages(self):
        described = self.grpcurl(self.limiter.grpc_address, "describe", SERVICE)
        self.assertIn("rpc ShouldRateLimit", described)
        self.assertIn(".envoy.service.ratelimit.v3.RateLimitRequest", described)
        request = self.grpcurl(self.limiter.grpc_address, "describe", "envoy.service.ratelimit.v3.RateLimitRequest")
        self.assertIn("string domain = 1;", request)

    def test_a_call_needs_no_proto_files(self):
        seconds_to_window_end(86400)
        ask = {"domain": "edge", "descriptors": [{"entries": [{"key": "api_key", "value": "alice"}]}]}
        answers = [json.loads(self.grpcurl("-d", json.dumps(ask), self.limiter.grpc_address,
                                           f"{SERVICE}/ShouldRateLimit")) for _ in range(3)]
        self.assertEqual([a["overallCode"] for a in answers], ["OK", "OK", "OVER_LIMIT"])
        self.assertEqual(answers[0]["statuses"][0]["currentLimit"],
                         {"requestsPerUnit": 2, "unit": "DAY", "name": "per-key"})
        self.assertEqual([a["statuses"][0].get("limitRemaining", 0) for a in answers], [1, 0, 0])

    def test_health_is_serving(self):
        for service in ("", "ratelimit"):
            answer = self.grpcurl("-d", json.dumps({"service": service}), self.limiter.grpc_address,
                                  "grpc.health.v1.Health/Check")
            self.assertEqual(json.loads(answer), {"status": "SERVING"})


class GrpcClient(Case):
    def channel(self, limiter):
        channel = grpc.insecure_channel(limiter.grpc_address)
        self.addCleanup(channel.close)
        return channel

    def call(self, channel, path, message, seconds=10):
        return channel.unary_unary(path, as_is, as_is)(message, timeout=seconds)

    def fails_with(self, code, channel, path, message):
        with self.assertRaises(grpc.RpcError) as failure:
            self.call(channel, path, message)
        self.assertEqual(failure.exception.code(), code, failure.exception.details())
        self.assertNotEqual(failure.exception.details(), "")

    def test_each_descriptor_has_a_status(self):
        channel = self.channel(self.penstock(RULES))
        seconds_to_window_end(86400)
        ask = rls.encode("edge", [[("api_key", "alice")], [("unknown", "thing")], [("api_key", "bob")]], hits=2)
        code, statuses = rls.decode(self.call(channel, rls.SHOULD_RATE_LIMIT, ask))
        self.assertEqual(code, rls.OK)
        self.assertEqual([(s.code, s.limit, s.remaining) for s in statuses],
                         [(rls.OK, 2, 0), (rls.OK, 0, 0), (rls.OK, 2, 0)])
        code, statuses = rls.decode(self.call(channel, rls.SHOULD_RATE_LIMIT, ask))
        self.assertEqual(code, rls.OVER_LIMIT)
        self.assertEqual([s.code for s in statuses], [rls.OVER_LIMIT, rls.OK, rls.OVER_LIMIT])

    def test_many_callers_at_once_get_exactly_the_limit(self):
        limiter = self.penstock("""
            domain: edge
            descriptors:
              - key: api_key
                rate_limit: {unit: day, requests_per_unit: 500}
            """, options=["--threads", "2"])
        seconds_to_window_end(86400)
        ask, codes, lock = rls.encode("edge", [[("api_key", "alice")]]), [], threading.Lock()

        def caller():
            call = self.channel(limiter).unary_unary(rls.SHOULD_RATE_LIMIT, as_is, as_is)
            pending = [call.future(ask, timeout=20) for _ in range(150)]
            answered = [rls.decode(p.result())[0] for p in pending]
            with lock:
                codes.extend(answered)

        callers = [threading.Thread(target=caller) for _ in range(4)]
        for thread in callers:
            thread.start()
        for thread in callers:
            thread.join(timeout=30)
        self.assertEqual((codes.count(rls.OK), codes.count(rls.OVER_LIMIT)), (500, 100))

    def test_what_cannot_be_served_gets_its_own_status(self):
        channel = self.channel(self.penstock(RULES))
        good = rls.encode("edge", [[("api_key", "alice")]])
        cases = [
            ("an unknown method", grpc.StatusCode.UNIMPLEMENTED, f"/{SERVICE}/ShouldNot", good),
            ("an unknown service", grpc.StatusCode.UNIMPLEMENTED, "/some.Service/Method", good),
            ("bytes that are no message", grpc.StatusCode.INTERNAL, rls.SHOULD_RATE_LIMIT, b"\xff\xff\xff\xff"),
            ("more than 4 MiB", grpc.StatusCode.RESOURCE_EXHAUSTED, rls.SHOULD_RATE_LIMIT,
             rls.encode("edge", [[("api_key", "a" * 5_000_000)]])),
        ]
        for what, code, path, message in cases:
            with self.subTest(what):
                self.fails_with(code, channel, path, message)
        code, _ = rls.decode(self.call(channel, rls.SHOULD_RATE_LIMIT, good))
        self.assertEqual(code, rls.OK, "the connection lives on")

    def test_a_deadline_that_has_passed_is_an_error_that_was_charged(self):
        limiter = self.penstock(RULES)
        seconds_to_window_end(86400)
        body = self.directory / "body"
        body.write_bytes(rls.framed(rls.encode("edge", [[("api_key", "alice")]])))
        ended = run("curl", "-sS", "--http2-prior-knowledge", "-m", "10", "-D", "-", "-o", "/dev/null",
                    "-H", "content-type: application/grpc", "-H", "te: trailers", "-H", "grpc-timeout: 0n",
                    "--data-binary", f"@{body}", f"http://{limiter.grpc_address}{rls.SHOULD_RATE_LIMIT}")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("grpc-status: 4", ended.stdout)
        answer = self.call(self.channel(limiter), rls.SHOULD_RATE_LIMIT, rls.encode("edge", [[("api_key", "alice")]]))
        self.assertEqual(rls.decode(answer)[1][0].remaining, 0)

    def test_a_foreign_content_type_is_refused(self):
        limiter = self.penstock(RULES)
        ended = run("curl", "-sS", "--http2-prior-knowledge", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}",
                    "-H", "content-type: text/plain", "-d", "hello",
                    f"http://{limiter.grpc_address}{rls.SHOULD_RATE_LIMIT}")
        self.assertEqual((ended.returncode, ended.stdout), (0, "415"), ended.stderr)

    def test_health_turns_before_the_end(self):
        limiter = self.penstock(RULES, options=["--drain-seconds", "2"])
        channel, checking = self.channel(limiter), rls.health_request("ratelimit")
        self.assertEqual(rls.health_status(self.call(channel, rls.HEALTH_CHECK, checking)), rls.SERVING)
        self.fails_with(grpc.StatusCode.NOT_FOUND, channel, rls.HEALTH_CHECK, rls.health_request("no-such-service"))

        seen = []
        watch = channel.unary_stream(rls.HEALTH_WATCH, as_is, as_is)(checking, timeout=30)

        def watching():
            try:
                for message in watch:
                    seen.append(rls.health_status(message))
            except grpc.RpcError as end:
                seen.append(end.code())

        thread = threading.Thread(target=watching, daemon=True)
        thread.start()
        wait_until("the first state", lambda: seen == [rls.SERVING])
        limiter.terminate()
        wait_until("the watcher is told", lambda: seen[1:] == [rls.NOT_SERVING], 2.0)
        self.assertEqual(rls.health_status(self.call(channel, rls.HEALTH_CHECK, checking)), rls.NOT_SERVING)
        code, _ = rls.decode(self.call(channel, rls.SHOULD_RATE_LIMIT, rls.encode("edge", [[("api_key", "alice")]])))
        self.assertEqual(code, rls.OK, "requests are answered during the drain period")
        self.assertEqual(limiter.wait(seconds=15), 0)
        thread.join(timeout=10)
        self.assertEqual(seen[2:], [grpc.StatusCode.UNAVAILABLE])

    def test_no_answer_is_lost_when_it_stops_under_load(self):
        limiter = self.penstock(RULES, options=["--drain-seconds", "1"])
        call = self.channel(limiter).unary_unary(rls.SHOULD_RATE_LIMIT, as_is, as_is)
        ask, answered, failures = rls.encode("edge", [[("api_key", "alice")]]), [], []

        def caller():
            while not failures:
                try:
                    answered.append(rls.decode(call(ask, timeout=10))[0])
                except grpc.RpcError as failure:
                    failures.append((failure.code(), failure.details()))

        callers = [threading.Thread(target=caller, daemon=True) for _ in range(4)]
        for thread in callers:
            thread.start()
        wait_until("answers under load", lambda: len(answered) > 100)
        limiter.terminate()
        self.assertEqual(limiter.wait(seconds=15), 0)
        for thread in callers:
            thread.join(timeout=15)
        # Calls fail only because nobody listens any more, never because an answer on the way was dropped.
        for code, details in failures:
            self.assertEqual(code, grpc.StatusCode.UNAVAILABLE)
            self.assertRegex(details, r"(?i)failed to connect|refused")

    def test_a_full_port_is_told_apart_from_a_free_one(self):
        first = self.penstock(RULES)
        second = self.program("second", settings.penstock, "serve", "--rules", self.directory / "penstock-rules",
                              "--grpc", f"{LOOPBACK}:{first.grpc_port}", "--http", f"{LOOPBACK}:0")
        self.assertEqual(second.wait(), 3)
        self.assertIn(str(first.grpc_port), second.log())
