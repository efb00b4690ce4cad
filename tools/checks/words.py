"""Words that do not stand in this project (tools/words.toml says which, where, and what to use instead)."""

import re
import tomllib

from checks.tree import Finding, is_test, line_of

TABLE = "tools/words.toml"
# The table and the tests of its rules have to name the words; what was recorded or written elsewhere is not ours to word.
NOT_READ = (TABLE, "tools/tidy_test.py", "fuzz/corpus/", "test/captures/", "test/corpus/", "test/golden/", "LICENSE")


def rules(tree):
    return {word["name"]: f"instead: {word['use']}" for word in _words(tree)}


def check(tree):
    table = tomllib.loads(tree.text(TABLE))
    cpp_files = set(tree.cpp())
    for path in tree.paths:
        if path.startswith(NOT_READ):
            continue
        yield from _search(path, tree.text(path), table.get("text", []))
        if path in cpp_files:
            yield from _search(path, tree.code(path), table.get("code", []))


def _words(tree):
    table = tomllib.loads(tree.text(TABLE)) if TABLE in tree else {}
    return table.get("code", []) + table.get("text", [])


def _search(path, text, words):
    for word in words:
        if not _applies(word, path):
            continue
        for match in re.finditer(word["pattern"], text, re.MULTILINE):
            found = re.sub(r"\s+", " ", match[0]).strip()
            yield Finding(path, line_of(text, match.start()), word["name"], f"`{found}` does not stand here; use {word['use']}")


def _applies(word, path):
    if "in" in word and (not path.startswith(tuple(word["in"])) or is_test(path)):
        return False
    return not path.startswith(tuple(word.get("except", ()))) and path.endswith(tuple(word.get("files", ("",))))
