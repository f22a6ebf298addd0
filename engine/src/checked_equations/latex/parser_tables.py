"""The grammar of `grammar.lark`, made by one process for all that follow.

Lark takes 0.4 s to make the tables of the parser, and a hundredth of a second to read them. So they
lie where Python keeps the bytecode of this module, on the same terms: where it would write none, or
may not write, they are made again. (Lark's own `cache` writes in place, so that two processes could
leave a mixture of two files, which neither would tell from tables.)
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import lark
from lark import Lark, Token
from lark.lexer import Lexer

_DIGEST = hashlib.sha256().digest_size


class Ready(Lexer):
    """The words are made before the parser sees them."""

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: object = None) -> Iterator[Token]:
        """The words that `parse` was given."""
        yield from lexer_state


@cache
def grammar() -> Lark:
    """The grammar of `grammar.lark`, over the words that `lexer` makes of LaTeX."""
    rules = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return kept(rules, Path(importlib.util.cache_from_source(__file__)).with_suffix(".grammar"))


def kept(rules: str, place: Path) -> Lark:
    """The parser of `rules`, from the file at `place` if that holds it; else made, and kept there.

    The file begins with a digest of the rules, of Lark's version and of the rest, so that
    another grammar and a damaged file are found out before anything in it is read.
    """
    told = f"{rules}\0{lark.__version__}\0{Ready.__module__}".encode()
    with suppress(OSError):
        stored = place.read_bytes()
        if stored[:_DIGEST] == hashlib.sha256(told + stored[_DIGEST:]).digest():
            return Lark.load(io.BytesIO(stored[_DIGEST:]))
    made = _made(rules)
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            _keep(made, told, place)
    return made


def _made(rules: str) -> Lark:
    starts = ["equation", "expression"]
    return Lark(rules, parser="lalr", lexer=Ready, start=starts, propagate_positions=True)


def _keep(made: Lark, told: bytes, place: Path) -> None:
    """Write the file whole or not at all: other processes may be reading it."""
    buffer = io.BytesIO()
    made.save(buffer)
    tables = buffer.getvalue()
    place.parent.mkdir(exist_ok=True)
    begun = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        begun.write_bytes(hashlib.sha256(told + tables).digest() + tables)
        begun.replace(place)
    finally:
        begun.unlink(missing_ok=True)  # a part of a file, where the disk is full
