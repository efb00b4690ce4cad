"""Rooms and levels: what may include what (tools/rooms.toml says it)."""

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase

from checks.tree import Finding, is_test

RULES = {
    "room-table": "tools/rooms.toml names only rooms of lower levels and libraries that it knows",
    "unknown-room": "every folder of penstock/ is a room of tools/rooms.toml",
    "room-include": "a room includes only the rooms that its line in tools/rooms.toml names",
    "library-include": "a room includes only the libraries that its line in tools/rooms.toml names",
    "test-include": "the product includes nothing of a folder named testing",
    "include-path": "our own headers are included as \"penstock/room/name.h\"",
    "include-cycle": "no header includes itself, however far away",
}
TABLE = "tools/rooms.toml"


@dataclass(frozen=True)
class Room:
    name: str
    level: int
    rooms: tuple
    libraries: tuple
    excluded: tuple


class Rooms:
    """The table: rooms by name, libraries by name."""

    def __init__(self, data):
        self.rooms = {
            name: Room(name, row["level"], tuple(row["rooms"]), tuple(row["libraries"]), tuple(row.get("except", ())))
            for name, row in data["rooms"].items()
        }
        self.libraries = data["libraries"]
        everywhere = data.get("everywhere", {})
        self.for_all = tuple(everywhere.get("libraries", ()))
        self.for_tests = tuple(everywhere.get("libraries_of_tests", ()))

    def may_include(self, room, path, in_test):
        """Whether a file of `room` may include our header at `path`."""
        other = self.rooms.get(room_of(path))
        if other is None:
            return False
        if other.name == room.name:
            return True
        if other.level >= room.level or other.name in room.excluded:
            return False
        return in_test or "*" in room.rooms or other.name in room.rooms or path.removeprefix("penstock/") in room.rooms

    def library_of(self, include):
        """A library that an include belongs to; None where the table knows none."""
        return next((name for name in self.libraries if self._belongs(include, name)), None)

    def may_use(self, room, include, in_test):
        allowed = room.libraries + self.for_all + (self.for_tests if in_test else ())
        return "*" in allowed or any(self._belongs(include, name) for name in allowed)

    def _belongs(self, include, library):
        return any(fnmatchcase(include, pattern) for pattern in self.libraries[library])


def load(tree):
    return Rooms(tomllib.loads(tree.text(TABLE)))


def room_of(path):
    """The room that a file below penstock/ belongs to, else None."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "penstock" else None


def check(tree):
    table = load(tree)
    yield from _table_is_a_ladder(table)
    yield from _folders_are_known(tree, table)
    for path in tree.cpp():
        room = table.rooms.get(room_of(path))
        if room is not None:
            yield from _includes_of(tree, table, room, path)
    yield from _cycles(tree)


def _table_is_a_ladder(table):
    for room in table.rooms.values():
        for entry in room.rooms:
            other = table.rooms.get(entry.split("/")[0])
            if entry != "*" and other is None:
                yield Finding(TABLE, 1, "room-table", f"room {room.name} names {entry}, which is no room")
            elif entry != "*" and other.level >= room.level:
                text = f"room {room.name} (level {room.level}) names {entry} (level {other.level}); only lower levels"
                yield Finding(TABLE, 1, "room-table", text)
        for library in room.libraries:
            if library != "*" and library not in table.libraries:
                yield Finding(TABLE, 1, "room-table", f"room {room.name} names {library}, which [libraries] lacks")


def _folders_are_known(tree, table):
    for name in sorted({room_of(path) for path in tree.paths} - {None} - set(table.rooms)):
        yield Finding(f"penstock/{name}", 1, "unknown-room", f"no room of {TABLE}; known are {', '.join(table.rooms)}")


def _includes_of(tree, table, room, path):
    in_test = is_test(path)
    for include in tree.includes(path):
        if include.path.startswith("penstock/"):
            if not table.may_include(room, include.path, in_test):
                allowed = ", ".join(room.rooms) or "no other room"
                text = f"{room.name} must not include {include.path}; it may include {allowed}"
                yield Finding(path, include.line, "room-include", text)
            elif "/testing/" in include.path and not in_test and room.name != "simulation":
                text = f"{include.path} is for tests; move what the product needs out of testing/"
                yield Finding(path, include.line, "test-include", text)
        elif include.angled and _is_standard(include.path):
            continue
        elif not include.angled and table.library_of(include.path) is None:
            text = f'"{include.path}" is not from the root; use "penstock/room/name.h"'
            yield Finding(path, include.line, "include-path", text)
        elif not table.may_use(room, include.path, in_test):
            allowed = ", ".join(room.libraries + table.for_all)
            library = table.library_of(include.path) or "no library of the table"
            text = f"{room.name} must not include {include.path} ({library}); it may include {allowed}"
            yield Finding(path, include.line, "library-include", text)


def _is_standard(include):
    """C++ standard headers have neither a folder nor an ending; C and system headers end in .h."""
    return "/" not in include and "." not in include


def _cycles(tree):
    done = set()
    for start in tree.cpp(".h"):
        yield from _cycles_from(tree, start, [], done)


def _cycles_from(tree, path, trail, done):
    if path in trail:
        round_trip = trail[trail.index(path) :] + [path]
        yield Finding(trail[-1], _line_of_include(tree, trail[-1], path), "include-cycle", " -> ".join(round_trip))
    elif path not in done:
        for include in tree.own_includes(path):
            yield from _cycles_from(tree, include, trail + [path], done)
        done.add(path)


def _line_of_include(tree, path, included):
    return next(include.line for include in tree.includes(path) if include.path == included)
