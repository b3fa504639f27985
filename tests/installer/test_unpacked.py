"""Skills that are unpacked in the cache."""

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
