#!/usr/bin/env python3
"""The bill of materials of a build: sound by the rules of CycloneDX 1.5, complete, and the same each time.

Run with --build, --binary and --release of a finished build; and the parts of sbom.py and hardening.py by themselves.
"""

import argparse
import json
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import hardening
import sbom

TYPES = {"application", "framework", "library", "container", "platform", "operating-system", "device", "device-driver",
         "firmware", "file", "machine-learning-model", "data"}
COMPONENT = {"type", "bom-ref", "name", "version", "purl", "licenses", "hashes", "properties"}  # those that we use
ROOT_FIELDS = {"bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"}
SERIAL = r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
PURL = r"pkg:deb/[a-z]+/[a-z0-9.%B+-]+@[A-Za-z0-9.%~_-]+\?arch=[a-z0-9]+&distro=[a-z]+-[\w.]+"
IN_IMAGE = {"libc6", "libgcc-s1", "libstdc++6"}  # that a Debian image has, or gets with the others


def faults(bom):
    """What breaks the schema of CycloneDX 1.5, as far as our documents use it."""
    found = [f"unknown field {name}" for name in bom.keys() - ROOT_FIELDS]
    if bom.get("bomFormat") != "CycloneDX" or bom.get("specVersion") != "1.5":
        found.append("not CycloneDX 1.5")
    if not re.fullmatch(SERIAL, bom.get("serialNumber", "")):
        found.append("serialNumber")
    if not isinstance(bom.get("version"), int) or bom["version"] < 1:
        found.append("version")
    if "timestamp" in bom["metadata"] and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", bom["metadata"]["timestamp"]):
        found.append("timestamp")
    components = [bom["metadata"]["component"], *bom["components"]]
    for component in components:
        found += [f"{component.get('name')}: {fault}" for fault in component_faults(component)]
    refs = [component["bom-ref"] for component in components]
    if len(set(refs)) != len(refs):
        found.append("a bom-ref stands twice")
    nodes = [node["ref"] for node in bom["dependencies"]]
    if len(set(nodes)) != len(nodes):
        found.append("a dependency node stands twice")
    for node in bom["dependencies"]:
        unknown = {node["ref"], *node["dependsOn"]} - set(refs)
        if unknown or len(set(node["dependsOn"])) != len(node["dependsOn"]):
            found.append(f"dependencies of {node['ref']}: {unknown or 'one stands twice'}")
    return found


def component_faults(component):
    found = [f"unknown field {name}" for name in component.keys() - COMPONENT]
    if component.get("type") not in TYPES:
        found.append("type")
    if not component.get("name") or not component.get("bom-ref"):
        found.append("name or bom-ref is empty")
    for licence in component.get("licenses", []):
        if set(licence) != {"license"} or len(licence["license"]) != 1 or not licence["license"].keys() <= {"id", "name"}:
            found.append("licenses")
        if licence["license"].get("id", "MIT") not in sbom.SPDX.values():
            found.append("an id that is not of SPDX")
    for each in component.get("hashes", []):
        if each["alg"] != "SHA-256" or not re.fullmatch(r"[0-9a-f]{64}", each["content"]):
            found.append("hashes")
    if component["type"] == "library" and not re.fullmatch(PURL, component.get("purl", "")):
        found.append(f"purl {component.get('purl')}")
    if any(set(each) != {"name", "value"} for each in component.get("properties", [])):
        found.append("properties")
    return found


def value_of(component, name):
    return next((p["value"] for p in component["properties"] if p["name"] == f"penstock:{name}"), "")


class Bill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bom = sbom.document(chosen.binary.resolve(), chosen.build.resolve(), chosen.release)
        cls.by_name = {component["name"]: component for component in cls.bom["components"]}

    def packages(self, way):
        return {name for name, each in self.by_name.items() if way in value_of(each, "linked").split(", ")}

    def test_it_keeps_the_rules_of_its_format(self):
        self.assertEqual(faults(self.bom), [])

    def test_it_is_the_same_each_time(self):
        again = sbom.document(chosen.binary.resolve(), chosen.build.resolve(), chosen.release)
        self.assertEqual(sbom.text_of(self.bom), sbom.text_of(again))
        self.assertEqual(json.loads(sbom.text_of(self.bom)), self.bom)

    def test_it_says_which_build_it_is_of(self):
        ours = self.bom["metadata"]["component"]
        self.assertEqual((ours["name"], ours["version"]), ("penstock", chosen.release))
        self.assertEqual(ours["hashes"], [sbom.hash_of(chosen.binary)])

    def test_every_shared_object_that_is_loaded_belongs_to_a_component(self):
        listed = self.packages("shared") | self.packages("loaded")
        owners = sbom.packages_of(sbom.loaded(chosen.binary).values())
        self.assertLessEqual({(owner or path).partition(":")[0] for path, owner in owners.items()}, listed)
        self.assertLessEqual({"libssl3", "libc6", "libyaml-0-2"}, listed)

    def test_static_and_header_only_libraries_are_in_it(self):
        self.assertLessEqual({"libnghttp2-dev", "libprotobuf-dev"}, self.packages("static"))
        self.assertLessEqual({"libboost1.81-dev", "libcli11-dev"}, self.packages("headers"))

    def test_what_only_tests_or_the_build_use_is_not(self):
        for name in self.by_name:
            self.assertNotRegex(name, "gtest|gmock|benchmark|clang|cmake|mold|python")

    def test_every_component_is_a_package_with_its_licence_or_where_to_read_it(self):
        for name, component in self.by_name.items():
            self.assertEqual(component["type"], "library", f"{name} belongs to no package")
            self.assertTrue(component.get("licenses") or value_of(component, "licence-text"), name)

    def test_the_image_installs_every_shared_library(self):
        last_stage = (sbom.ROOT / "packaging/Dockerfile").read_text(encoding="utf-8").rpartition("\nFROM ")[2]
        wanted = self.packages("shared") - IN_IMAGE
        self.assertEqual({name for name in wanted if not re.search(rf"\b{re.escape(name)}\b", last_stage)}, set())


class Parts(unittest.TestCase):
    def test_a_map_names_the_libraries_of_the_system_of_which_parts_are_in(self):
        mold = ("0x30c  32  4  /usr/lib/Scrt1.o:(.note.ABI-tag)\n0x74c0 18 16  /usr/lib/libnghttp2.a(nghttp2_pq.o):(.rodata)\n"
                "0x75 1 1  penstock/base/libpenstock_base.a(check.cc.o):(.text)\n")
        ld = ("/usr/lib/libnghttp2.a(nghttp2_pq.o)\n   /usr/lib/libnghttp2.a(nghttp2_session.o) (nghttp2_pq_init)\n"
              "LOAD /usr/lib/Scrt1.o\nLOAD /usr/lib/libunused.a\n")
        for text in (mold, ld):
            self.assertEqual(sbom.linked(text), ["/usr/lib/Scrt1.o", "/usr/lib/libnghttp2.a"])

    def test_a_licence_is_that_of_all_files_and_not_of_the_packaging(self):
        text = ("Format: x\n\nFiles: *\nCopyright: 1\nLicense: Expat\n\nFiles: debian/*\nLicense: GPL-2\n\n"
                "Files: m4/a.m4\nLicense: GPL-3+ with exception\n\nLicense: Expat\n text\n")
        self.assertEqual(sbom.licences_of(text), ("Expat", ["GPL-3+ with exception"]))
        self.assertIsNone(sbom.licences_of("This is the Debian prepackaged version of ...\n"))

    def test_a_bill_that_breaks_the_rules_is_noticed(self):
        self.assertTrue(component_faults({"type": "thing", "bom-ref": "a", "name": "a"}))
        self.assertTrue(component_faults({"type": "library", "bom-ref": "a", "name": "a", "purl": "pkg:deb/a"}))

    def test_a_binary_without_protections_is_noticed(self):
        headers = ("  Type:  EXEC (Executable file)\n"
                   "  LOAD           0x000000 0x0000000000400000 0x0000000000400000 0x000001 0x000001 RWE 0x1000\n"
                   "  GNU_STACK      0x000000 0x0000000000000000 0x0000000000000000 0x000000 0x000000 RWE 0x10\n")
        dynamic = " 0x1d (RUNPATH) Library runpath: [/opt]\n 0x16 (TEXTREL) 0x0\n"
        self.assertEqual(len(hardening.missing(headers, dynamic, "  1: 0 0 FUNC GLOBAL DEFAULT UND memcpy\n")), 9)

    def test_an_object_without_marks_is_noticed(self):
        notes = "File: lib.a(a.o)\n  x86 feature: IBT, SHSTK\n\nFile: lib.a(b.o)\n\nFile: lib.a(c.o)\n  x86 feature: IBT\n"
        self.assertEqual(hardening.unmarked(notes), ["lib.a(b.o)", "lib.a(c.o)"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--release", required=True)
    chosen, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
