"""Places for small bugs in a file of Python, found in its syntax tree."""

import ast
import re
from pathlib import Path

from mutation.site import FUNCTIONS, OPERATORS, Site

SIGNS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.And: "and",
    ast.Or: "or",
}
WORDS_ONLY = {"warn", "debug", "info", "warning", "cast", "TypeVar", "print", "secho", "echo"}

# Other numbers are choices that nobody promised, as are all numbers that place things in pictures.
COMMON = (0, 0.5, 1, 2)
DRAWING = ("src/committee/plots/", "src/committee/report/", "src/committee/trees/svg")


def python_sites(root: Path, path: str) -> list[Site]:
    finder = Finder(path, (root / path).read_text())
    finder.visit(ast.parse(finder.text))
    return finder.sites


class Finder(ast.NodeVisitor):
    """Walks a tree; annotations, messages of errors and docstrings are left alone."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.bytes = text.encode()
        self.lines = text.splitlines()
        self.starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.is_drawing = path.startswith(DRAWING)
        self.sites: list[Site] = []

    # ---- where things are ----

    def begin(self, node: ast.expr | ast.stmt) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def add(self, begin: int, end: int, new: str, kind: str) -> None:
        old = self.bytes[begin:end].decode()
        new += "\n" * (old.count("\n") - new.count("\n"))  # the lines below keep their numbers
        line = self.bytes.count(b"\n", 0, begin) + 1
        shown = self.lines[line - 1].strip()
        self.sites.append(Site(self.path, line, begin, end, old, new, kind, shown))

    def swap_between(self, left: ast.expr, right: ast.expr, sign: str) -> None:
        """Replace the operator that stands between two expressions."""
        begin, end = self.end(left), self.begin(right)
        between = re.sub(rb"#[^\n]*", lambda found: b" " * len(found[0]), self.bytes[begin:end])
        pattern = re.escape(sign).replace(r"\ ", r"\s+")
        if found := re.search(pattern.encode(), between):
            self.add(begin + found.start(), begin + found.end(), OPERATORS[sign], "operator")

    # ---- statements ----

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass  # words, and Python 3.11 has wrong places for what is in it

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        if not any(re.fullmatch("__.*__|[A-Z]", name) for name in names):
            self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call) and name_of(node.value) not in WORDS_ONLY:
            self.add(self.begin(node), self.end(node), "None", "call removed")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if not node.orelse:
            self.add(self.begin(node.test), self.end(node.test), "False", "if removed")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if (sign := SIGNS.get(type(node.op))) and f"{sign}=" in OPERATORS:
            begin, end = self.end(node.target), self.begin(node.value)
            at = begin + self.bytes[begin:end].index(f"{sign}=".encode())
            self.add(at, at + len(sign) + 1, OPERATORS[f"{sign}="], "operator")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(self.begin(node), self.end(node), "break", "jump")

    def visit_Break(self, node: ast.Break) -> None:
        self.add(self.begin(node), self.end(node), "continue", "jump")

    # ---- expressions ----

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, sign, right in zip(operands, node.ops, operands[1:], strict=False):
            self.swap_between(left, right, SIGNS[type(sign)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        words = any(
            isinstance(side, ast.JoinedStr)
            or (isinstance(side, ast.Constant) and isinstance(side.value, str))
            for side in (node.left, node.right)
        )
        if not words and type(node.op) in SIGNS:
            self.swap_between(node.left, node.right, SIGNS[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.swap_between(left, right, SIGNS[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.op, ast.UAdd):
            self.add(self.begin(node), self.begin(node.operand), "", "sign")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        old = self.bytes[self.begin(node.test) : self.end(node.test)].decode()
        self.add(self.begin(node.test), self.end(node.test), f"not ({old})", "condition")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            new = str(not value)
        elif isinstance(value, int | float) and value in COMMON:
            new = repr(value + 1)
        else:
            return
        if self.is_drawing:
            return
        self.add(self.begin(node), self.end(node), new, "constant")

    def visit_Call(self, node: ast.Call) -> None:
        name = name_of(node)
        if name in WORDS_ONLY:
            return
        end = self.end(node.func)
        if name in FUNCTIONS:
            self.add(end - len(name), end, FUNCTIONS[name], "function")
        if name == "copy" and isinstance(node.func, ast.Attribute) and not node.args:
            self.add(self.end(node.func.value), self.end(node), "", "copy removed")
        if name == "zip":
            node.keywords = []  # strict=True guards against bugs of ours
        for value in [*node.args, *(each.value for each in node.keywords)]:
            word = getattr(value, "id", getattr(value, "attr", ""))
            if "weight" in word and isinstance(value, ast.Name | ast.Attribute):
                self.add(self.begin(value), self.end(value), "None", "weights dropped")
        self.generic_visit(node)


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))
