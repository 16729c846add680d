"""The messages in the source: texts of errors, warnings, logs and screens, with … where a value stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "auclab"
#: Objects and their functions that print a text.
PRINTERS = {"out": "print", "err": "print", "page": "print", "say": "print", "warnings": "warn", "log": "warning"}


def source_messages() -> dict[tuple[str, str], int]:
    """Module and text of every message, with the line of one of its places."""
    found: dict[tuple[str, str], int] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for text in texts_of(node):
                found[str(path.relative_to(SOURCE)), text] = node.lineno
    return found


def texts_of(node: ast.AST) -> Iterator[str]:
    """The text of a node that raises an error of auclab or of Python, or prints."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        given = node.exc.args if ast.unparse(node.exc.func).endswith("Error") else []
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        given = node.args if PRINTERS.get(ast.unparse(node.func.value)) == node.func.attr else []
    else:
        return
    if given and (text := template(given[0])) is not None:
        yield text


def template(node: ast.expr) -> str | None:
    """The text of a literal, … in the place of each value; None of anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return f"{template(node.left) or '…'}{template(node.right) or '…'}"
    return None


def pattern_of(message: str) -> re.Pattern[str]:
    """What such a message looks like with its values."""
    return re.compile(".*?".join(map(re.escape, message.split("…"))) + r"\Z", re.DOTALL)
