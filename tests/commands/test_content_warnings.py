"""Skills that declare another name, and Git LFS pointers, are reported where they are installed."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import Repository, make_skill, prefix_paths

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"


def clone(project: CommandSandbox, path: Path) -> CommandSandbox:
    other = CommandSandbox(path)
    for document in ("skills.json", "skills.lock"):
        other.write(document, project.read(document))
    return other


def test_another_name_is_reported_by_install_and_sync(
    project: CommandSandbox, upstream: Repository, url: str, tmp_path: Path
) -> None:
    project.write("skills.json", manifest_text(reader={"git": url, "path": "skills/pdf"}))
    message = "the SKILL.md of `reader` declares the name `pdf`, and some agents show that one"

    assert project.json_output("sync")["warnings"] == [message]
    assert project.json_output("sync")["warnings"] == []
    assert clone(project, tmp_path / "clone").json_output("sync", "--frozen")["warnings"] == [message]
    upstream.write({"skills/pdf/notes.md": "New.\n"}).commit()
    assert project.json_output("update")["warnings"] == [message]


def test_many_other_names_are_summarized(project: CommandSandbox, tmp_path: Path) -> None:
    names = ["a", "b", "c", "d", "e"]
    for name in names:
        project.write_files(prefix_paths(f"../own/{name}", make_skill(f"{name}-skill")))
    project.write("skills.json", manifest_text(**{name: {"path": f"../own/{name}"} for name in names}))

    assert project.json_output("sync")["warnings"] == [
        "5 SKILL.md files declare another name, and some agents show that one: "
        "`a` (`a-skill`), `b` (`b-skill`), `c` (`c-skill`) and 2 more"
    ]


def test_a_git_lfs_pointer_is_reported_by_install_and_sync(
    project: CommandSandbox, upstream: Repository, url: str, tmp_path: Path
) -> None:
    upstream.write({"skills/pdf/model.bin": POINTER}).commit()
    message = (
        "pdf: model.bin is a Git LFS pointer, not the content, which skillpm does not fetch; ask its author to commit "
        "the file without LFS"
    )

    assert project.json_output("install", f"{url}@pdf")["warnings"] == [message]
    assert project.json_output("sync")["warnings"] == []
    assert clone(project, tmp_path / "clone").json_output("sync", "--frozen")["warnings"] == [message]


def test_a_git_lfs_pointer_in_a_local_folder_is_reported_by_install_and_validate(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("mine", make_skill("mine") | {f"{name}.bin": POINTER for name in "abcd"}))

    assert project.json_output("install", "./mine")["warnings"] == [
        "mine: a.bin, b.bin, c.bin and 1 more are Git LFS pointers, not the content, which skillpm does not fetch; "
        "run `git lfs pull` there, then sync"
    ]
    findings = project.json_output("validate", "mine")["skills"][0]["findings"]
    assert [(each["code"], each["level"]) for each in findings] == [("lfs-pointer", "warning")] * 4
    assert findings[0]["message"] == expected_output(
        "`a.bin` is a Git LFS pointer, and skillpm installs it as it is; commit the file itself (`git lfs untrack`)"
    )


@pytest.mark.parametrize("text", [POINTER + "x" * 1024, "See version https://git-lfs.github.com/spec/v1\n"])
def test_other_files_are_not_pointers(project: CommandSandbox, text: str) -> None:
    project.write_files(prefix_paths("mine", make_skill("mine") | {"a.md": text}))

    assert project.json_output("install", "./mine")["warnings"] == []
