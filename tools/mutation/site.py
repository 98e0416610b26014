"""A place in the sources, and the small bug that could be there instead."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """Text of a file from `begin` to `end`, and what a mutant has instead."""

    path: str  # below the root: src/committee/... or src/core/...
    line: int
    begin: int  # in bytes
    end: int
    old: str
    new: str
    kind: str
    text: str  # of the whole line, to be shown

    @property
    def name(self) -> str:
        """Stays the same when lines above change."""
        words = f"{self.path} {self.kind} {self.old} {self.new} {self.text}"
        return hashlib.sha1(words.encode()).hexdigest()[:10]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0].removeprefix("src/")


# The same small bugs in both languages: an operator and what stands in its place.
OPERATORS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "//": "/",
    "%": "//",
    "**": "*",
    "&": "|",
    "|": "&",
    "^": "|",
    "&&": "||",
    "||": "&&",
    "and": "or",
    "or": "and",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
    "+=": "-=",
    "-=": "+=",
    "*=": "/=",
    "/=": "*=",
    "|=": "&=",
    "&=": "|=",
}
FUNCTIONS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
    "zeros": "ones",
    "ones": "zeros",
    "sorted": "list",
    "mean": "sum",
    "sum": "max",
    "array": "asarray",
    "fmin": "fmax",
    "fmax": "fmin",
    "flatnonzero": "asarray",
    "unique": "asarray",
    "isfinite": "isnan",
    "lower_bound": "upper_bound",
    "upper_bound": "lower_bound",
}
