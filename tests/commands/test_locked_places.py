"""A lockfile leads to the places that the manifest names, and to no other, also of the kinds that need no network."""

import json

from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths


def dump(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def test_a_lockfile_does_not_turn_a_copy_into_a_live_link(project: CommandSandbox) -> None:
    project.write_files(prefix_paths("own/house", make_skill("house")))
    linked = CommandSandbox(project.root / "linked").create_project()
    linked.write_files(prefix_paths("own/house", make_skill("house")))
    linked.run("install", "./own/house", "--link", check=True)
    project.run("install", "./own/house", check=True)
    lockfile, forged = project.read_json("skills.lock"), linked.read_json("skills.lock")
    forged["requirements"] = lockfile["requirements"]
    project.write("skills.lock", dump(forged))

    assert project.output("sync", "--frozen") == expected_output("""\
! error: `house` is locked to link:./own/house, but the manifest specifies another source
!   where: WORK/skills.lock: skills.house.source
!   hint: if the manifest was changed, run `skillpm lock`; otherwise, check who changed the lockfile
[1]
""")


def test_a_bundled_skill_does_not_stand_in_for_one_of_an_index(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    lockfile = project.read_json("skills.lock")
    wanted = {"version": ">=1", "index": "acme"}
    lockfile["requirements"] = {"testing": wanted}
    project.write("skills.lock", dump(lockfile))
    project.write("skills.json", dump({"skills": {"testing": wanted}, "indexes": [{"name": "acme", "url": "./shelf"}]}))

    assert project.output("sync", "--frozen") == expected_output("""\
! error: `testing` is locked to bundled:testing, but the manifest specifies another source
!   where: WORK/skills.lock: skills.testing.source
!   hint: if the manifest was changed, run `skillpm lock`; otherwise, check who changed the lockfile
[1]
""")
