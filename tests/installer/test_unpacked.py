"""Skills that are unpacked in the cache."""

import os
from pathlib import Path

import pytest
from kit import run_before_event

from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.names import SkillName
from skillpm.installer.unpacked import unpack_skill


@pytest.mark.parametrize("event", ["os.mkdir", "os.rename"])
def test_a_folder_that_another_process_has_just_put_there_is_used(tmp_path: Path, event: str) -> None:
    tree = FileTree(files=(TreeFile(path="SKILL.md", data=b"Do it.\n"),))
    folder = tmp_path / "unpacked" / tree.digest.removeprefix("sha256:") / "pdf"

    def be_faster() -> None:
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_bytes(b"Do it.\n")
        (folder / "SKILL.md").chmod(0o644)
        written.append((folder / "SKILL.md").stat().st_ino)

    written: list[int] = []
    with run_before_event(event, f"{folder}.", be_faster):
        unpacked = unpack_skill(str(tmp_path), SkillName("pdf"), tree, "")

    assert unpacked == str(folder)
    assert [(folder / "SKILL.md").stat().st_ino] == written  # its reader is not disturbed
    assert [path.name for path in folder.parent.iterdir()] == ["pdf"]


@pytest.mark.parametrize("linked", ["unpacked", "entry"])
def test_a_link_in_a_cache_leads_to_no_folder_of_the_user(tmp_path: Path, linked: str) -> None:
    tree = FileTree(files=(TreeFile(path="SKILL.md", data=b"Do it.\n"),))
    key = tree.digest.removeprefix("sha256:")
    home, cache = tmp_path / "home", tmp_path / "cache"
    precious = home / ("pdf" if linked == "entry" else f"{key}/pdf") / "precious.txt"
    precious.parent.mkdir(parents=True)
    precious.write_text("mine")
    link = cache / "unpacked" / key if linked == "entry" else cache / "unpacked"
    link.parent.mkdir(parents=True)
    link.symlink_to(home)

    unpacked = unpack_skill(str(cache), SkillName("pdf"), tree, "")

    assert Path(unpacked).resolve() == (cache / "unpacked" / key / "pdf").resolve()
    assert [path.name for path in precious.parent.iterdir()] == ["precious.txt"]
    assert not link.is_symlink()


def test_a_pipe_in_place_of_an_empty_file_is_not_opened(tmp_path: Path) -> None:
    tree = FileTree(files=(TreeFile(path="SKILL.md", data=b"Do it.\n"), TreeFile(path="empty", data=b"")))
    folder = Path(unpack_skill(str(tmp_path), SkillName("pdf"), tree, ""))
    (folder / "empty").unlink()
    os.mkfifo(folder / "empty")

    unpack_skill(str(tmp_path), SkillName("pdf"), tree, "")

    assert (folder / "empty").is_file()
