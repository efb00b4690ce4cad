#!/usr/bin/env python3
"""golden/replay.py with the counters of /stats: takes what that takes, and compares the counters of rules as well.

/stats has one figure a rule, under the rule's path. Recordings have the names that the original's exporters made of it,
so the figures are given those names here. Where names depend on what was asked (`value_to_metric`, `detailed_metric`,
keys with a star), the sums over all names are compared. Recordings with limits that come with a request are left out:
those have no figure."""

import json
import pathlib
import re
import sys

TEST = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TEST / "golden"))
# pylint: disable=wrong-import-position,import-error
import common  # noqa: E402
import replay  # noqa: E402

LOCAL = "over_limit_with_local_cache"  # only in front of a Redis
MEASURES = ("total_hits", "over_limit", "near_limit", "within_limit", "shadow_mode", LOCAL)
SUMMED = {"unknown_domains": "domain_not_found", "global_shadow_mode": "global_shadow_mode"}
LEFT_OUT = "ratelimit_service_should_rate_limit_error"
PREFIX = "ratelimit.service.rate_limit."
DEBUG_PORT_AFTER_HTTP = 2  # as golden/launch.py deals out ports

_RULE = re.compile(r'penstock_rule_(\w+)\{rule="((?:[^"\\]|\\.)*)"\} (\d+)')
_LIMITER = re.compile(r"penstock_limiter_(\w+) (\d+)")
_IPV4 = re.compile(r"(\d+)\.(\d+)\.(\d+)\.(\d+)")
_NAMED_BY_REQUEST = re.compile(r"value_to_metric|detailed_metric|\bkey: *[\"']?[^\s\"'#]*\*")


def statsd_name(path, measure):
    return PREFIX + _IPV4.sub(r"\1_\2_\3_\4", re.sub("[:|]", "_", path)) + "." + measure


def prometheus_name(path, measure):
    """By the original's embedded mapping, which has labels for two levels, and none for local refusals."""
    name = statsd_name(path, measure)
    parts = name.removeprefix(PREFIX).removesuffix("." + measure).split(".")
    if len(parts) < 2 or measure == LOCAL:
        return re.sub("[^a-zA-Z0-9_:]", "_", name)
    labels = zip(("domain", "key1", "key2"), (part.replace("\\", r"\\").replace('"', r"\"") for part in parts))
    text = ",".join(f'{label}="{value}"' for label, value in labels)
    return f"ratelimit_service_rate_limit_{measure}{{{text}}}"


class StatsPage:
    """Counter increments since begin(), under the names that recordings have."""

    def __init__(self, server, name_of):
        self.page, self.name_of = common.Server(f"http://{server.host}:{server.port + DEBUG_PORT_AFTER_HTTP}"), name_of
        self.base = {}

    def _read(self):
        status, text = self.page.call("GET", "/stats")
        if status != 200:
            raise RuntimeError(f"/stats answers {status}")
        found = {}
        for line in text.splitlines():
            name = None
            if rule := _RULE.fullmatch(line):
                name = self.name_of(re.sub(r"\\(.)", r"\1", rule[2]), rule[1])
            elif (limiter := _LIMITER.fullmatch(line)) and limiter[1] in SUMMED:
                name = limiter[1]
            if name:
                found[name] = found.get(name, 0) + int(line.rpartition(" ")[2])
        return found

    def begin(self):
        self.base = self._read()

    def end(self):
        return {name: value - self.base.get(name, 0) for name, value in self._read().items()}


class PrometheusCounters(StatsPage):
    def __init__(self, _, server):
        super().__init__(server, prometheus_name)


class StatsdCounters(StatsPage):
    def __init__(self, _, server):
        super().__init__(server, statsd_name)

    def close(self):
        """Nothing is held open."""


def comparable(counters, by_measure, with_local):
    """What both sides know of the counters."""
    found = {}
    for name, value in counters.items():
        measure = max((each for each in MEASURES if each in name), key=len, default="")
        if name.startswith(LEFT_OUT) or (measure == LOCAL and not with_local):
            continue
        name = next((ours for ours, theirs in SUMMED.items() if name.endswith(theirs)), name)
        name = measure if measure and by_measure and name not in SUMMED else name
        found[name] = found.get(name, 0) + value
    return found


def has_request_limits(recording):
    return any('"limit"' in (step["raw"] if "raw" in step else json.dumps(step["request"]))
               for step in recording["steps"])


def compare(recording, played, with_counters, original=replay.compare):
    if not with_counters or recording["counters"] is None or has_request_limits(recording):
        return original(recording, played, False)
    rules = "".join((TEST / path.removeprefix("shared/")).read_text(encoding="utf-8") for path in recording["config"])
    by_measure = _NAMED_BY_REQUEST.search(rules) is not None
    with_local = played["dump"] is not None
    sides = [{**each, "counters": comparable(each["counters"], by_measure, with_local)} for each in (recording, played)]
    return original(*sides, True)


if __name__ == "__main__":
    common.PrometheusCounters, common.StatsdCounters, replay.compare = PrometheusCounters, StatsdCounters, compare
    replay.main()
