"""The code of a job: another hash for changed code, the same for changed documentation, the version of a wheel."""

import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

from auclab.runs.tracking import environment
from auclab.runs.tracking.environment import CODE_PATHS, code_of, code_version, hash_files
from composed import REPOSITORY


@pytest.fixture
def checkout(tmp_path):
    for name, text in {
        "src/auclab/solve.py": "x = 1\n",
        "src/auclab/runs/tracking/environment.py": "",
        "conf/config.yaml": "seed: 0\n",
        "run.py": "main()\n",
        "pyproject.toml": "",
        "docs/page.md": "text\n",
        "tests/test_solve.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("changed", ["src/auclab/solve.py", "conf/config.yaml", "run.py", "src/auclab/new.py"])
def test_changed_code_has_another_hash_and_reverted_code_the_same(checkout, changed):
    before = hash_files(checkout, CODE_PATHS)
    file = checkout / changed
    old = file.read_text(encoding="utf-8") if file.exists() else None
    file.write_text(f"{old}# changed\n", encoding="utf-8")
    assert hash_files(checkout, CODE_PATHS) != before
    file.unlink() if old is None else file.write_text(old, encoding="utf-8")
    assert hash_files(checkout, CODE_PATHS) == before


def test_a_moved_file_is_other_code(checkout):
    before = hash_files(checkout, CODE_PATHS)
    (checkout / "src" / "auclab" / "solve.py").rename(checkout / "src" / "auclab" / "other.py")
    assert hash_files(checkout, CODE_PATHS) != before


def test_documentation_tests_and_line_endings_do_not_count(checkout):
    before = hash_files(checkout, CODE_PATHS)
    (checkout / "docs" / "page.md").write_text("another text", encoding="utf-8")
    (checkout / "tests" / "test_solve.py").write_text("def test(): ...", encoding="utf-8")
    (checkout / "src" / "auclab" / "__pycache__").mkdir()
    (checkout / "src" / "auclab" / "__pycache__" / "solve.pyc").write_text("compiled", encoding="utf-8")
    (checkout / "src" / "auclab" / "solve.py").write_bytes(b"x = 1\r\n")
    assert hash_files(checkout, CODE_PATHS) == before


def test_a_checkout_is_known_by_its_files_and_a_wheel_by_its_version(checkout, monkeypatch):
    def here(file):
        monkeypatch.setattr(environment, "__file__", str(file))
        code_version.cache_clear()
        return code_version()

    try:
        assert here(checkout / "src/auclab/runs/tracking/environment.py") == f"files {hash_files(checkout, CODE_PATHS)}"
        shutil.copytree(checkout / "src" / "auclab", checkout / "lib" / "site-packages" / "auclab")
        assert (
            here(checkout / "lib/site-packages/auclab/runs/tracking/environment.py") == f"version {version('auclab')}"
        )
    finally:
        code_version.cache_clear()


def test_of_this_checkout_few_files_are_read_and_each_once(monkeypatch):
    """Some thirty milliseconds in every process."""
    assert Path(environment.__file__).is_relative_to(REPOSITORY / "src")
    expected, real, read = hash_files(REPOSITORY, CODE_PATHS), Path.read_bytes, []
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or real(path))
    assert code_version.__wrapped__() == f"files {expected}"
    assert 100 < len(read) == len(set(read)) < 2_000
    assert sum(path.stat().st_size for path in read) < 10_000_000


def test_a_changed_piece_of_the_users_is_other_code(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "own_piece.py"

    def code(configuration):
        environment._hash_of_own.cache_clear()  # read once per process
        return code_of(configuration)

    found = set()
    for text in ("x = 1\n", "x = 2\n"):
        file.write_text(text, encoding="utf-8")
        found.add(code({"dataset": {"_target_": "own_piece.two_moons"}}))
        by_path = {"metrics": [{"_target_": "hydra.utils.get_method", "path": "own_piece.weight"}]}
        found.add(code(by_path))
    assert len(found) == 2
    assert all(each.startswith(f"{code_version()}, pieces ") for each in found)
    library = {"formulation": {"_target_": "sklearn.svm.SVC", "loss": {"_target_": "auclab.losses.Hinge"}}}
    assert code(library) == code({"dataset": {"_target_": "nowhere.data"}}) == code_version()
