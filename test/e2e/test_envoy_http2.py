"""Envoy's HTTP/2 towards Penstock at its edges: small windows, one stream, large messages, connections that end."""

import threading
import time

from case import Case, seconds_to_window_end
from envoy_config import by_header, constant, http_proxy
from traffic import request

DAY = 86400
LIMIT, THREADS, REQUESTS_A_THREAD = 200, 6, 50
RULES = f"""
    domain: edge
    descriptors:
      - key: api_key
        rate_limit: {{unit: day, requests_per_unit: {LIMIT}}}
    """
SMALLEST_WINDOW = 65535  # that Envoy takes


class EnvoyHttp2(Case):
    def statuses(self, edge, pause=0.0):
        """What several users get at once, each with one request after the other."""
        found, lock = [], threading.Lock()

        def user():
            for _ in range(REQUESTS_A_THREAD):
                status = request(edge.port, headers={"x-api-key": "alice"}).status
                time.sleep(pause)
                with lock:
                    found.append(status)

        users = [threading.Thread(target=user) for _ in range(THREADS)]
        for thread in users:
            thread.start()
        for thread in users:
            thread.join(timeout=60)
        return found

    def exact(self, least_connections, pause=0.0, **protocol):
        """Exactly the limit passes, no answer is lost, and Envoy really opened so many connections."""
        limiter = self.penstock(RULES)
        edge = self.envoy(http_proxy(self.upstream().port, [limiter.grpc_port], [[by_header("x-api-key", "api_key")]],
                                     deny_on_failure=True, **protocol))
        seconds_to_window_end(DAY)
        statuses = self.statuses(edge, pause)
        self.assertEqual((statuses.count(200), statuses.count(429)),
                         (LIMIT, THREADS * REQUESTS_A_THREAD - LIMIT), edge.rate_limit_stats())
        self.assertEqual(edge.rate_limit_stats()["error"], 0)
        self.assertGreaterEqual(edge.stats("cluster.penstock.")["upstream_cx_total"], least_connections)

    def test_the_smallest_windows(self):
        self.exact(1, http2={"initial_stream_window_size": SMALLEST_WINDOW,
                             "initial_connection_window_size": SMALLEST_WINDOW})

    def test_one_stream_at_a_time(self):
        self.exact(1, http2={"max_concurrent_streams": 1})

    def test_no_header_table(self):
        self.exact(1, http2={"hpack_table_size": 0})

    def test_a_connection_for_a_few_requests(self):
        self.exact(THREADS * REQUESTS_A_THREAD // 7, connections={"max_requests_per_connection": 7})

    def test_a_connection_for_a_moment(self):
        self.exact(3, pause=0.02, connections={"max_connection_duration": "0.2s"})

    def test_connections_that_envoy_pings(self):
        self.exact(1, pause=0.01, http2={"connection_keepalive": {"interval": "0.02s", "timeout": "1s"}})

    def test_messages_larger_than_frames_and_windows_both_ways(self):
        names = {f"k{i}": f"limit-{i}-{'n' * 240}" for i in range(300)}
        rules = "domain: edge\ndescriptors:\n" + "".join(
            f"  - key: {key}\n    rate_limit: {{name: {name}, unit: day, requests_per_unit: 3}}\n"
            for key, name in names.items())
        limiter = self.penstock(rules)
        edge = self.envoy(http_proxy(
            self.upstream().port, [limiter.grpc_port], [[constant(key, "v" * 4000)] for key in names],
            deny_on_failure=True, limit_headers=False, timeout="5s",
            http2={"initial_stream_window_size": SMALLEST_WINDOW, "initial_connection_window_size": SMALLEST_WINDOW}))
        seconds_to_window_end(DAY)
        self.assertEqual([request(edge.port).status for _ in range(5)], [200, 200, 200, 429, 429])
        stats = edge.stats("cluster.penstock.")
        self.assertGreater(stats["upstream_cx_tx_bytes_total"], 5 * 1_000_000)
        self.assertGreater(stats["upstream_cx_rx_bytes_total"], 5 * SMALLEST_WINDOW)
