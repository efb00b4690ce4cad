"""An HTTP/2 client made of bytes, for what a well-behaved one never does: half a request, silence, no reading."""

import socket
import struct
import time

import rls
from processes import LOOPBACK

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
LARGEST_WINDOW, FIRST_WINDOW = 2**31 - 1, 65535
END_STREAM, END_HEADERS = 1, 4
REFUSED_STREAM = 7
CANCEL = 8
ENHANCE_YOUR_CALM = 11
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def request_headers(path=rls.SHOULD_RATE_LIMIT):
    """A header block of literals, so that no state is shared with others."""
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "penstock"),
              ("content-type", "application/grpc"), ("te", "trailers")]
    return b"".join(b"\0" + bytes([len(n)]) + n.encode() + bytes([len(v)]) + v.encode() for n, v in fields)


class Peer:
    """One connection. Everything that comes is kept in `seen` as (kind, flags, stream, payload)."""

    def __init__(self, port, settings=b""):
        self._socket = socket.create_connection((LOOPBACK, port), timeout=10)
        self._bytes = b""
        self.seen = []
        more = struct.pack(">I", LARGEST_WINDOW - FIRST_WINDOW)  # answers of a life are less than that
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings) + frame(WINDOW_UPDATE, 0, 0, more))

    def send(self, data):
        self._socket.sendall(data)

    def ask(self, stream, message):
        body = rls.framed(message)
        self.send(frame(HEADERS, END_HEADERS, stream, request_headers()) + frame(DATA, END_STREAM, stream, body))

    def wait_for(self, kind, stream, seconds=10.0):
        """The first frame of this kind on this stream; reads until it is there."""
        deadline = time.monotonic() + seconds
        while True:
            for found in self.seen:
                if found[0] == kind and found[2] == stream:
                    return found
            self._socket.settimeout(max(0.01, deadline - time.monotonic()))
            got = self._socket.recv(65536)
            if not got:
                raise AssertionError(f"closed before frame {kind} on stream {stream}")
            self._take(got)

    def poll(self):
        """Takes what has come into `seen`, without waiting; false once the other side has closed."""
        self._socket.setblocking(False)
        try:
            while got := self._socket.recv(65536):
                self._take(got)
            return False
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            self._socket.settimeout(10)

    def closed(self, seconds=10.0):
        """Whether the other side closes the connection; what it says before goes into `seen`."""
        self._socket.settimeout(seconds)
        try:
            while got := self._socket.recv(65536):
                self._take(got)
        except TimeoutError:
            return False
        except OSError:
            pass
        return True

    def end_sending(self):
        self._socket.shutdown(socket.SHUT_WR)

    def close(self, reset=False):
        if reset:  # a RST instead of a FIN
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def _take(self, got):
        self._bytes += got
        while len(self._bytes) >= 9:
            size = int.from_bytes(self._bytes[:3], "big")
            if len(self._bytes) < 9 + size:
                return
            stream = int.from_bytes(self._bytes[5:9], "big") & 0x7FFFFFFF
            self.seen.append((self._bytes[3], self._bytes[4], stream, self._bytes[9:9 + size]))
            self._bytes = self._bytes[9 + size:]
