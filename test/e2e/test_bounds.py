"""What slow, broken and hostile peers get: an end, in time, and a line in the statistics."""

import json
import socket
import struct
import time

import http2_peer
import rls
from case import Case
from http2_peer import (CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS,
                        WINDOW_UPDATE, frame, request_headers)
from processes import LOOPBACK, Penstock, run, settings, wait_until
from traffic import figures, request

RULES = """
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {unit: day, requests_per_unit: 1000000}
      - key: route
        value: slow
        quota_mode: true
        rate_limit: {unit: minute, requests_per_unit: 7}
      - key: free
        rate_limit: {unlimited: true}
    """
ASK = {"domain": "edge", "descriptors": [{"entries": [{"key": "api_key", "value": "a-secret"}]}]}


def drip(port, data, seconds=0.05):
    """Sends `data` byte by byte for as long as the other side listens; what it said, and how long that took."""
    began, said = time.monotonic(), b""
    with socket.create_connection((LOOPBACK, port), timeout=10) as connection:
        connection.setblocking(False)
        for byte in data:
            try:
                connection.send(bytes([byte]))
                said += connection.recv(65536)
                break
            except BlockingIOError:
                time.sleep(seconds)
        connection.settimeout(10)
        while got := connection.recv(65536):
            said += got
    return said, time.monotonic() - began


class HttpBounds(Case):
    def test_a_slow_loris_is_cut_with_408(self):
        limiter = self.penstock(RULES, options=["--request-seconds", "1"])
        header = b"POST /json HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 200
        body = b"POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n"
        with socket.create_connection((LOOPBACK, limiter.http_port), timeout=10) as connection:
            connection.sendall(body + b"{")  # the body never comes
            for data in (header, body + b" " * 200):
                said, seconds = drip(limiter.http_port, data)
                self.assertTrue(said.startswith(b"HTTP/1.1 408 Request Timeout\r\n"), said)
                self.assertIn(b"connection: close\r\n", said)
                self.assertLess(seconds, 4)
            self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 408 "))
        self.assertEqual(figures(limiter)["penstock_http1_late_requests"], 3)
        self.assertEqual(request(limiter.http_port, "/healthcheck").status, 200)

    def test_pipelined_requests_are_all_answered_in_order(self):
        limiter = self.penstock(RULES)
        body = json.dumps(ASK)
        ask = f"POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        rounds = 300
        last = "GET /healthcheck HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        with socket.create_connection((LOOPBACK, limiter.http_port), timeout=10) as connection:
            connection.sendall((ask * rounds + last).encode())
            said = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        left = [json.loads(part.split("\r\n\r\n")[1])["statuses"][0]["limitRemaining"]
                for part in said.split("HTTP/1.1 ")[1:-1]]
        self.assertEqual(left, list(range(999_999, 999_999 - rounds, -1)))
        self.assertTrue(said.endswith("\r\n\r\nOK"), said[-200:])

    def test_what_is_too_large_is_refused_and_the_service_goes_on(self):
        limiter = self.penstock(RULES)
        key = "k" * (64 * 1024 + 1)
        large = {"domain": "edge", "descriptors": [{"entries": [{"key": key}]}]}
        cases = ((b"POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 4194305\r\n\r\n", b"413 "),
                 (b"GET /json HTTP/1.1\r\nHost: x\r\nX-Large: " + b"a" * 20_000 + b"\r\n\r\n", b"431 "),
                 (b"GET /json HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 5_000 + b"\r\n", b"431 "),
                 (b"nonsense\r\n\r\n", b"400 "))
        for sent, status in cases:
            with socket.create_connection((LOOPBACK, limiter.http_port), timeout=10) as connection:
                connection.sendall(sent)
                self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 " + status), status)
        reply = request(limiter.http_port, "/json", method="POST", body=json.dumps(large))
        self.assertEqual(reply.status, 400)
        self.assertNotIn("kkk", reply.headers["x-penstock-error"])
        self.assertIn("at most 65536 are accepted", reply.headers["x-penstock-error"])
        counted = figures(limiter)
        self.assertEqual([counted[f"penstock_{name}"] for name in
                          ("http1_oversize_bodies", "http1_oversize_headers", "http1_malformed_requests",
                           "http_beyond_maxima")], [1, 2, 1, 1])

    def test_no_text_of_a_caller_becomes_a_header(self):
        limiter = self.penstock(RULES)
        odd = "x\r\nset-cookie: a=b\r\n\r\n<html>"
        for ask in ({"domain": odd, "descriptors": [{"entries": [{"key": "api_key", "value": odd}]}]},
                    {"domain": "edge", "descriptors": [{"entries": [{"key": "api_key", "value": odd}]}]},
                    {odd: 1}, {"domain": "edge", "descriptors": [{"limit": {"unit": odd}}]}):
            reply = request(limiter.http_port, "/json", method="POST", body=json.dumps(ask))
            self.assertLessEqual(set(reply.headers), {"content-type", "content-length", "x-content-type-options",
                                                      "x-penstock-error"})


class Http2Bounds(Case):
    def test_half_a_request_is_reset_and_the_connection_goes_on(self):
        limiter = self.penstock(RULES, options=["--request-seconds", "1"])
        peer = http2_peer.Peer(limiter.grpc_port)
        self.addCleanup(peer.close)
        peer.send(frame(HEADERS, END_HEADERS, 1, request_headers()) + frame(DATA, 0, 1, b"\0\0\0"))
        began = time.monotonic()
        self.assertEqual(peer.wait_for(RST_STREAM, 1)[3], struct.pack(">I", http2_peer.CANCEL))
        self.assertGreater(time.monotonic() - began, 0.7)
        time.sleep(1.5)  # an idle connection that was used is kept
        peer.ask(3, rls.encode("edge", [[("api_key", "a")]]))
        self.assertEqual(peer.wait_for(HEADERS, 3)[1] & END_HEADERS, END_HEADERS)

    def test_a_peer_that_is_no_http2_client_is_cut(self):
        limiter = self.penstock(RULES, options=["--request-seconds", "1"])
        with socket.create_connection((LOOPBACK, limiter.grpc_port), timeout=10) as silent:
            self.assertTrue(b"".join(iter(lambda: silent.recv(65536), b"")))
        self.assertEqual(figures(limiter)["penstock_http2_cut_for_preface"], 1)

    def test_a_storm_of_timeouts_never_costs_the_connection(self):
        limiter = self.penstock(RULES)
        peer = http2_peer.Peer(limiter.grpc_port)
        self.addCleanup(peer.close)
        message = rls.framed(rls.encode("edge", [[("api_key", "a")]]))
        headers, cancel = request_headers(), struct.pack(">I", http2_peer.CANCEL)
        count, stream = 20_000, 1
        while stream < 2 * count:  # what a proxy sends for a request whose time is up: all of it, then the reset
            peer.send(b"".join(frame(HEADERS, END_HEADERS, s, headers) + frame(DATA, END_STREAM, s, message) +
                               frame(RST_STREAM, 0, s, cancel) for s in range(stream, stream + 1000, 2)))
            stream += 1000
        peer.ask(stream, rls.encode("edge", [[("api_key", "a")]]))
        peer.wait_for(HEADERS, stream)
        self.assertFalse([seen for seen in peer.seen if seen[0] == GOAWAY])
        counted = figures(limiter)
        self.assertEqual(counted["penstock_limiter_checks"], count + 1, "each was charged")
        resets = counted["penstock_http2_resets_before_answer"] + counted["penstock_http2_resets_after_answer"]
        self.assertEqual(resets, count)

    def test_a_flood_is_cut_and_a_polite_connection_beside_it_is_served(self):
        limiter = self.penstock(RULES)
        headers, cancel = request_headers(), struct.pack(">I", http2_peer.CANCEL)
        begun = frame(HEADERS, END_HEADERS, 1, headers)
        floods = {  # what comes first, one piece of the flood on a new stream, the figures of which one counts it
            "aborted requests": (b"", lambda s: frame(HEADERS, END_HEADERS, s, headers) + frame(RST_STREAM, 0, s, cancel),
                                 ["aborts"]),
            "PING": (b"", lambda s: frame(PING, 0, 0, b"12345678"), ["idle_frames", "unread_acks"]),
            "answers to no PING": (b"", lambda s: frame(PING, 1, 0, b"12345678"), ["idle_frames"]),
            "SETTINGS": (b"", lambda s: frame(SETTINGS, 0, 0), ["idle_frames", "unread_acks"]),
            "CONTINUATION": (frame(HEADERS, END_STREAM, 1, headers), lambda s: frame(CONTINUATION, 0, 1),
                             ["continuations"]),
            "WINDOW_UPDATE": (begun, lambda s: frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 1)), ["idle_frames"]),
            "empty DATA": (begun, lambda s: frame(DATA, 0, 1), ["idle_frames"]),
        }
        polite = self.peer(limiter)
        asked = 0
        for name, (first, piece, counted_by) in floods.items():
            with self.subTest(name):
                def cut():
                    counted = figures(limiter)
                    return sum(counted[f"penstock_http2_cut_for_{each}"] for each in counted_by)
                before, beside, flooder = cut(), asked, self.peer(limiter)
                flooder.send(first)
                for begin in range(1, 400_000, 1000):
                    try:
                        flooder.send(b"".join(piece(s) for s in range(begin, begin + 1000, 2)))
                    except OSError:
                        break  # it was closed
                    asked = self.ask_politely(polite, asked)
                    if not flooder.poll():
                        break
                self.assertTrue(flooder.closed())
                self.assertEqual([seen[3][4:8] for seen in flooder.seen if seen[0] == GOAWAY],
                                 [struct.pack(">I", http2_peer.ENHANCE_YOUR_CALM)])
                self.assertEqual(cut() - before, 1)
                asked = self.ask_politely(polite, asked)
                self.assertGreater(asked - beside, 1)
        self.assertFalse([seen for seen in polite.seen if seen[0] in (GOAWAY, RST_STREAM)])

    def peer(self, limiter):
        peer = http2_peer.Peer(limiter.grpc_port)
        self.addCleanup(peer.close)
        return peer

    def ask_politely(self, peer, asked):
        """One request that is answered; how many there were then."""
        peer.ask(2 * asked + 1, rls.encode("edge", [[("api_key", "a")]]))
        self.assertEqual(peer.wait_for(HEADERS, 2 * asked + 1)[1] & END_HEADERS, END_HEADERS)
        return asked + 1

    def test_connections_of_one_address_are_limited_where_that_is_asked_for(self):
        limiter = self.penstock(RULES, options=["--max-connections-per-address", "2"])
        peers = [http2_peer.Peer(limiter.grpc_port) for _ in range(2)]
        for peer in peers:
            peer.ask(1, rls.encode("edge", [[("api_key", "a")]]))
            peer.wait_for(HEADERS, 1)
        with socket.create_connection((LOOPBACK, limiter.grpc_port), timeout=10) as third:
            self.assertEqual(third.recv(100), b"")
        peers[0].close()
        wait_until("room", lambda: figures(limiter)["penstock_connections_open"] == 1)
        self.assertEqual(request(limiter.http_port, "/healthcheck").status, 200)
        peers[1].close()

    def test_connections_that_do_not_fit_into_the_descriptors_are_warned_of(self):
        # `env` runs what stands behind the variables.
        limiter = self.keep(Penstock(self.directory, "penstock", RULES, environment=["prlimit", "--nofile=100:256"],
                                     options=["--max-connections-per-address", "1000"]))
        self.assertRegex(limiter.log(), r"10000 connections \(--max-connections\) do not fit into 256 file descriptors")
        most = int(limiter.wait_for(r"at most (\d+) are taken")[1])
        idle = [socket.create_connection((LOOPBACK, port), timeout=10)
                for port in (limiter.grpc_port, limiter.http_port) for _ in range(150)]

        def refused():
            return sum(figures(limiter)[f"penstock_connections_refused_for_{each}"] for each in ("count", "port"))
        wait_until("refusals", lambda: refused() == 300 - most)
        self.assertEqual(figures(limiter)["penstock_connections_most"], most)
        for connection in idle:
            connection.close()
        wait_until("room", lambda: figures(limiter)["penstock_connections_open"] == 0)
        self.assertEqual(figures(limiter)["penstock_accept_failures"], 0)


class Debug(Case):
    def test_the_pages(self):
        limiter = self.penstock(RULES, options=["--drain-seconds", "2"])
        request(limiter.http_port, "/json", method="POST", body=json.dumps(ASK))
        self.assertEqual(request(limiter.debug_port, "/rlconfig").body.decode(),
                         "edge.api_key: unit=DAY requests_per_unit=1000000, shadow_mode: false, quota_mode: false\n"
                         "edge.free: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, quota_mode: false\n"
                         "edge.route_slow: unit=MINUTE requests_per_unit=7, shadow_mode: false, quota_mode: true\n")
        for path, status in (("/", 200), ("/nothing", 404), ("/debug/pprof/", 404)):
            index = request(limiter.debug_port, path)
            self.assertEqual((index.status, index.headers["content-type"]), (status, "text/plain; charset=utf-8"))
            self.assertEqual([line.split(":")[0] for line in index.body.decode().splitlines()],
                             ["/healthz", "/rlconfig", "/stats"])
        stats = request(limiter.debug_port, "/stats").body.decode()
        self.assertNotIn("a-secret", stats)
        self.assertIn('penstock_rule_total_hits{rule="edge.api_key"} 1\n', stats)
        healthy = request(limiter.debug_port, "/healthz")
        self.assertEqual((healthy.status, healthy.body), (200, b"ok"))
        limiter.terminate()
        wait_until("a failing /healthz", lambda: request(limiter.debug_port, "/healthz").status == 503, 1.5)
        self.assertEqual(limiter.wait(seconds=15), 0)

    def test_a_web_page_cannot_read_them_by_a_name_of_its_own(self):
        limiter = self.penstock(RULES)
        for host, status in (("localhost", 200), (f"127.0.0.1:{limiter.debug_port}", 200), ("[::1]:6070", 200),
                             ("rebind.example", 403), (f"rebind.example:{limiter.debug_port}", 403)):
            for path in ("/", "/stats", "/rlconfig", "/healthz"):
                reply = request(limiter.debug_port, path, headers={"Host": host})
                self.assertEqual(reply.status, status, (host, path))
                self.assertEqual(b"neither localhost nor an IP address" in reply.body, status == 403)

    def test_a_word_for_no_debug_port_is_told_the_right_one(self):
        result = run(settings.penstock, "serve", "--rules", self.rules_folder(), "--debug", "off")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, "--debug: 'off' is not an address; .*; '' is for no debug port")

    def test_connections_beyond_its_most_are_closed_and_counted(self):
        limiter = self.penstock(RULES)
        idle = [socket.create_connection((LOOPBACK, limiter.debug_port), timeout=10) for _ in range(16)]
        with socket.create_connection((LOOPBACK, limiter.debug_port), timeout=10) as more:
            self.assertEqual(more.recv(1), b"")
        for connection in idle:
            connection.close()

        def refused():
            try:
                return figures(limiter)["penstock_debug_connections_refused"]
            except OSError:  # the places are not free yet
                return 0
        self.assertGreaterEqual(wait_until("a refusal that is counted", refused), 1)

    def test_a_debug_port_that_is_taken_is_done_without(self):
        first = self.penstock(RULES)
        second = self.program("second", settings.penstock, "serve", "--rules", self.directory / "penstock-rules",
                              "--grpc", f"{LOOPBACK}:0", "--http", f"{LOOPBACK}:0",
                              "--debug", f"{LOOPBACK}:{first.debug_port}")
        second.wait_for(rf"no debug port: cannot listen on 127\.0\.0\.1:{first.debug_port}")
        second.wait_for("ready: .*, debug off,")

    def test_no_debug_port_is_opened_where_none_is_wanted(self):
        limiter = self.program("quiet", settings.penstock, "serve", "--rules", self.rules_folder(),
                               "--grpc", f"{LOOPBACK}:0", "--http", f"{LOOPBACK}:0", "--debug", "")
        limiter.wait_for("ready: .*, debug off,")
        self.assertNotIn("no debug port", limiter.log())

    def rules_folder(self):
        folder = self.directory / "rules"
        folder.mkdir()
        (folder / "rules.yaml").write_text(RULES)
        return folder
