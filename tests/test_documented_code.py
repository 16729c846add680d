"""The Python blocks of the pages run, page by page, on small data under the names that the pages use.

`ELSEWHERE` names the pages with tests of their own. Programs of the gallery and the tutorials are run by the build of
the site; tests/documented.py lists every block and what runs it.
"""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import auclab
from auclab.estimators import AUCClassifier
from auclab.metrics import ScoreSummary, score_edges
from documented import BLOCKS, BUILT, ELSEWHERE, NO_CODE, SHOWN, listed
from links import link

PYTHON = {
    page: [block.text for block in BLOCKS if (block.page, block.language) == (page, "python")]
    for page in sorted({block.page for block in BLOCKS if block.language == "python"} - set(ELSEWHERE))
}


def names_of_the_pages() -> dict[str, object]:
    """Rows of two classes that a line separates nearly, scores, groups, prices, and a search."""
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
        "w": rng.uniform(1, 2, 120),
        "scores": X["debt"].to_numpy(),
        "scores_a": X["debt"].to_numpy(),
        "scores_c": np.random.default_rng(1).normal(size=len(X)),
        "patient": np.arange(len(X)) // 2,
        "scores_b": X["age"].to_numpy(),
        "prices": [1.0, 2.0, 3.0],
        "groups": np.tile(["a", "b"], 60),
        "model": AUCClassifier("csvm"),
        "grid": {"penalty": [0.01, 0.1]},
        "sample_pos": scores[250:],
        "sample_neg": scores[:250],
        "y_block": labels,
        "s_block": scores,
        "received": [ScoreSummary.from_scores(labels, scores, edges=edges).to_bytes()] * 2,
        "ScoreSummary": ScoreSummary,
        "score_edges": score_edges,
    }


#: How a line of code begins that a reader could take for a command or for Python.
LIKE_CODE = re.compile(
    r"^(\$ |>>> |([A-Z_]+=\S+ )?(python|auclab|pip|mlflow|curl|export|git|uv|pytest) |from |import )", re.M
)


def test_every_block_is_run_or_no_code():
    """A fence of another language needs something that runs it; an indented block is a formula or a screen."""
    assert {block.language for block in BLOCKS} <= {*NO_CODE, *SHOWN, *BUILT, "bash", "python", "pycon", "yaml"}
    assert [block for block in BLOCKS if block.language == "indented" and LIKE_CODE.search(block.text)] == []
    assert len(list(listed())) > 200


def test_pages_have_code():
    assert {"README.md", "docs/index.md", "docs/start.md", "docs/kernels.md", "docs/security.md"} <= set(PYTHON)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own
@pytest.mark.parametrize("page", PYTHON)
def test_the_blocks_of_a_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    monkeypatch.chdir(tmp_path)
    names = names_of_the_pages()
    texts = {"DaskEngine(workers=4)": "None"}  # a cluster is started by tests/samples
    if page == "docs/blocks.md":
        Path("FOLDER").mkdir()
        names["X"].assign(y=names["y"]).to_parquet("FOLDER/part0.parquet")
    elif page == "docs/merged_metrics.md":
        names["y"] = np.repeat([0, 1], 500_000)
        names["s"] = np.random.default_rng(0).normal(size=1_000_000) + names["y"]
    elif page == "docs/own_pieces.md":
        texts = {"from pieces import *": "import numpy as np, pandas as pd"}  # the blocks themselves
    elif page == "docs/security.md":
        kept = request.getfixturevalue("store")
        link(Path("mlruns"), kept)
        names["folder"] = next(path.parent.parent for path in kept.glob("artifacts/*/artifacts/model/scorer.json"))
        texts = {"<run id>": names["folder"].parent.name}
    lacks_dask = importlib.util.find_spec("dask") is None
    for block in PYTHON[page]:
        if lacks_dask and "import dask" in block:
            continue
        for shown, real in texts.items():
            block = block.replace(shown, real)
        exec(compile(block, page, "exec"), names)
        for line in re.findall(r"^summary.*# Interval.*$", block, re.MULTILINE):
            call, shown = line.split("  # ")
            digits = [len(number.partition(".")[2]) for number in re.findall(r"[\d.]+", shown)]
            found = eval(call, names)
            assert shown == f"Interval(low={found.low:.{digits[0]}f}, high={found.high:.{digits[1]}f})"
