"""Weka itself, through Java: what `experiments.learners` is compared with, and no part of a study.

Needs a Java runtime, JPype (``pip install -e ".[weka]"``) and weka.jar of 3.6 (Debian's package ``weka``), found in
``WEKA_JAR`` or ``/usr/share/java``.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from auclab._core.base import AuclabError
from experiments.learners.j48 import J48
from experiments.learners.table import Floats, Integers, Table

JAR = "/usr/share/java/weka.jar"


def start() -> Any:
    """The module jpype with Weka's classes; the Java machine is started once a process.

    Raises
    ------
    AuclabError
        JPype, Java or the jar is missing.
    """
    jar = Path(os.environ.get("WEKA_JAR", JAR))
    if not jar.exists():
        raise AuclabError(f"no {jar}: install Debian's package weka, or name the file in WEKA_JAR")
    try:
        jpype = importlib.import_module("jpype")
        if not jpype.isJVMStarted():
            jpype.startJVM("-Djava.awt.headless=true", "-Xss64m", classpath=[str(jar)])
    except ModuleNotFoundError as error:
        raise AuclabError("JPype is not installed: pip install -e '.[weka]'") from error
    except (OSError, jpype.JVMNotFoundException) as error:
        raise AuclabError(f"no Java: {error}") from error
    return jpype


class Weka:
    """A classifier of Weka, trained on rows of a table.

    `name` is its class, such as "weka.classifiers.trees.J48"; `options` its command line, such as "-U -A".
    """

    def __init__(self, name: str, options: str, table: Table, train: Integers) -> None:
        self._jpype, self._table = start(), table
        self._core = self._jpype.JPackage("weka").core
        self.classifier = self._jpype.JClass(name)()
        self.classifier.setOptions(self._core.Utils.splitOptions(options))
        self._train = self._instances(train)
        self.classifier.buildClassifier(self._train)

    def scores(self, rows: Integers) -> Floats:
        """Probability of the positive class."""
        asked = self._instances(rows)
        return np.array([self.classifier.distributionForInstance(asked.instance(k))[1] for k in range(len(rows))])

    def tree(self) -> list[str]:
        """The lines of a J48, as `describe` writes them."""
        lines = str(self.classifier.toString()).splitlines()
        body = [line for line in lines[2:] if line.strip()]
        end = next(k for k, line in enumerate(body) if line.startswith("Number of Leaves"))
        return [line for line in body[:end] if not line.startswith("---")]

    def _instances(self, rows: Integers) -> Any:
        core, double = self._core, self._jpype.JArray(self._jpype.JDouble)
        attributes = core.FastVector()
        for feature, arity in enumerate(self._table.arity):
            attributes.addElement(self._attribute(f"a{feature}", [f"v{k}" for k in range(arity)]))
        attributes.addElement(self._attribute("class", ["neg", "pos"]))
        found = core.Instances("data", attributes, len(rows))
        found.setClassIndex(len(self._table.arity))
        for row in rows:
            values = [*self._table.cells[row].tolist(), float(self._table.labels[row])]
            found.add(core.Instance(1.0, double(values)))  # NaN is missing in both
        return found

    def _attribute(self, name: str, values: list[str]) -> Any:
        if not values:
            return self._core.Attribute(name)
        vector = self._core.FastVector()
        for value in values:
            vector.addElement(value)
        return self._core.Attribute(name, vector)


def describe(tree: J48, arity: Integers) -> list[str]:
    """A tree as the lines that Weka prints: branches by depth, and leaves with their class, weight and errors."""
    if tree.feature[0] < 0:
        return [_label(tree.counts[0])]
    lines: list[str] = []

    def visit(node: int, depth: int) -> None:
        feature = int(tree.feature[node])
        for branch in range(int(tree.branches[node])):
            child = int(tree.first[node]) + branch
            if arity[feature]:
                side = f"a{feature} = v{branch}"
            else:
                side = f"a{feature} {'>' if branch else '<='} {_number(float(tree.threshold[node]), 6)}"
            is_leaf = tree.feature[child] < 0
            lines.append("|   " * depth + side + (_label(tree.bags[child], tree.counts[node]) if is_leaf else ""))
            if not is_leaf:
                visit(child, depth + 1)

    visit(0, 0)
    return lines


def _label(counts: Floats, parent: Floats | None = None) -> str:
    """Class, weight and errors of a leaf; where no row is, the class is that of all rows of its parent."""
    judge = counts if parent is None or counts.sum() > 0 else parent
    name = "pos" if judge[1] > judge[0] else "neg"
    wrong = counts.min()
    errors = f"/{_number(float(wrong), 2, True)}" if wrong > 1e-6 else ""
    return f": {name} ({_number(float(counts.sum()), 2, True)}{errors})"


def _number(value: float, digits: int, always: bool = False) -> str:
    rounded = np.floor(value * 10**digits + 0.5) / 10**digits
    return repr(float(rounded)) if always else f"{rounded:.{digits}f}".rstrip("0").rstrip(".")
