"""Fill in the table of docs/reliability.md from docs/reliability/faults.json, which benchmarks/faults.py writes.

    python docs/reliability.py

A row per fault: what was done, seen and lost, in this version and in the previous one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("reliability.md")
RESULTS = PAGE.with_suffix("") / "faults.json"
#: The columns: this version and the one before.
NOW, BEFORE = "now", "0.2.0"
MARKS = ("<!-- the table of docs/reliability.py begins -->", "<!-- and ends -->")
#: Characters of a line that are shown.
WIDTH = 230


def table(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The table in Markdown, a row per fault."""
    rows = ["| fault | message on the screen | message, end, exit code, lost | in 0.2.0 |", "|---|---|---|---|"]
    for name, fault in results[NOW].items():
        seen = "<br>".join(f"`{_cut(line)}`" for line in fault["saw"]) or "no error"
        rows.append(f"| {fault['did']} | {seen} | {_facts(fault)} | {_facts(results[BEFORE].get(name))} |")
    return "\n".join(rows)


def _facts(fault: dict[str, Any] | None) -> str:
    """When the first word came, the exit code, and what was lost."""
    if fault is None:
        return "–"
    said = "no message" if fault["said_after"] is None else f"{fault['said_after']:.0f} s"
    code = "killed" if fault["exit_code"] < 0 else f"exit {fault['exit_code']}"
    trace = ", a traceback" if any("traceback of" in line for line in fault["saw"]) else ""
    return f"{said}, {fault['seconds']:.0f} s, {code}{trace}; lost: {fault['lost']}"


def _cut(line: str) -> str:
    line = re.sub(r"[0-9a-f]{32}", "…", re.sub(r"\s+", " ", line)).replace("|", "/").replace("`", "'")
    return line if len(line) <= WIDTH else f"{line[:WIDTH]}…"


def fill(page: str, results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The page with the table between its marks."""
    start, end = (re.escape(mark) for mark in MARKS)
    return re.sub(f"({start}\n).*?(\n{end})", lambda found: found[1] + table(results) + found[2], page, flags=re.DOTALL)


if __name__ == "__main__":
    filled = fill(PAGE.read_text(encoding="utf-8"), json.loads(RESULTS.read_text(encoding="utf-8")))
    PAGE.write_text(filled, encoding="utf-8")
