"""A scorer in another language, by its name."""

from __future__ import annotations

import json

from auclab.export.onnx import to_onnx
from auclab.export.scorer import Scorer
from auclab.export.sql import to_sql
from auclab.types import AuclabError

LANGUAGES = ("json", "sql", "onnx")


def export_scorer(scorer: Scorer, language: str) -> str | bytes:
    """The scorer as text, or as bytes of an ONNX model.

    `language`: ``json`` is what ``scorer.json`` says (docs/models.md).
    """
    if not scorer.is_formula:
        raise AuclabError(
            f"{scorer.what} is not a formula over the columns, so that it cannot be exported; auclab predict scores "
            "new rows with it"
        )
    if language == "json":
        return json.dumps(scorer.description, indent=2, ensure_ascii=False) + "\n"
    if language == "sql":
        return to_sql(scorer)
    if language == "onnx":
        return to_onnx(scorer)
    raise AuclabError(f"a scorer is exported to {', '.join(LANGUAGES)}, not to {language!r}")
