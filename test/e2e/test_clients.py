"""The clients that users have: grpc-go and grpc++, as their libraries come; grpcio and grpcurl are in test_grpc."""

import json
import threading

import grpc

import http2_peer
import rls
from case import Case, seconds_to_window_end
from http2_peer import Peer
from processes import run, settings

DAY = 86400
LIMIT = 5000
RULES = f"""
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {{unit: day, requests_per_unit: {LIMIT}}}
    """
ANNOUNCED_STREAMS = 4096


class GrpcGo(Case):
    def go(self, limiter, *arguments, seconds=60.0):
        ended = run(settings.grpc_go_client, "-address", limiter.grpc_address, *arguments, seconds=seconds)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return json.loads(ended.stdout)

    def test_many_calls_at_once_on_one_connection_get_exactly_the_limit(self):
        limiter = self.penstock(RULES)
        seconds_to_window_end(DAY)
        for at_once, key in ((1, "alice"), (300, "bob"), (2 * ANNOUNCED_STREAMS, "carol")):
            with self.subTest(at_once=at_once):
                result = self.go(limiter, "-key", key, "-calls", LIMIT + 4000, "-at-once", at_once)
                self.assertEqual((result["ok"], result["over"], result["failed"]), (LIMIT, 4000, {}))
                self.assertEqual(result["connections"], 1)

    def test_an_idle_connection_that_pings_lives_on(self):
        result = self.go(self.penstock(RULES), "-keepalive", 10)  # grpc-go pings no more often
        self.assertEqual((result["ok"], result["failed"], result["connections"]), (2, {}, 1))

    def test_a_restart_costs_a_client_that_waits_nothing(self):
        limiter = self.penstock(RULES, options=["--drain-seconds", "1"])
        results = []
        client = threading.Thread(target=lambda: results.append(
            self.go(limiter, "-seconds", 4, "-at-once", 20, "-keys", 100_000)))
        client.start()
        limiter.terminate()
        self.assertEqual(limiter.wait(seconds=15), 0)
        self.keep(limiter.restarted("penstock-again"))
        client.join(timeout=60)
        self.assertEqual(results[0]["failed"], {})
        self.assertEqual(results[0]["connections"], 2)
        self.assertGreater(results[0]["ok"], 1000)


class GrpcCpp(Case):
    def setUp(self):
        super().setUp()
        if not settings.grpc_cpp_client:
            self.skipTest("the client of grpc++ is not built: cmake --preset release && ninja -C build/release")

    def test_many_calls_at_once_and_pings_every_moment(self):
        limiter = self.penstock(RULES)
        seconds_to_window_end(DAY)
        for at_once, key in ((1, "alice"), (300, "bob"), (2 * ANNOUNCED_STREAMS, "carol")):
            with self.subTest(at_once=at_once):
                idle_milliseconds = 300
                ended = run(settings.grpc_cpp_client, limiter.grpc_address, key, LIMIT + 3999, at_once,
                            idle_milliseconds, seconds=60)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertEqual(json.loads(ended.stdout), {"ok": LIMIT, "over": 4000, "failed": {}})


class Grpcio(Case):
    def test_frames_of_any_size_both_ways(self):
        limiter = self.penstock(RULES)
        large = 16 * 1024 * 1024 - 1
        channel = grpc.insecure_channel(limiter.grpc_address, options=[
            ("grpc.http2.max_frame_size", large), ("grpc.max_receive_message_length", -1)])
        self.addCleanup(channel.close)
        call = channel.unary_unary(rls.SHOULD_RATE_LIMIT, lambda data: data, lambda data: data)
        descriptors = [[("api_key", f"{i}-{'v' * 180}")] for i in range(10_000)]
        code, statuses = rls.decode(call(rls.encode("edge", descriptors), timeout=20))
        self.assertEqual((code, len(statuses)), (rls.OK, len(descriptors)))
        self.assertEqual({s.remaining for s in statuses}, {LIMIT - 1})


class Streams(Case):
    def test_one_more_than_announced_is_refused_until_another_ends(self):
        limiter = self.penstock(RULES)
        peer = Peer(limiter.grpc_port)
        self.addCleanup(peer.close)
        ask = rls.encode("edge", [[("api_key", "alice")]])
        half = [1 + 2 * i for i in range(ANNOUNCED_STREAMS)]
        peer.send(b"".join(http2_peer.frame(http2_peer.HEADERS, http2_peer.END_HEADERS, stream,
                                            http2_peer.request_headers()) for stream in half))
        refused = half[-1] + 2
        peer.ask(refused, ask)
        code = peer.wait_for(http2_peer.RST_STREAM, refused)[3]
        self.assertEqual(int.from_bytes(code, "big"), http2_peer.REFUSED_STREAM)

        peer.send(http2_peer.frame(http2_peer.DATA, http2_peer.END_STREAM, half[0], rls.framed(ask)))
        peer.wait_for(http2_peer.DATA, half[0])
        peer.ask(refused + 2, ask)
        peer.wait_for(http2_peer.DATA, refused + 2)
