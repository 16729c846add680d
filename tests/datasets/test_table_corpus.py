"""Small tables as their owners have them: what inspect has to find in each, and its printed command is accepted."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auclab._core.words import LINES
from auclab.cli import main as cli
from auclab.datasets import inspect_file
from auclab.runs.config.checks import check_data, check_settings
from auclab.runs.experiment import solve_splits
from composed import composed

N = 160
RNG = np.random.default_rng(11)
K = np.arange(N)
Y = RNG.permutation(np.repeat([0, 1], [110, 50]))
YES = np.where(Y == 1, "yes", "no")
SIZE = (RNG.normal(size=N) + Y).round(3)
AMOUNT = RNG.lognormal(8, 1, N).round(2)
LONG = RNG.choice(9 * 10**8, N, replace=False) + 10**8
SHUFFLED = RNG.permutation(N)
PEOPLE = RNG.permutation(np.repeat(np.arange(40), 4))
OF_PEOPLE = RNG.integers(0, 2, 40)[PEOPLE]
DAYS = pd.Timestamp("2023-01-01") + pd.to_timedelta(SHUFFLED * 2, "D")
WAIT = RNG.exponential(300, N).round() + 1


@dataclass(frozen=True)
class Table:
    """Columns, and what is found: the column with labels, the positive one, what is left out, leaks, other settings."""

    columns: dict[str, Any]
    target: str = "y"
    positive: str = "1"
    drop: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)
    split: tuple[str, ...] = ()


TABLES = {
    # counts and amounts are features, whatever they are called
    "hospital": Table(
        {"number_inpatient": RNG.poisson(1, N), "time_in_hospital": RNG.integers(1, 15, N), "size": SIZE, "y": Y}
    ),
    "hotel": Table(
        {"arrival_date_week_number": RNG.integers(1, 54, N), "lead_time": RNG.integers(0, 400, N), "is_canceled": Y},
        target="is_canceled",
    ),
    "bank": Table({"Customer_Age": RNG.integers(26, 71, N), "AMOUNT_PAID": AMOUNT, "y": Y}),
    "incomes": Table({"income": (AMOUNT * 100).round().astype(int), "size": SIZE, "y": Y}),
    "prices": Table({"price": RNG.permutation(N) * 500 + 100_000, "size": SIZE, "y": Y}),
    # identifiers
    "clients": Table({"CLIENTNUM": LONG, "size": SIZE, "y": Y}, drop=("CLIENTNUM",)),
    "loans": Table(
        {"LoanNr_ChkDgt": 10 * LONG + LONG % 7, "size": SIZE, "Default": Y}, "Default", drop=("LoanNr_ChkDgt",)
    ),
    "nearly": Table({"ID": np.r_[LONG[:-1], LONG[0]], "size": SIZE, "y": Y}, drop=("ID",)),
    "rownames": Table({"rownames": K + 1, "size": SIZE, "y": Y}, drop=("rownames",)),
    "shuffled numbers": Table({"nr": SHUFFLED, "size": SIZE, "y": Y}, drop=("nr",)),
    "codes": Table({"code": [f"C-{k}" for k in K], "size": SIZE, "y": Y}, drop=("code",)),
    # groups
    "patients": Table(
        {"pid": 7001 + 3 * PEOPLE, "size": SIZE, "y": OF_PEOPLE},
        drop=("pid",),
        split=("split=grouped", "split.column=pid"),
    ),
    "named patients": Table(
        {"patient": [f"P{each}" for each in PEOPLE], "size": SIZE, "y": Y},
        drop=("patient",),
        split=("split=grouped", "split.column=patient"),
    ),
    "ages": Table({"age": RNG.integers(20, 60, N) + 9 * Y, "size": SIZE, "y": Y}),
    "cities": Table({"city": [f"{'abcdefgh'[k % 8]}-town" for k in RNG.integers(0, 99, N)], "size": SIZE, "y": Y}),
    # labels
    "decimals": Table({"size": SIZE, "exang": Y.astype(float)}, "exang"),
    "words": Table({"size": SIZE, "left": YES}, "left", "yes"),
    "truth": Table({"size": SIZE, "sick": Y == 1}, "sick", "True"),
    "signs": Table({"size": SIZE, "y": 2 * Y - 1}),
    "rare": Table({"size": SIZE, "grade of fat": np.where(Y == 1, "bad", "good")}, "grade of fat", "bad"),
    # targets
    "attrition": Table(
        {"Attrition_Flag": np.where(Y == 1, "Attrited", "Existing"), "Gender": RNG.choice(["F", "M"], N), "size": SIZE},
        "Attrition_Flag",
        "Attrited",
    ),
    "fraud": Table({"Sex": RNG.choice(["F", "M"], N), "FraudFound_P": Y, "size": SIZE}, "FraudFound_P"),
    "readmitted": Table(
        {"readmitted": YES, "size": SIZE, "change": RNG.choice(["Ch", "No"], N)}, target="readmitted", positive="yes"
    ),
    "three labels": Table(
        {"size": SIZE, "readmitted": np.where(Y == 1, "<30", RNG.choice(["NO", ">30"], N))}, "readmitted", "<30"
    ),
    "last": Table({"sex": RNG.choice(["f", "m"], N), "size": SIZE, "ok": Y}, "ok"),
    "first": Table({"ok": Y, "smokes": RNG.choice(["f", "m"], N), "size": SIZE}, "ok"),
    # censored times, queries
    "lung": Table(
        {"time": WAIT, "status": Y + 1, "sex": RNG.integers(1, 3, N), "size": SIZE},
        "status",
        "2",
        more={"time": "time"},
    ),
    "alive": Table(
        {"size": SIZE, "days": WAIT, "vital_status": np.where(Y == 1, "Dead", "Alive")},
        *("vital_status", "Dead"),
        more={"time": "days"},
    ),
    "every event": Table({"size": SIZE, "futime": WAIT, "died": 1}, "died", more={"time": "futime"}),
    "queries": Table(
        {"qid": np.repeat(np.arange(16), 10), "f1": SIZE, "f2": RNG.integers(0, 2, N), "relevance": (SHUFFLED + Y) % 4},
        *("relevance", ""),
        more={"group": "qid", "graded": True},
    ),
    "clicks in queries": Table(
        {"query_id": np.repeat(np.arange(16), 10), "f1": SIZE, "y": Y}, more={"group": "query_id"}
    ),
    # leaks, of seven kinds
    "other words": Table({"status": np.where(Y == 1, "CHGOFF", "PIF"), "size": SIZE, "y": Y}, leaks=("status",)),
    "copy": Table({"flag": 5 - 2 * Y, "size": SIZE, "y": Y}, leaks=("flag",)),
    "gaps": Table({"loss": np.where(Y == 1, AMOUNT, np.nan), "size": SIZE, "y": Y}, leaks=("loss",)),
    "made of it": Table({"score": (Y + RNG.normal(0, 0.1, N)).round(4), "size": SIZE, "y": Y}, leaks=("score",)),
    "default": Table({"fee": np.where(Y == 1, AMOUNT, -1.0), "size": SIZE, "y": Y}, leaks=("fee",)),
    "reasons": Table(
        {"reason": np.where(Y == 1, RNG.choice(["late", "lost", "rude"], N), None), "size": SIZE, "y": Y},
        leaks=("reason",),
    ),
    "dates": Table(
        {"closed": (pd.Series(DAYS).where(Y == 1)).dt.strftime("%d.%m.%Y"), "size": SIZE, "y": Y}, leaks=("closed",)
    ),
    # long lists
    "many": Table(
        {**{f"id_{k}": RNG.permutation(N) for k in range(LINES + 5)}, "size": SIZE, "y": Y},
        drop=tuple(f"id_{k}" for k in range(LINES + 5)),
    ),
    "copies of columns": Table({"size": SIZE, "again": SIZE, "y": Y}, drop=("again",)),
    "strange names": Table({"Kunde; Nr.": LONG, "größe, cm": SIZE, "it's y": Y}, "it's y", drop=("Kunde; Nr.",)),
}


def written(folder: Path, table: Table) -> Path:
    path = folder / "my.csv"
    pd.DataFrame(table.columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", TABLES)
def test_what_is_found(tmp_path: Path, name: str) -> None:
    table = TABLES[name]
    found = inspect_file(written(tmp_path, table))
    assert found.target is not None
    assert (found.target.name, found.target.positive) == (table.target, table.positive)
    assert tuple(found.gathered("drop")) == table.drop
    assert [column for column in table.columns if any(f"'{column}'" in said for said in found.leaks)] == list(
        table.leaks
    )
    assert {key: found.settings[key] for key in table.more} == table.more
    assert tuple([] if found.split is None else found.split.words) == table.split
    assert found.problems == ()


@pytest.mark.parametrize("name", TABLES)
def test_the_command_is_accepted_as_it_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = written(tmp_path, TABLES[name])
    with pytest.raises(SystemExit):
        cli.main(["inspect", str(path)])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("run it")]
    words = shlex.split(line.removeprefix("run it"))
    assert words[:3] == ["auclab", "run", "dataset=file"]
    assert "…" not in line
    experiment = composed(words[2:])
    check_settings(experiment)
    dataset, _ = check_data(experiment)
    assert not set(dataset.X) & {TABLES[name].target, *TABLES[name].drop}
    if name in ("other words", "lung", "queries", "patients"):
        result = solve_splits(experiment)
        assert any(TABLES[name].leaks) == bool(result.leaks)
        assert all(f"'{column}'" in said for column in TABLES[name].leaks for said in result.leaks)
