"""Connections that come and go in every way that they do: most of them badly."""

import collections
import json
import random
import socket
import struct
import threading
import time

import http2_peer
import rls
from http2_peer import Peer, frame
from processes import LOOPBACK

KEPT = 60  # connections that are left open at a time, the oldest of which goes for the next
PAUSE = 0.002  # seconds from one visit to the next
JSON = json.dumps({"domain": "edge", "descriptors": [{"entries": [{"key": "api_key", "value": "visitor"}]}]}).encode()


class Visitors:
    """Visits both ports of `limiter` from a thread of its own, until `stop`."""

    def __init__(self, limiter, seed):
        self._limiter, self._random = limiter, random.Random(seed)
        self._kept = collections.deque()
        self._visits = collections.Counter()
        self._stopping = threading.Event()
        self._kinds = [self.polite, self.reset, self.silent, self.half_request, self.half_closed, self.deaf, self.storm,
                       self.garbage, self.http, self.http_half]
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stop(self):
        """How often each kind came; closes what is open."""
        self._stopping.set()
        self._thread.join(timeout=30)
        while self._kept:
            self._kept.popleft().close()
        return dict(self._visits)

    def _work(self):
        while not self._stopping.wait(PAUSE):
            kind = self._random.choice(self._kinds)
            try:
                kind()
                self._visits[kind.__name__] += 1
            except (OSError, AssertionError):  # it was thrown out, which is an answer too
                self._visits["thrown out"] += 1

    def _keep(self, connection):
        self._kept.append(connection)
        if len(self._kept) > KEPT:
            oldest = self._kept.popleft()
            oldest.close(**({"reset": self._random.random() < 0.5} if isinstance(oldest, Peer) else {}))

    def _message(self):
        return rls.encode("edge", [[("api_key", f"visitor-{self._random.getrandbits(40)}")]])

    def _peer(self):
        return Peer(self._limiter.grpc_port)

    def _http(self, data):
        connection = socket.create_connection((LOOPBACK, self._limiter.http_port), timeout=5)
        connection.sendall(data)
        return connection

    def polite(self):
        peer = self._peer()
        peer.ask(1, self._message())
        peer.wait_for(http2_peer.DATA, 1)
        peer.close()

    def reset(self):
        peer = self._peer()
        peer.ask(1, self._message())
        peer.close(reset=True)

    def silent(self):
        self._keep(self._peer())

    def half_request(self):
        peer = self._peer()
        peer.send(frame(http2_peer.HEADERS, http2_peer.END_HEADERS, 1, http2_peer.request_headers()))
        peer.send(frame(http2_peer.DATA, 0, 1, rls.framed(self._message())[:7]))
        self._keep(peer)

    def half_closed(self):
        peer = self._peer()
        peer.ask(1, self._message())
        peer.end_sending()
        self._keep(peer)

    def deaf(self):
        peer = self._peer()
        for stream in range(1, 200, 2):
            peer.ask(stream, self._message())
        self._keep(peer)

    def storm(self):
        """What a proxy does whose timeout passes: every request is given up at once."""
        peer = self._peer()
        for stream in range(1, 100, 2):
            peer.ask(stream, self._message())
            peer.send(frame(http2_peer.RST_STREAM, 0, stream, struct.pack(">I", http2_peer.CANCEL)))
        peer.ask(101, self._message())
        peer.wait_for(http2_peer.DATA, 101)
        peer.close()

    def garbage(self):
        peer = self._peer()
        peer.send(self._random.randbytes(300))
        self._keep(peer)

    def http(self):
        connection = self._http(b"POST /json HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"
                                % (len(JSON), JSON))
        while connection.recv(4096):
            pass
        connection.close()

    def http_half(self):
        connection = self._http(b"POST /json HTTP/1.1\r\nhost: x\r\n")
        time.sleep(PAUSE)
        connection.sendall(b"content-le")
        self._keep(connection)
