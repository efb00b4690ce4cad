"""The rate limit service's messages by hand, apart from the code under test: just enough protobuf for the tests."""

import dataclasses
import struct

SHOULD_RATE_LIMIT = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
HEALTH_WATCH = "/grpc.health.v1.Health/Watch"
SERVING, NOT_SERVING = 1, 2
OK, OVER_LIMIT = 1, 2


@dataclasses.dataclass
class Status:
    code: int
    limit: int  # requests per unit; 0 without a limit
    remaining: int
    reset_seconds: int


def encode(domain, descriptors, hits=0):
    """A RateLimitRequest; each descriptor is a list of (key, value)."""
    described = (text(2, b"".join(text(1, text(1, key) + text(2, value)) for key, value in descriptor))
                 for descriptor in descriptors)
    return b"".join([text(1, domain), *described, varint(3 << 3) + varint(hits) if hits else b""])


def decode(message):
    """The overall code of a RateLimitResponse and the status of each descriptor."""
    overall, statuses = 0, []
    for number, value in fields(message):
        if number == 1:
            overall = value
        elif number == 2:
            status = dict(fields(value))
            limit, reset = dict(fields(status.get(2, b""))), dict(fields(status.get(4, b"")))
            statuses.append(Status(status.get(1, 0), limit.get(1, 0), status.get(3, 0), reset.get(1, 0)))
    return overall, statuses


def health_request(service):
    return text(1, service)


def health_status(message):
    return dict(fields(message)).get(1, 0)


def framed(message):
    """The message with gRPC's prefix, for clients that know only HTTP/2."""
    return b"\0" + struct.pack(">I", len(message)) + message


def text(number, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(message):
    at = 0

    def read():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = read()
        if tag & 7 == 0:
            yield tag >> 3, read()
        elif tag & 7 == 2:
            size = read()
            yield tag >> 3, message[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {tag & 7} of field {tag >> 3} is not used by these messages")
