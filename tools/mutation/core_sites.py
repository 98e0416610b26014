"""Places for small bugs in a file of C++, found in the tree of its grammar (tree-sitter).

All mutants are compiled into one engine: where there is a site, the code asks which mutant is
switched on. `COMMITTEE_MUTANT=17` switches on mutant 17.
"""

from collections.abc import Iterator
from pathlib import Path

import tree_sitter_cpp
from mutation.site import FUNCTIONS, OPERATORS, Site
from tree_sitter import Language, Node, Parser

# What has to be known when it is compiled, and words.
CONSTANT = {
    "array_declarator",
    "case_statement",
    "enumerator",
    "preproc_def",
    "preproc_function_def",
    "preproc_if",
    "requires_clause",
    "static_assert_declaration",
    "template_argument_list",
    "template_parameter_list",
    "throw_statement",
    "attribute_declaration",
    "noexcept",
}
SWITCH = """#pragma once
#include <cstdlib>
namespace committee_mutant {
inline const int active = [] {
  const char* number = std::getenv("COMMITTEE_MUTANT");
  return number ? std::atoi(number) : 0;
}();
inline bool is(int number) { return active == number; }
}  // namespace committee_mutant
"""


def core_sites(root: Path, path: str) -> list[Site]:
    data = (root / path).read_bytes()
    tree = Parser(Language(tree_sitter_cpp.language())).parse(data)
    lines = data.decode().splitlines()
    sites = []
    for node in nodes(tree.root_node):
        for new, kind in mutants(node):
            line = node.start_point[0] + 1
            old, new = text_of(node), new.replace("\n", " ")
            if "//" in old:
                continue
            shown = lines[line - 1].strip()
            sites.append(Site(path, line, node.start_byte, node.end_byte, old, new, kind, shown))
    return sites


def nodes(node: Node, in_function: bool = False) -> Iterator[Node]:
    """Expressions and conditions of functions that may be other ones while the engine runs."""
    if node.type in CONSTANT or is_constexpr(node):
        return
    in_function = in_function or node.type in ("compound_statement", "field_initializer_list")
    if in_function:
        yield node
    for child in node.children:
        yield from nodes(child, in_function)


def is_constexpr(node: Node) -> bool:
    return any(
        child.type in ("constexpr", "consteval")
        or (child.type == "type_qualifier" and text_of(child) in ("constexpr", "consteval"))
        for child in node.children
    )


def text_of(node: Node) -> str:
    assert node.text is not None
    return node.text.decode()


def part(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    assert found is not None
    return found


def mutants(node: Node) -> Iterator[tuple[str, str]]:
    """What could stand in the place of a node, and what kind of bug that would be."""
    old = text_of(node)
    if node.type in ("binary_expression", "assignment_expression"):
        sign = part(node, "operator")
        new = "/" if text_of(sign) == "%" else OPERATORS.get(text_of(sign))
        if new:
            at = sign.start_byte - node.start_byte
            data = old.encode()
            rest = data[at + len(text_of(sign).encode()) :]
            yield (data[:at] + new.encode() + rest).decode(), "operator"
    elif node.type == "unary_expression" and text_of(part(node, "operator")) in "!-":
        yield text_of(part(node, "argument")), "sign"
    elif node.type == "number_literal" and old in ("0", "1", "2", "0.0", "0.5", "1.0", "2.0"):
        yield f"{float(old) + 1}" if "." in old else f"{int(old) + 1}", "constant"
    elif node.type in ("true", "false"):
        yield "false" if old == "true" else "true", "constant"
    elif node.type == "call_expression":
        function = part(node, "function")
        name = text_of(function).removeprefix("std::")
        if text_of(function).startswith("std::") and name in FUNCTIONS:
            yield old.replace(f"std::{name}", f"std::{FUNCTIONS[name]}", 1), "function"
    elif node.type == "condition_clause" and node.parent is not None:
        yield from removed_if(node.parent, node)


def removed_if(statement: Node, condition: Node) -> Iterator[tuple[str, str]]:
    plain = len(condition.named_children) == 1  # no initialiser before the condition
    declares = plain and condition.named_children[0].type == "declaration"
    is_if = statement.type == "if_statement" and not is_constexpr(statement)
    if is_if and plain and not declares and not statement.child_by_field_name("alternative"):
        yield "(false)", "if removed"


def with_mutants(data: bytes, sites: dict[int, Site]) -> bytes:
    """Source text in which sites ask for the mutant of their number; they may lie in each other."""

    def rewrite(begin: int, end: int, inner: list[tuple[int, Site]]) -> bytes:
        made, at = b"", begin
        while inner:
            number, site = inner[0]
            same = [
                each for each in inner if (each[1].begin, each[1].end) == (site.begin, site.end)
            ]
            below = [e for e in inner if e not in same and e[1].end <= site.end]
            inner = [each for each in inner if each[1].begin >= site.end]
            original = rewrite(site.begin, site.end, below)
            for number, each in same:
                choice = f"::committee_mutant::is({number}) ? ({each.new}) : (".encode()
                original = b"(" + choice + original + b"))"
            made += data[at : site.begin] + original
            at = site.end
        return made + data[at:end]

    ordered = sorted(sites.items(), key=lambda item: (item[1].begin, -item[1].end))
    return rewrite(0, len(data), ordered)
