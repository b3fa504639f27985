"""Old flat files are told by `list` and `doctor` as `migrate` sees them, and `migrate` is what is named."""

import json

from commands.scene import Scene, text
from kit import under

HERE = ".agent-skills"
FLAT = "---\nname: {0}\ndescription: Does {0}.\n---\n"


def test_list_counts_what_migrate_takes_for_skills(scene: Scene) -> None:
    files = {"a.md": FLAT.format("a"), "tools/b.md": "# B\n", "notes.md": "words\n", "README.md": "# Ours\n"}
    files |= {"told.md": "words\n", "pictures/x.png": "x", "empty.md": "\n"}
    files |= {"skills.json": json.dumps({"skills": [{"name": "told", "filePath": "told.md"}]})}
    scene.write_files(under(f"../home/{HERE}", files))

    assert scene.tell("list", "-g").splitlines()[-1] == text(
        "! 3 flat files lie here: `skillpm migrate -g --dry-run` says what becomes of them"
    )
    assert [move["from"] for move in scene.json("migrate", "-g")["moved"]] == ["a.md", "tools/b.md", "told.md"]
    assert "flat file" not in scene.tell("list", "-g")


def test_doctor_names_migrate_for_a_registry_that_was_made_by_hand(scene: Scene) -> None:
    old = json.dumps({"skills": [{"name": "a", "filePath": "a.md"}]})
    scene.write_files(under(f"../home/{HERE}", {"a.md": FLAT.format("a"), "skills.json": old}))

    assert (
        scene.tell("doctor", "-g").splitlines()[:3]
        == text("""\
problem: this skills.json was made by hand, and is no registry of what lies here
    where: HOME/.agent-skills/skills.json
    try: `skillpm migrate -g --dry-run` says what becomes of it; nothing that it says gets lost
""").splitlines()
    )
    scene.run("migrate", "-g", check=True)
    assert scene.run("doctor", "-g").code == 0


def test_doctor_notes_flat_files_without_any_registry(scene: Scene) -> None:
    scene.write_files(under(f"../home/{HERE}", {"a.md": FLAT.format("a")}))

    said = scene.tell("doctor", "-g")

    assert (
        text("""\
note: 1 flat file here could be skills: a.md
    where: HOME/.agent-skills
    try: `skillpm migrate -g --dry-run` says what becomes of it
""")
        in said
    )
