"""Equations of pages and docstrings, which are written in plain characters, become MathML on the site.

An indented block such as ``min_w mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + λ‖w‖`` is readable in a terminal and in an editor.
Here it is translated: ``_`` and ``^`` take the next name or ``{…}``, ``√`` takes the next bracket, and three spaces
separate columns.
"""

from __future__ import annotations

import re
from html import escape
from unicodedata import normalize

from docutils import nodes
from sphinx.application import Sphinx

SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ*'", "0123456789+−⊤∗′", strict=True))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+−", strict=True))
FRACTIONS = {"½": (1, 2), "¼": (1, 4), "¾": (3, 4), "⅓": (1, 3), "⅔": (2, 3)}
#: Names with an underscore that is part of the name.
WHOLE = "max_fpr|min_fpr|norm_bound"
LETTER = "(?:[A-Za-z\u0370-\u03a2\u03a4-\u03ffℓ][\u0300-\u036f]*)"  # Σ is a sign of operation
TOKEN = re.compile(
    rf"(?P<space>\s+)|(?P<text>\"[^\"]*\")|(?P<name>{WHOLE}|{LETTER}+)|(?P<number>\d+(?:\.\d+)?)|(?P<other>.)"
)
#: Short names that are products: one letter each.
PRODUCT = re.compile(r"[a-zΑ-ω][A-Z]η?|[A-Za-z]?[Α-ωa-z]{0,2}[Α-ω][A-Za-z]?|d[tuv]|ij")
MARKS = {"\u0302": "^", "\u0304": "¯", "\u0305": "¯", "\u0332": "ˍ"}
LIMITS = {"Σ", "min", "max", "sup", "inf"}
CLOSING = {"(": ")", "{": "}", "[": "]"}


class Line:
    """The tokens of one line, read from left to right."""

    def __init__(self, text: str) -> None:
        plain = "".join(normalize("NFD", c) if c.isalpha() else c for c in text)
        self.tokens = [(str(match.lastgroup), match.group()) for match in TOKEN.finditer(plain)]
        self.at = 0

    def peek(self) -> str:
        """The next token, empty at the end."""
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def row(self, end: str = "") -> str:
        """Everything up to the token `end`, which is passed over."""
        parts = []
        opening = next((sign for sign, closing in CLOSING.items() if closing == end), "")
        depth = 0
        while self.at < len(self.tokens) and (depth or self.peek() != end):
            depth += (self.peek() == opening) - (self.peek() == end) if end else 0
            parts.append(self.scripted())
        self.at += 1
        return f"<mrow>{''.join(parts)}</mrow>"

    def group(self) -> str:
        """What an index, a power or a root applies to: a bracket without its signs, or one token."""
        closing = CLOSING.get(self.peek())
        if closing is None:
            return self.token()
        self.at += 1
        return self.row(closing)

    def token(self) -> str:
        """One token, without what is attached to it."""
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "space":
            beside = [self.tokens[k] for k in (self.at - 2, self.at) if 0 <= k < len(self.tokens)]
            wide = any(each == "text" or len(word) > 1 for each, word in beside)
            return f'<mspace width="{0.3 if wide else 0.12}em"></mspace>'
        if kind == "text":
            return f"<mtext>{escape(text[1:-1])}</mtext>"
        if kind == "number":
            return f"<mn>{text}</mn>"
        if text == "Σ":
            return '<mo largeop="true" movablelimits="false">∑</mo>'
        if kind == "name":
            return self.name(text)
        if text in FRACTIONS:
            above, below = FRACTIONS[text]
            return f'<mfrac displaystyle="false"><mn>{above}</mn><mn>{below}</mn></mfrac>'
        if text == "√":
            return f"<msqrt>{self.group()}</msqrt>"
        fence = ' stretchy="false"' if text in "()[]{}|‖" else ""
        return f"<mo{fence}>{escape(text)}</mo>"

    def name(self, text: str) -> str:
        """A variable or a word; a mark over one of its letters is drawn over the whole."""
        marks = re.findall("[\u0300-\u036f]", text)
        letters = re.sub("[\u0300-\u036f]", "", text)
        index = self.at > 1 and self.tokens[self.at - 2][1] == "_"
        if not marks and (PRODUCT.fullmatch(letters) or (index and letters == "kl")):
            return f"<mrow>{''.join(f'<mi>{letter}</mi>' for letter in letters)}</mrow>"
        found = f"<mi>{escape(letters)}</mi>"
        for mark in marks:
            tag = "munder" if mark == "\u0332" else "mover"
            found = f'<{tag} accent="true" accentunder="true">{found}<mo stretchy="false">{MARKS[mark]}</mo></{tag}>'
        return found

    def scripted(self) -> str:
        """One token with its index and its power."""
        kind, text = self.tokens[self.at]
        base, below, above = self.token(), "", ""
        if kind == "space" or text in {"(", "[", "{", "=", "+", "−", "·", "/", ","}:
            return base
        while self.at < len(self.tokens):
            following = self.peek()
            if following in {"_", "^"}:
                self.at += 1
                if following == "_":
                    below += self.group()
                else:
                    above += self.group()
            elif following in SUBSCRIPTS:
                self.at += 1
                below += f"<mn>{SUBSCRIPTS[following]}</mn>"
            elif following in SUPERSCRIPTS:
                self.at += 1
                sign = SUPERSCRIPTS[following]
                above += f"<mn>{sign}</mn>" if sign.isdigit() else f'<mo lspace="0" rspace="0">{sign}</mo>'
            else:
                break
        names = ("munder", "mover", "munderover") if text in LIMITS else ("msub", "msup", "msubsup")
        if below and above:
            return f"<{names[2]}>{base}<mrow>{below}</mrow><mrow>{above}</mrow></{names[2]}>"
        if below:
            return f"<{names[0]}>{base}<mrow>{below}</mrow></{names[0]}>"
        return f"<{names[1]}>{base}<mrow>{above}</mrow></{names[1]}>" if above else base


CELL = '<mtd style="text-align: left">'


def mathml(text: str) -> str:
    """A block of equations, a row for each line; lines with as many columns are aligned."""
    lines = [line for line in text.splitlines() if line.strip()]
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    wide = [re.sub(r'^("[^"]*")\s+', r"\1   ", line[indent:].rstrip()) for line in lines]
    cells = [re.split(r"\s{3,}", line) for line in wide]  # an indented line begins with an empty cell
    if not all(len(row) > 1 for row in cells):
        space = '<mspace width="2em"></mspace>'
        rows = [f"{CELL}{space.join(Line(cell).row() for cell in row)}</mtd>" for row in cells]
    else:
        rows = ["".join(f"{CELL}{Line(cell).row()}</mtd>" for cell in row) for row in cells]
    body = "".join(f"<mtr>{row}</mtr>" for row in rows)
    return f'<math display="block"><mtable displaystyle="true" >{body}</mtable></math>'


def is_equation(text: str) -> bool:
    """Whether an indented block is one: it has signs of mathematics, and none of a screen or a program."""
    screen = re.search(r"[─│█═]|>>>|^\s*[$-]|\w\(\w+=", text, re.MULTILINE)
    return screen is None and re.search(r"[‖₊₀⁺Σ√∫≤≥½²ᵀ∈]|[γâ*)] =|_[ijz] =", text) is not None


#: A name with an index in running text; words with an underscore, such as names of solvers, are left alone.
INDEXED = re.compile(
    rf"(?<![\w.])(?:Σ|‖[^‖\n]{{1,30}}‖|min|max|mean|bAUC|bPOE|{LETTER})[⁺⁻²*]?"
    r"_(?:\{[^}\n]{1,40}\}|\*|[^\W_]{1,3}(?!\w))[⁺⁻²*]?"
)
#: A code span of one letter, which is a variable of an equation unless it is an argument of `fit`.
VARIABLE = re.compile(r"(?![XyC]\b)[A-Za-z](?:_[a-z]{1,2})?(?: [=<>] (?:\d+|[a-z]_[a-z]))?")
#: In a code span: signs of mathematics, and those of a program or a command.
SIGNS, CODE = (
    re.compile(r"[‖₊₀⁺⁻Σ√∫≤≥½²ᵀ∈·∞∂α-ωΑ-Ω↦−ÂĜŜ\u0302]|\bE(?:_[a-z])? [a-z]\(|_\{\("),
    re.compile(rf"[\"→…]|'\w{{2,}}|--|\.\w|\w=\w|(?!{WHOLE})[a-z]{{2,}}_[a-z]{{3,}}|[a-z]{{6,}}"),
)


def typeset(app: Sphinx, doctree: nodes.document) -> None:
    """Indented blocks, code spans of mathematics and indexed names of a page that has just been read."""
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") in {None, "default", "none"} and is_equation(block.astext()):
            html = f'<div class="equation" tabindex="0">{mathml(block.astext())}</div>'
            block.replace_self(nodes.raw("", html, format="html"))
    for span in list(doctree.findall(nodes.literal)):
        text = span.astext()
        mathematical = VARIABLE.fullmatch(text) or (SIGNS.search(text) and not CODE.search(text))
        if mathematical and not isinstance(span.parent, nodes.reference):
            span.replace_self(inline(text))
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, nodes.paragraph | nodes.entry | nodes.emphasis | nodes.strong):
            continue
        if isinstance(text.parent.parent, nodes.term):
            continue  # the name of a parameter
        parts: list[nodes.Node] = []
        end = 0
        for match in INDEXED.finditer(text):
            parts += [nodes.Text(text[end : match.start()]), inline(match.group())]
            end = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def inline(text: str) -> nodes.raw:
    """An equation within a line."""
    return nodes.raw("", f"<math>{Line(text).row()}</math>", format="html")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("doctree-read", typeset)
    return {"parallel_read_safe": True}
