#!/usr/bin/env python3
"""Writes the bill of materials of the `penstock` binary as CycloneDX 1.5 JSON, from what is really in it.

Shared objects come from the binary and the loader, static libraries from the linker's map, headers (templates and
header-only libraries end up in the binary too) from the dependencies that ninja recorded for the objects. Each file is
resolved to its Debian package; one that belongs to none is listed with its hash. The same build gives the same bytes:
the time is that of the commit, the serial number is made of the content.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse
import uuid
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMESPACE = uuid.UUID("6f2c7d0e-6a0b-5d0c-9a53-0c8a3f1b7e42")  # of our serial numbers; any constant will do
SPEC = "1.5"
BATCH = 1000  # paths a call of dpkg-query
SPDX = {"Expat": "MIT", "Apache-2.0": "Apache-2.0", "Apache-2": "Apache-2.0", "BSL-1.0": "BSL-1.0",
        "BSD-3-Clause": "BSD-3-Clause", "BSD-3-clause": "BSD-3-Clause", "BSD-2-clause": "BSD-2-Clause"}


def output_of(*command, accept=(0,)):
    ended = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if ended.returncode not in accept:
        sys.exit(f"sbom.py: '{' '.join(str(c) for c in command[:4])} ...' failed:\n{ended.stderr.strip()}")
    return ended.stdout


# What is in the binary.

def needed(elf):
    """The sonames that an ELF file asks for."""
    return re.findall(r"\(NEEDED\).*\[(\S+)\]", output_of("readelf", "-dW", elf))


def loaded(binary):
    """Path of every shared object that the loader finds for the binary, by soname; the loader itself is among them."""
    paths = {}
    for soname, found, bare in re.findall(r"^\s+(?:(\S+) => (/\S+)|(/\S+)) \(", output_of("ldd", binary), re.M):
        path = found or bare
        paths[soname or Path(path).name] = path
    return paths


def linked(map_text):
    """Libraries and start-up objects of the system whose parts stand in a map of mold, ld or lld."""
    return sorted(set(re.findall(r"(?<!\S)(/\S+?\.(?:a|o))(?=[(:])", map_text) + re.findall(r"^LOAD (/\S+\.o)$", map_text, re.M)))


def headers(build, target):
    """Headers that were read for the objects of a target."""
    objects = {line for line in output_of("ninja", "-C", build, "-t", "inputs", target).splitlines() if line.endswith(".o")}
    found = set()
    wanted = False
    for line in output_of("ninja", "-C", build, "-n", "-t", "deps").splitlines():  # -n: does not touch the log
        if line and not line.startswith(" "):
            wanted = line.partition(": #deps")[0] in objects
        elif wanted and line.strip().startswith("/"):
            found.add(os.path.normpath(line.strip()))
    return sorted(found)


# Whose it is.

def spellings(path):
    """A file as dpkg may know it: with links resolved, and below / as well as below /usr."""
    for each in dict.fromkeys((path, os.path.realpath(path))):
        yield each
        yield each.removeprefix("/usr") if each.startswith("/usr/lib") else "/usr" + each


def packages_of(paths):
    """The package of each path, as `name:architecture` or `name`; None for a path of none."""
    names = {name: path for path in paths for name in spellings(path)}
    found = {}
    listed = sorted(names)
    for start in range(0, len(listed), BATCH):
        for line in output_of("dpkg-query", "-S", *listed[start:start + BATCH], accept=(0, 1)).splitlines():
            owners, separator, path = line.rpartition(": ")
            if separator and path in names and not line.startswith("diversion by"):
                found.setdefault(names[path], owners.split(", ")[0])
    return {path: found.get(path) for path in paths}


def details_of(packages):
    """Version, architecture and source of each package."""
    layout = "${binary:Package}\t${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n"
    rows = [line.split("\t") for line in output_of("dpkg-query", "-W", "-f", layout, *sorted(packages)).splitlines()]
    fields = ("package", "version", "architecture", "source", "source_version")
    details = {row[0]: dict(zip(fields, row[1:])) for row in rows}
    return {package: details.get(package) or details[package.partition(":")[0]] for package in packages}


def licences_of(copyright_text):
    """The licence of the package as a whole, and the others that parts of it have; None where the text has no form."""
    if not copyright_text.startswith("Format:"):
        return None
    main, others = None, set()
    for paragraph in re.split(r"\n\s*\n", copyright_text):
        fields = dict(re.findall(r"^(Files|License):[ \t]*(.*)", paragraph, re.M))
        licence = fields.get("License", "").strip()
        if not licence or "Files" not in fields or fields["Files"].startswith("debian/"):
            continue
        if fields["Files"].strip() == "*" and main is None:
            main = licence
        else:
            others.add(licence)
    return main, sorted(others - {main})


# The document.

def properties(**named):
    return [{"name": f"penstock:{name.replace('_', '-')}", "value": value} for name, value in sorted(named.items()) if value]


def library(detail, ways, distribution):
    """The component of a Debian package; `ways` says how it came into the binary: shared, loaded, static, headers."""
    purl = (f"pkg:deb/{distribution[0]}/{urllib.parse.quote(detail['package'])}@{urllib.parse.quote(detail['version'], safe='')}"
            f"?arch={detail['architecture']}&distro={distribution[0]}-{distribution[1]}")
    file = Path("/usr/share/doc") / detail["package"] / "copyright"
    licences = licences_of(file.read_text(encoding="utf-8", errors="replace")) if file.is_file() else None
    component = {"type": "library", "bom-ref": purl, "name": detail["package"], "version": detail["version"], "purl": purl}
    if licences and licences[0]:
        key = {"id": SPDX[licences[0]]} if licences[0] in SPDX else {"name": licences[0]}
        component["licenses"] = [{"license": key}]
    component["properties"] = properties(
        linked=", ".join(sorted(ways)), source=detail["source"], source_version=detail["source_version"],
        licence_text="" if licences else str(file), licences_of_parts=", ".join(licences[1]) if licences else "")
    return component


def foreign(path, ways):
    """The component of a file that no package owns."""
    return {"type": "file", "bom-ref": f"file:{path}", "name": path, "hashes": [hash_of(path)],
            "properties": properties(linked=", ".join(sorted(ways)))}


def hash_of(path):
    return {"alg": "SHA-256", "content": hashlib.sha256(Path(path).read_bytes()).hexdigest()}


def distribution():
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', Path("/etc/os-release").read_text(encoding="utf-8"), re.M))
    return fields.get("ID", "linux"), fields.get("VERSION_ID", "unknown")


def git(*arguments):
    ended = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return ended.stdout.strip() if ended.returncode == 0 else ""


def application(binary, release):
    changed = "yes" if git("status", "--porcelain", "--untracked-files=no") else ""
    return {"type": "application", "bom-ref": "penstock", "name": "penstock", "version": release,
            "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": [hash_of(binary)],
            "properties": properties(commit=git("rev-parse", "HEAD"), changed_since_commit=changed)}


def ways_in(binary, build, target):
    """How each file from outside the project came into the binary; and the shared objects, by soname."""
    ways = defaultdict(set)
    shared = loaded(binary)
    direct = set(needed(binary))
    for soname, path in shared.items():
        ways[path].add("shared" if soname in direct else "loaded")
    for path in linked(Path(f"{binary}.map").read_text(encoding="utf-8", errors="replace")):
        ways[path].add("static")
    for path in headers(build, target):
        ways[path].add("headers")
    ours = (ROOT, build)
    return {path: way for path, way in ways.items() if not any(Path(path).is_relative_to(each) for each in ours)}, shared


def document(binary, build, release):
    ways, shared = ways_in(binary, build, os.path.relpath(binary, build))
    owners = packages_of(sorted(ways))
    details = details_of({package for package in owners.values() if package})
    where = distribution()
    package_ways = defaultdict(set)
    for path, package in owners.items():
        if package:
            package_ways[package] |= ways[path]
    components = {package: library(details[package], package_ways[package], where) for package in package_ways}
    components |= {path: foreign(path, ways[path]) for path, package in owners.items() if not package}
    refs = {path: components[package or path]["bom-ref"] for path, package in owners.items()}

    depends = defaultdict(set)
    depends["penstock"] = {refs[path] for path in ways if ways[path] != {"loaded"}}
    for path in shared.values():
        depends[refs[path]] |= {refs[shared[soname]] for soname in needed(path) if soname in shared} - {refs[path]}
    bom = {"bomFormat": "CycloneDX", "specVersion": SPEC, "version": 1,
           "metadata": {"component": application(binary, release), "tools": {"components": [
               {"type": "application", "name": "tools/sbom.py", "version": release}]}},
           "components": sorted(components.values(), key=lambda c: c["bom-ref"]),
           "dependencies": [{"ref": ref, "dependsOn": sorted(depends[ref])}
                            for ref in sorted({"penstock", *refs.values()})]}
    if date := git("log", "-1", "--format=%cI"):
        bom["metadata"]["timestamp"] = date
    bom["serialNumber"] = uuid.uuid5(NAMESPACE, json.dumps(bom, sort_keys=True)).urn
    return bom


def text_of(bom):
    return json.dumps(bom, indent=2, sort_keys=True) + "\n"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="the build folder, made by ninja")
    parser.add_argument("--binary", type=Path, required=True, help="the binary in it; BINARY.map is the linker's map")
    parser.add_argument("--release", required=True, help="the project's version")
    parser.add_argument("--out", type=Path, help="where to write (default: standard output)")
    options = parser.parse_args(arguments)
    text = text_of(document(options.binary.resolve(), options.build.resolve(), options.release))
    if options.out is None:
        sys.stdout.write(text)
    else:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
