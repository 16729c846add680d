"""`auclab push`: list runs that are stored in their folders only, or send them to the store."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from auclab.pipeline.screen.console import err, out, short_path
from auclab.pipeline.screen.notes import show_notes
from auclab.tracking.kept import KEPT_FILE, KeptRun, find_kept
from auclab.types import AuclabError

#: Default folders of runs and sweeps.
PLACES = ("outputs", "multirun")

#: Least length of an abbreviated id.
FEWEST_LETTERS = 4


def push(arguments: Namespace) -> int:
    """List unsent runs, or send runs; exit code 1 if one of them could not be sent."""
    show_notes()
    if not arguments.runs:
        return _list(_below(map(Path, PLACES)))
    kept = [each for word in arguments.runs for each in _named(word)]
    waiting = [each for each in {each.folder: each for each in kept}.values() if each.pushed is None]
    for each in kept:
        if each.pushed is not None:
            out.print(f"{each.name}: sent before, run {each.pushed[:8]}", soft_wrap=True, markup=False)
    if not kept:
        raise AuclabError(f"no run waits in {', '.join(arguments.runs)}")
    failed = 0
    for each in waiting:
        from auclab.tracking.push import push as send  # imports MLflow

        try:
            sent = send(each, arguments.store)
        except AuclabError as error:
            failed += 1
            err.print(f"error: {' '.join(str(error).split())}", soft_wrap=True, markup=False)
            continue
        words = "was there already" if sent.before else "sent"
        out.print(f"{each.name}: {words}, run {sent.run_id} in {sent.store}", soft_wrap=True, markup=False)
    if waiting:
        left = f", {failed} still wait" if failed else ""
        out.print(f"pushed {len(waiting) - failed} of {len(waiting)}{left}", soft_wrap=True)
    return int(failed > 0)


def _list(kept: Sequence[KeptRun]) -> int:
    """One line per run, oldest first."""
    waiting = sorted((each for each in kept if each.pushed is None), key=lambda each: each.end_time)
    for each in waiting:
        ended = datetime.fromtimestamp(each.end_time / 1000, UTC).astimezone()
        out.print(f"{each.id[:8]}  {ended:%Y-%m-%d %H:%M}  {each.name}", soft_wrap=True, markup=False)
        out.print(f"          {short_path(each.folder)} → {each.store}: {each.reason}", soft_wrap=True, markup=False)
    place = " and ".join(f"./{name}" for name in PLACES)
    if waiting:
        out.print(f"{len(waiting)} waiting below {place}; auclab push all sends them", soft_wrap=True)
    else:
        out.print(f"no run waits below {place}", soft_wrap=True)
    return 0


def _below(places: Iterable[Path]) -> list[KeptRun]:
    found = []
    for place in places:
        found += list(find_kept(place.absolute())) if place.is_dir() else []
    return found


def _named(word: str) -> list[KeptRun]:
    """The runs that an argument names: those in a folder, all, or one by its id, its first letters, or its name."""
    path = Path(word)
    if path.is_dir():
        return _below([path])
    if path.name == KEPT_FILE and path.is_file():
        return [KeptRun.read(path.parent.absolute())]
    every = _below(map(Path, PLACES))
    if word == "all":
        return every
    found = [each for each in every if len(word) >= FEWEST_LETTERS and each.id.startswith(word)]
    found = found or [each for each in every if each.name == word]
    if len(found) != 1:
        count = f"{len(found)} runs are" if found else "no folder and no run is"
        hint = (
            f"say which by its id: {', '.join(each.id[:8] for each in found[:6])}"
            if found
            else "auclab push lists them"
        )
        raise AuclabError(f"{count} called {word!r}; {hint}")
    return found
