#!/usr/bin/env python3
"""Holds docs/rule-file.schema.json to what `penstock check` takes: the names of all fields, every file of the corpus and
of the examples, and mistakes that a schema can know."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = json.loads((ROOT / "docs/rule-file.schema.json").read_text(encoding="utf-8"))
PENSTOCK = None

# Where the two differ. A schema cannot see that names stand twice or refer to each other.
DIFFERENCES = {
    "test/corpus/edge_cases/d25-duplicate-by-underscore.yaml": "two descriptors with one joined text",
    "test/corpus/edge_cases/d49-share-threshold-no-wildcard.yaml": "share_threshold needs a star in key or value",
    "test/corpus/edge_cases/d50-replaces-self.yaml": "a limit that replaces itself",
    "test/corpus/envoyproxy__ratelimit/test__config__duplicate_key.yaml": "a descriptor twice",
    "test/corpus/envoyproxy__ratelimit/test__config__replaces_self.yaml": "a limit that replaces itself",
    "test/golden/configs/unordered.yaml": "loads with warnings: fields in places where they do nothing",
}


class TextLoader(yaml.SafeLoader):
    """Dates stay texts, as in rule files."""


TextLoader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def first_document(text):
    return next(yaml.load_all(text, TextLoader), None)


def loads(path):
    return subprocess.run([PENSTOCK, "check", "--quiet", path], capture_output=True, check=False).returncode == 0


def is_valid(document):
    return jsonschema.Draft7Validator(SCHEMA).is_valid(document)


def check_text(text):
    """What `penstock check` prints about a text."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return subprocess.run([PENSTOCK, "check", file.name], capture_output=True, text=True, check=False).stderr


class SchemaOfRuleFiles(unittest.TestCase):
    def test_is_a_schema(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_has_the_fields_that_check_accepts(self):
        descriptor = SCHEMA["definitions"]["descriptor"]["properties"]
        rate_limit = SCHEMA["definitions"]["rate_limit"]["properties"]
        places = {
            "x: 1": {name: 1 for name in SCHEMA["properties"] if name != "name"},
            "domain: d\ndescriptors: [{x: 1}]": descriptor,
            "domain: d\ndescriptors: [{key: k, rate_limit: {x: 1}}]": rate_limit,
            "domain: d\ndescriptors: [{key: k, rate_limit: {peak: {x: 1}}}]": rate_limit["peak"]["properties"],
            "domain: d\ndescriptors: [{key: k, rate_limit: {replaces: [{x: 1}]}}]":
                rate_limit["replaces"]["items"]["properties"],
            "domain: d\ndescriptors: [{key: k, rate_limits: [{x: 1}]}]":
                SCHEMA["definitions"]["limit_of_list"]["properties"],
            "domain: d\ndescriptors: [{key: k, metadata: {penstock: {x: 1}}}]":
                descriptor["metadata"]["properties"]["penstock"]["properties"],
        }
        for text, properties in places.items():
            accepted = re.search(r"unknown field 'x'.* accepted: (.*)", check_text(text))
            self.assertEqual(sorted(accepted[1].split(", ")), sorted(properties), text)

    def test_has_the_algorithms_and_units_that_check_accepts(self):
        limit = "domain: d\ndescriptors: [{{key: k, rate_limit: {{unit: {}, requests_per_unit: 1, algorithm: {}}}}}]"
        accepted = re.search(r"unknown algorithm .*accepted: (.*)", check_text(limit.format("day", "x")))
        properties = SCHEMA["definitions"]["rate_limit"]["properties"]
        self.assertEqual(accepted[1].split(", "), properties["algorithm"]["enum"])
        accepted = re.search(r"unknown unit .*accepted: (.*)", check_text(limit.format("x", "gcra")))
        self.assertEqual(accepted[1].split(", "), properties["unit"]["examples"])

    def test_says_of_every_known_file_what_check_says(self):
        files = sorted((ROOT / "test/corpus").rglob("*.yaml")) + sorted((ROOT / "test/golden/configs").glob("*.yaml"))
        files += sorted((ROOT / "examples/rules").glob("*.yaml"))
        self.assertGreater(len(files), 80)
        for path in files:
            name = str(path.relative_to(ROOT))
            try:
                valid = is_valid(first_document(path.read_bytes()))
            except yaml.YAMLError:
                valid = False
            self.assertEqual(valid != loads(path), name in DIFFERENCES, name)

    def test_refuses_mistakes(self):
        for limit in ("{unit: days, requests_per_unit: 1}", "{requests_per_unit: 1}", "{unit: day, requests_per_unit: -1}",
                      "{unit: day, requests_per_unit: 4294967296}", "{unit: day, requests_per_unit: '1'}",
                      "{unit: day, requests_per_unit: 1, algorithm: tokenbucket}", "{unit: day, burst: 0}",
                      "{unlimited: true, unit: day}", "{unlimited: true, algorithm: gcra}", "{unit: day, brst: 1}"):
            document = yaml.safe_load(f"{{domain: d, descriptors: [{{key: k, rate_limit: {limit}}}]}}")
            self.assertFalse(is_valid(document), limit)
        for text in ("{descriptors: []}", "{domain: d, descriptors: [{value: v}]}", "{domain: d, descriptors: {key: k}}",
                     "{domain: d, descriptors: [{key: k, rate_limits: []}]}", "[]", "{domain: d, x: 1}",
                     "{domain: d, descriptors: [{key: k, rate_limit: {unit: day}, rate_limits: [{unit: day}]}]}"):
            self.assertFalse(is_valid(yaml.safe_load(text)), text)

    def test_takes_units_in_any_case(self):
        for unit in ("day", "DAY", "Day", "wEEK"):
            text = f"{{domain: d, descriptors: [{{key: k, rate_limit: {{unit: {unit}, requests_per_unit: 1}}}}]}}"
            self.assertTrue(is_valid(yaml.safe_load(text)), unit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--penstock", required=True)
    options, rest = parser.parse_known_args()
    PENSTOCK = options.penstock
    unittest.main(argv=[sys.argv[0], *rest])
