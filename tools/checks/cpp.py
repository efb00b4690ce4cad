"""As much of C++ as the checks need: includes, text without comments and strings, and where functions begin and end."""

import re
from dataclasses import dataclass

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]* | /\*.*?\*/
      | R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-fA-F])'(?:\\[^\n']+|\\'|[^'\\\n])'""",
    re.DOTALL | re.VERBOSE,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_CONTAINER = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")
_CONSTRUCTOR_LIST = re.compile(r"\)\s*(?:noexcept(?:\([^()]*\))?\s*)?:(?!:)")
_NOISE = re.compile(r"\[\[.*?\]\]|\bPENSTOCK_\w+\s*\([^()]*\)|\btemplate\s*<[^{}]*?>\s*(?=\w)|\b(?:noexcept|requires)\s*\(")
_ACCESS = re.compile(r"(?:\s*(?:public|protected|private)\s*:(?!:))*\s*")
_NAME = re.compile(r"(operator\s*(?:\(\)|[^\s(]+)|[\w~]+(?:::[\w~]+)*)\s*\(")


@dataclass(frozen=True)
class Include:
    line: int
    path: str
    angled: bool


@dataclass(frozen=True)
class Function:
    """A function with its body; `lines` counts from its first line to its closing brace."""

    name: str
    line: int
    lines: int


def includes(text):
    return [
        Include(text.count("\n", 0, match.start(1)) + 1, match[2], match[1] == "<") for match in _INCLUDE.finditer(text)
    ]


def without_comments_and_strings(text):
    """The same text with comments and the insides of literals blanked; every line keeps its number."""

    def blank(match):
        found = match[0]
        if found[0] in "\"R":
            return '"' + _blank(found[1:-1]) + '"'
        return _blank(found)

    return _COMMENT_OR_LITERAL.sub(blank, text)


def functions(code):
    """The functions of a text that went through without_comments_and_strings, in their order.

    A matcher of braces, no parser: it knows namespaces, types, initialisers and functions apart by the words before
    the brace, and takes all within a function (lambdas, local types) as that function's lines.
    """
    code = _DIRECTIVE.sub(lambda match: _blank(match[0]), code)
    found = []
    opened = []  # of each open brace: "container", "value", "inner", or the function with its first line
    head_start = 0
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        if match[0] == "{":
            kind = _kind(code, head_start, at, opened)
            opened.append(kind)
            if kind != "value":
                head_start = at + 1
        elif match[0] == "}":
            kind = opened.pop() if opened else "container"
            if isinstance(kind, tuple):
                name, line = kind
                found.append(Function(name, line, code.count("\n", 0, at) + 2 - line))
            if kind != "value":
                head_start = at + 1
        elif not opened or opened[-1] != "value":
            head_start = at + 1
    return sorted(found, key=lambda function: function.line)


def _kind(code, head_start, at, opened):
    if any(isinstance(kind, tuple) for kind in opened):
        return "inner"
    if opened and opened[-1] == "value":
        return "value"
    head = code[head_start:at]
    before = head.rstrip()[-1:]
    if before in ("=", ",", "(", ""):
        return "value" if before else "container"
    plain = _NOISE.sub(" ", head)
    name = _NAME.search(plain)
    if not name or (_CONTAINER.search(plain[: name.start()]) and not re.search(r"\)\s*(?:\w|->|$)", plain)):
        return "container" if _CONTAINER.search(plain) else "value"
    if _CONSTRUCTOR_LIST.search(plain) and (before.isalnum() or before in "_>"):
        return "value"
    first = head_start + _ACCESS.match(head).end()
    title = re.sub(r"\s+", " ", name[1])
    if title.startswith("TEST") or title == "TYPED_TEST":
        arguments = re.search(r"\(([^()]*)\)", plain[name.start() :])
        title = re.sub(r"\s*,\s*", ".", arguments[1].strip()) if arguments else title
    return (title, code.count("\n", 0, first) + 1)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)
