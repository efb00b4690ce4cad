"""Envoy's network rate limit filter asks Penstock once a connection."""

import socket

from case import Case, seconds_to_window_end
from envoy_config import tcp_proxy
from processes import LOOPBACK, wait_until


def talk(port):
    """What the upstream says on a new connection; empty when the connection is closed instead."""
    with socket.create_connection((LOOPBACK, port), timeout=5) as connection:
        try:
            connection.sendall(b"GET / HTTP/1.1\r\nhost: upstream\r\nconnection: close\r\n\r\n")
            return connection.recv(4096)
        except ConnectionError:
            return b""


class EnvoyNetwork(Case):
    def test_connections_above_the_limit_are_closed(self):
        limiter = self.penstock("""
            domain: edge
            descriptors:
              - key: listener
                value: tcp
                rate_limit: {unit: hour, requests_per_unit: 2}
            """)
        edge = self.envoy(tcp_proxy(self.upstream().port, [limiter.grpc_port], [[("listener", "tcp")]]))
        seconds_to_window_end(3600)
        answers = [talk(edge.port) for _ in range(4)]
        self.assertEqual([a.startswith(b"HTTP/1.1 200") for a in answers], [True, True, False, False])
        self.assertEqual(answers[2:], [b"", b""])

        def counted():
            stats = edge.stats("ratelimit.edge.")
            return stats if stats.get("cx_closed") == 2 else None

        stats = wait_until("two closed connections in the statistics of Envoy", counted)
        self.assertEqual({n: stats[n] for n in ("total", "ok", "over_limit", "error")},
                         {"total": 4, "ok": 2, "over_limit": 2, "error": 0})
