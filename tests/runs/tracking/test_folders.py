"""Files that are whole, and folders that come and go while others look."""

import shutil
import threading

from auclab._core.files import folders_with


def test_folders_that_are_removed_meanwhile_are_passed_over(tmp_path):
    for name in ("a", "b/c"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "run.json").touch()
    stop = threading.Event()

    def come_and_go():
        while not stop.is_set():
            for k in range(20):
                (tmp_path / f"b/c/{k}/staging").mkdir(parents=True)
            for k in range(20):
                shutil.rmtree(tmp_path / f"b/c/{k}")

    job = threading.Thread(target=come_and_go)
    job.start()
    try:
        for _ in range(40):
            assert folders_with(tmp_path, "run.json") == [tmp_path / "a", tmp_path / "b/c"]
    finally:
        stop.set()
        job.join()
    assert folders_with(tmp_path, "c") == [tmp_path / "b"]
