"""Sizes of files and functions: a hard limit for all, a soft one for the product with a ratchet for exceptions."""

import ast
import tomllib

from checks import cpp
from checks.tree import CODE_FOLDERS, Finding, is_product, is_test

FILE_SOFT, FILE_HARD = 400, 700
FUNCTION_SOFT, FUNCTION_HARD = 40, 70
RATCHET = "tools/ratchet.toml"

RULES = {
    "file-size": f"a file of the product has at most {FILE_SOFT} lines, any code file at most {FILE_HARD}",
    "function-size": f"a function of the product has at most {FUNCTION_SOFT} lines, any function at most {FUNCTION_HARD}",
    "ratchet": f"{RATCHET} lists what is over the soft limit, with its exact size and a reason",
}


def check(tree):
    exceptions = _Ratchet(tree)
    yield from exceptions.mistakes
    for path in tree.paths:
        if not _is_code(path):
            continue
        soft = is_product(path) or (path.endswith(".py") and not is_test(path))
        yield from _judge(exceptions, "file", path, None, 1, tree.text(path).count("\n"), soft)
        for function in _functions(tree, path):
            yield from _judge(exceptions, "function", path, function.name, function.line, function.lines, soft)
    yield from exceptions.unused()


def _judge(exceptions, kind, path, name, line, lines, soft):
    limit, hard = (FILE_SOFT, FILE_HARD) if kind == "file" else (FUNCTION_SOFT, FUNCTION_HARD)
    what = name or "the file"
    if lines > hard:
        yield Finding(path, line, f"{kind}-size", f"{what} has {lines} lines, the hard limit is {hard}; split it by noun")
        exceptions.take(kind, path, name)
    elif soft and lines > limit:
        yield from exceptions.judge(kind, path, name, line, lines, limit)


class _Ratchet:
    """The listed exceptions; each holds for exactly one size, so it can only be tightened or visibly loosened."""

    def __init__(self, tree):
        data = tomllib.loads(tree.text(RATCHET)) if RATCHET in tree else {}
        self.mistakes = []
        self._entries = {}
        for kind in ("file", "function"):
            for entry in data.get(kind, []):
                self._entries[(kind, entry["path"], entry.get("name"))] = entry["lines"]
                if not entry.get("reason", "").strip():
                    self.mistakes.append(Finding(RATCHET, 1, "ratchet", f"{entry['path']} is listed without a reason"))

    def take(self, kind, path, name):
        return self._entries.pop((kind, path, name), None)

    def judge(self, kind, path, name, line, lines, limit):
        listed = self.take(kind, path, name)
        what = name or "the file"
        if listed is None:
            text = f"{what} has {lines} lines, the soft limit is {limit}; split it, or list it in {RATCHET} with a reason"
            yield Finding(path, line, f"{kind}-size", text)
        elif lines > listed:
            yield Finding(path, line, f"{kind}-size", f"{what} grew from {listed} to {lines} lines; it may only shrink")
        elif lines < listed:
            yield Finding(path, line, "ratchet", f"{what} shrank to {lines} lines; set its {listed} in {RATCHET} to {lines}")

    def unused(self):
        for kind, path, name in self._entries:
            what = f"{name} in {path}" if name else path
            yield Finding(RATCHET, 1, "ratchet", f"the {kind} {what} is not over the soft limit (any more); remove its entry")


def _is_code(path):
    return path.endswith(".py") or (path.startswith(CODE_FOLDERS) and path.endswith((".h", ".cc")))


def _functions(tree, path):
    if not path.endswith(".py"):
        return cpp.functions(tree.code(path))
    nodes = ast.walk(ast.parse(tree.text(path), path))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [cpp.Function(n.name, n.lineno, n.end_lineno - n.lineno + 1) for n in nodes if isinstance(n, kinds)]
