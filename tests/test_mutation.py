"""The command that plants small bugs: the places it finds for them, and what becomes of these."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from mutation.python_sites import python_sites  # noqa: E402

CODE = '''"""A docstring with 1 < 2."""
LIMIT: int = 1

def share(values, weights=None, axis=0):
    """Return a share of 0.5."""
    if weights is None:
        raise ValueError(f"no weights: {1 + 1}")
    rows = values[1:].copy()
    total = sum(rows, weights) if len(rows) > 0 else -1.0
    check(rows)
    return (total
            + 7) / 2
'''
FOUND = [
    ("constant", "1", "2"),
    ("constant", "0", "1"),
    ("if removed", "weights is None", "False"),
    ("operator", "is", "is not"),
    ("constant", "1", "2"),
    ("copy removed", ".copy()", ""),
    ("function", "sum", "max"),
    ("weights dropped", "weights", "None"),
    ("condition", "len(rows) > 0", "not (len(rows) > 0)"),
    ("operator", ">", ">="),
    ("constant", "0", "1"),
    ("sign", "-", ""),
    ("constant", "1.0", "2.0"),
    ("call removed", "check(rows)", "None"),
    ("operator", "+", "-"),
    ("operator", "/", "*"),
    ("constant", "2", "3"),
]


def test_places_are_found_in_code_and_not_in_words(tmp_path):
    (tmp_path / "a.py").write_text(CODE)
    sites = python_sites(tmp_path, "a.py")
    found = sorted((site.begin, site.kind, site.old, site.new) for site in sites)
    assert sorted(each[1:] for each in found) == sorted(FOUND)
    for site in sites:
        mutant = CODE[: site.begin] + site.new + CODE[site.end :]
        ast.parse(mutant)
        assert CODE[site.begin : site.end] == site.old
        assert mutant != CODE
        assert mutant.count("\n") == CODE.count("\n")
        assert CODE.splitlines()[site.line - 1].strip() == site.text
    assert len({site.name for site in sites}) >= len(sites) - 1  # two are the same bug in a line


def test_every_file_of_the_package_has_mutants_that_are_python():
    n_sites = 0
    for path in sorted((ROOT / "src/committee").rglob("*.py")):
        data = path.read_bytes()
        sites = python_sites(ROOT, path.relative_to(ROOT).as_posix())
        for site in sites[:: max(1, len(sites) // 2)]:
            ast.parse(data[: site.begin] + site.new.encode() + data[site.end :])
        n_sites += len(sites)
    assert n_sites > 10_000


def test_mutants_of_the_engine_are_switched_inside_of_each_other(tmp_path):
    pytest.importorskip("tree_sitter_cpp")
    from mutation.core_sites import core_sites, with_mutants

    code = """constexpr int kSize = 1 + 2;
int least(const int* begin, int n) {
  if (n < 1) return -1;
  static_assert(1 < 2);
  int best = begin[0];
  for (int i = 1; i < n; ++i) best = std::min(best, begin[i]);
  return best;
}
"""
    (tmp_path / "a.cpp").write_text(code)
    sites = core_sites(tmp_path, "a.cpp")
    assert [(site.kind, site.old, site.new) for site in sites] == [
        ("if removed", "(n < 1)", "(false)"),
        ("operator", "n < 1", "n <= 1"),
        ("constant", "1", "2"),
        ("constant", "0", "1"),
        ("constant", "1", "2"),
        ("operator", "i < n", "i <= n"),
        ("function", "std::min(best, begin[i])", "std::max(best, begin[i])"),
    ]
    made = with_mutants(code.encode(), {7: sites[0], 8: sites[1]}).decode().splitlines()
    changed = (
        "  if (::committee_mutant::is(7) ? ((false)) : "
        "(((::committee_mutant::is(8) ? (n <= 1) : (n < 1))))) return -1;"
    )
    assert made == [changed if "if (n" in line else line for line in code.splitlines()]
