"""Remembers which expensive checks passed, by a hash of all that they read."""

import hashlib
import os
from pathlib import Path

FORGET_AFTER_DAYS = 30


class Passed:
    """A folder of empty files, one for each input that passed the check called `name`.

    It lies in the user's cache folder as ccache's does, so that a fresh clone of the same text is fast as well.
    """

    def __init__(self, name, now):
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        self._folder = Path(home) / "penstock" / name
        self._folder.mkdir(parents=True, exist_ok=True)
        for mark in self._folder.iterdir():
            if now - mark.stat().st_mtime > FORGET_AFTER_DAYS * 86400:
                mark.unlink(missing_ok=True)

    def knows(self, key):
        mark = self._folder / key
        if not mark.exists():
            return False
        mark.touch()
        return True

    def remember(self, key):
        (self._folder / key).touch()


def key_of(*parts):
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()
