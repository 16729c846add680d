"""The messages in the source: texts of errors, warnings, logs and screens, with … where a value stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "auclab"
#: Objects and their functions that print a text; a method _warn of any object does.
PRINTERS = {"out", "err", "page", "say", "console", "terminal", "warnings", "log", "screen"}
PRINTING = {"print", "warn", "warning"}
#: The place of a value in a log record, and the colour of a text on the screen.
_VALUE, _COLOUR = re.compile(r"%(?:\.\d)?[sf]"), re.compile(r"\[/?(?:cyan|red|yellow|green|dim)\]")


@cache
def source_messages() -> dict[tuple[str, str], int]:
    """Module and text of every message, with the line of one of its places."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    nodes = {path: list(_nodes(tree)) for path, tree in trees.items()}
    helpers = {(path, node.name): node for path in trees for node in nodes[path] if isinstance(node, ast.FunctionDef)}
    found: dict[tuple[str, str], int] = {}
    for path, tree in trees.items():
        for node in nodes[path]:
            given = argument_of(node)
            if given is None:
                continue
            for place, text in _texts(given, path, tree, helpers):
                found.setdefault((str(place.relative_to(SOURCE)), text), node.lineno)
    return found


def _nodes(tree: ast.Module) -> Iterator[ast.stmt | ast.expr]:
    """The functions of a module and what may print a message; ``ast.walk`` takes four times as long for all nodes."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise | ast.Return | ast.Call | ast.FunctionDef):
            yield node
        for value in vars(node).values():
            if isinstance(value, list):
                waiting += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.Name | ast.expr_context):
                waiting.append(value)


def argument_of(node: ast.AST) -> ast.expr | None:
    """The text of an error that a node raises or returns, of its warning or log record, or of the line it prints."""
    if isinstance(node, ast.Raise | ast.Return):
        call = node.exc if isinstance(node, ast.Raise) else node.value
        is_error = isinstance(call, ast.Call) and _name(call.func).endswith(("Error", "SystemExit"))
        return call.args[0] if is_error and call.args else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        owner, name = _name(node.func.value), node.func.attr
        says = (owner in PRINTERS and name in PRINTING) or name == "_warn" or (owner, name) == ("parser", "error")
        return node.args[0] if says else None
    return None


def _name(node: ast.expr) -> str:
    """The last name of NAME or OBJECT.NAME."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _texts(given: ast.expr, path: Path, tree: ast.Module, helpers: dict) -> Iterator[tuple[Path, str]]:
    """Module and text of what is given: a literal, or what a function of the package returns."""
    if (text := template(given)) is not None:
        if re.search(r"[a-z]{2}", re.sub(r"\[[^]]*\]", "", text)):  # not values and markup alone
            yield path, _VALUE.sub("…", text)
    elif isinstance(given, ast.IfExp):
        yield from _texts(given.body, path, tree, helpers)
        yield from _texts(given.orelse, path, tree, helpers)
    elif isinstance(given, ast.Name | ast.Subscript) or _is_format(given):
        for constant in _constants(given.func.value if _is_format(given) else given, tree):
            yield path, re.sub(r"\{[^}]*\}", "…", constant) if _is_format(given) else constant
    elif isinstance(given, ast.Call) and isinstance(given.func, ast.Name):
        home = _home(given.func.id, path, tree)
        helper = helpers.get((home, given.func.id))
        for node in ast.walk(helper) if helper else ():
            if isinstance(node, ast.Return) and node.value is not None:
                yield from _texts(node.value, home, tree, helpers)


def _is_format(node: ast.expr) -> bool:
    """Whether this is TEXT.format(…)."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format"


def _constants(node: ast.expr, tree: ast.Module) -> Iterator[str]:
    """The texts that a constant of the module holds: NAME, or NAME[…] of a table of texts."""
    name = ast.unparse(node.value if isinstance(node, ast.Subscript) else node)
    for each in tree.body:
        target = (
            each.targets[0]
            if isinstance(each, ast.Assign)
            else each.target
            if isinstance(each, ast.AnnAssign)
            else None
        )
        if isinstance(target, ast.Name) and target.id == name and each.value is not None:
            values = each.value.values if isinstance(each.value, ast.Dict) else [each.value]
            yield from (text for value in values if (text := template(value)) is not None)


def _home(name: str, path: Path, tree: ast.Module) -> Path:
    """The module where a name of a module is defined."""
    for node in tree.body:
        ours = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("auclab.")
        if ours and any(name == (alias.asname or alias.name) for alias in node.names):
            return SOURCE.joinpath(*node.module.split(".")[1:]).with_suffix(".py")
    return path


def template(node: ast.expr) -> str | None:
    """The text of a literal, … in the place of each value; None of anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return f"{template(node.left) or '…'}{template(node.right) or '…'}"
    return None


def package_of(module: str) -> str:
    """The package of a module such as solvers/path.py; "modules" of one beside the packages."""
    return module.split("/")[0] if "/" in module else "modules"


def pattern_of(message: str) -> re.Pattern[str]:
    """What such a message looks like with its values, and without its colours."""
    return re.compile(".*?".join(map(re.escape, _COLOUR.sub("", message).split("…"))) + r"\Z", re.DOTALL)
