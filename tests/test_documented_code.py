"""The Python blocks of the pages run, page by page, on small data under the names that the pages use.

bounds.md, constraints.md, own_models.md and scikit_learn.md have tests of their own, which compare what they print;
programs of the gallery and the tutorials are run by the build of the site.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import auclab
from auclab.metrics import ScoreSummary, score_edges
from test_documents import PAGES, ROOT

#: Pages with tests of their own, and one whose block needs a Dask cluster (tests/samples/test_dask_input.py).
ELSEWHERE = {"bounds.md", "constraints.md", "own_models.md", "blocks_at_scale.md"}
FENCED = {
    page.name: re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for page in PAGES
    if (page.parent in (ROOT, ROOT / "docs") and page.name not in ELSEWHERE)
}
RUN = sorted(name for name, blocks in FENCED.items() if blocks)


def names_of_the_pages() -> dict[str, object]:
    """Rows of two classes that a line separates nearly, scores, groups and prices."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = pd.DataFrame(rng.normal(size=(120, 3)) + 3 * y[:, None], columns=["debt", "income", "age"])
    scores = rng.normal(size=500) + np.repeat([0, 1], 250)
    labels = np.repeat([0, 1], 250)
    edges = score_edges(scores[250:], scores[:250])
    return {
        "auclab": auclab,
        "X": X,
        "X_new": X[:5],
        "y": y,
        "s": X["debt"].to_numpy(),
        "prices": [1.0, 2.0, 3.0],
        "groups": np.tile(["a", "b"], 60),
        "sample_pos": scores[250:],
        "sample_neg": scores[:250],
        "y_block": labels,
        "s_block": scores,
        "received": [ScoreSummary.from_scores(labels, scores, edges=edges).to_bytes()] * 2,
        "ScoreSummary": ScoreSummary,
        "score_edges": score_edges,
    }


def test_pages_have_code():
    assert {"README.md", "index.md", "start.md", "kernels.md", "merged_metrics.md"} <= set(RUN)


@pytest.mark.parametrize("page", RUN)
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names = names_of_the_pages()
    if page == "blocks.md":
        Path("FOLDER").mkdir()
        names["X"].assign(y=names["y"]).to_parquet("FOLDER/part0.parquet")
    for block in FENCED[page]:
        code = block.replace("DaskEngine(workers=4, keep_gb=2.0)", "None")  # a cluster is started by tests/samples
        exec(compile(code, page, "exec"), names)
