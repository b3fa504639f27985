"""Old flat files are told by `list` and `doctor` as `migrate` sees them, and `migrate` is what is named."""

import json

from commands.scene import CommandSandbox, expected_output
from kit import prefix_paths

HERE = ".agent-skills"
FLAT = "---\nname: {0}\ndescription: Does {0}.\n---\n"


def test_list_counts_what_migrate_takes_for_skills(scene: CommandSandbox) -> None:
    files = {"a.md": FLAT.format("a"), "tools/b.md": "# B\n", "notes.md": "words\n", "README.md": "# Ours\n"}
    files |= {"told.md": "words\n", "pictures/x.png": "x", "empty.md": "\n"}
    files |= {"skills.json": json.dumps({"skills": [{"name": "told", "filePath": "told.md"}]})}
    scene.write_files(prefix_paths(f"../home/{HERE}", files))

    assert scene.output("list", "-g").splitlines()[-1] == expected_output(
        "! 3 flat files lie here: `skillpm migrate -g --dry-run` says what becomes of them"
    )
    assert [move["from"] for move in scene.json_output("migrate", "-g")["moved"]] == ["a.md", "tools/b.md", "told.md"]
    assert "flat file" not in scene.output("list", "-g")


def test_doctor_names_migrate_for_a_registry_that_was_made_by_hand(scene: CommandSandbox) -> None:
    old = json.dumps({"skills": [{"name": "a", "filePath": "a.md"}]})
    scene.write_files(prefix_paths(f"../home/{HERE}", {"a.md": FLAT.format("a"), "skills.json": old}))

    assert (
        scene.output("doctor", "-g").splitlines()[:3]
        == expected_output("""\
problem: this skills.json was made by hand, and is no registry of what lies here
    where: HOME/.agent-skills/skills.json
    try: `skillpm migrate -g --dry-run` says what becomes of it; nothing that it says gets lost
""").splitlines()
    )
    scene.run("migrate", "-g", check=True)
    assert scene.run("doctor", "-g").code == 0


def test_doctor_notes_flat_files_without_any_registry(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths(f"../home/{HERE}", {"a.md": FLAT.format("a")}))

    said = scene.output("doctor", "-g")

    assert (
        expected_output("""\
note: 1 flat file here could be skills: a.md
    where: HOME/.agent-skills
    try: `skillpm migrate -g --dry-run` says what becomes of it
""")
        in said
    )
