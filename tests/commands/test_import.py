"""Taking over from other tools: files of the exact shape that the tools wrote, made of real repositories."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths

pytestmark = pytest.mark.slow

# What `skills` 1.7.4 writes down of skills/pdf and skills/docx of the repository below, as its run gave it.
PDF_SUM = "3bb0ab3dd683d7df328ebcddc3da592252cbccb1a4d113de0f8343beafc4cdc2"
DOCX_SUM = "abc3d6db88d0b22ac26dd40e363aacf361bdaaff8270d980362ea0de9f0b4912"
PDF = make_skill("pdf", "Reads PDF files.") | {
    "scripts/read.sh": b"#!/bin/sh\necho read\n",
    "assets/Über.txt": b"x\n",
    "README.md": b"about\n",
    "a_b.md": b"1",
    "a-b.md": b"2",
}
DOCX = make_skill("docx", "Writes Word files.")
SETTLED = "nothing to do: 2 skills in WORK/.agent-skills\n! 2 of 2 skills are what the lockfile says\n"


@pytest.fixture
def acme(tmp_path: Path) -> Repository:
    """Give a repository of two skills, tagged `v1.0.0`; on its branch docx has moved on since."""
    repository = Repository.create(tmp_path / "acme")
    repository.write(
        prefix_paths("skills/pdf", PDF) | prefix_paths("skills/docx", DOCX), executable=["skills/pdf/scripts/read.sh"]
    )
    repository.commit("first")
    repository.tag("v1.0.0")
    repository.write(prefix_paths("skills/docx", make_skill("docx", "Writes Word files, newer."))).commit("second")
    return repository


@pytest.fixture
def there(scene: CommandSandbox, acme: Repository) -> CommandSandbox:
    """Give a folder under git where github.com/acme/skills is that repository."""
    scene.redirect_git("https://github.com/acme/skills", acme.file_url)
    (scene.work / ".git").mkdir()
    return scene


def lay(scene: CommandSandbox, folder: str = ".claude/skills") -> None:
    """Lay pdf of now and docx of v1.0.0 where a host reads them, as the other tools copy them."""
    scene.write_files(prefix_paths(f"{folder}/pdf", PDF) | prefix_paths(f"{folder}/docx", DOCX))
    (scene.work / folder / "pdf/scripts/read.sh").chmod(0o755)


def vercel(**entries: dict[str, Any]) -> str:
    return json.dumps({"version": 1, "skills": entries}, indent=2) + "\n"


VERCEL = vercel(
    docx={
        "source": "acme/skills",
        "ref": "v1.0.0",
        "sourceType": "github",
        "skillPath": "skills/docx/SKILL.md",
        "computedHash": DOCX_SUM,
    },
    pdf={
        "source": "acme/skills",
        "sourceType": "github",
        "skillPath": "skills/pdf/SKILL.md",
        "computedHash": PDF_SUM,
    },
)


def settled(scene: CommandSandbox) -> str:
    """Say what `sync --frozen` and `verify` say."""
    return scene.output("sync", "--frozen") + scene.output("verify")


def commits(scene: CommandSandbox, lockfile: str = "skills.lock") -> dict[str, str]:
    skills = scene.read_json(lockfile)["skills"]
    return {name: skill["source"].get("commit", "") for name, skill in skills.items()}


def test_the_lock_of_vercels_skills_is_taken_over_with_what_lies_there(there: CommandSandbox, acme: Repository) -> None:
    there.write("skills-lock.json", VERCEL)
    lay(there)
    laid = there.snapshot(".claude")

    assert there.output("import") == expected_output("""\
 + docx 1.0.0
 + pdf HEAD
added 2: 2 skills in WORK/.agent-skills
! read skills-lock.json of skills (Vercel)
! docx: .claude/skills/docx is what was locked, and is taken over as it is
! pdf: .claude/skills/pdf is what was locked, and is taken over as it is
""").replace("HEAD", acme.resolve("main")[:7])
    assert there.read_json("skills.json") == {
        "$schema": "urn:skillpm:schema:manifest:1",
        "agents": ["claude-code"],
        "skills": {
            "docx": {"git": "https://github.com/acme/skills", "path": "skills/docx", "tag": "v1.0.0"},
            "pdf": {"git": "https://github.com/acme/skills", "path": "skills/pdf"},
        },
    }
    assert there.snapshot(".claude") == laid
    assert there.read("skills-lock.json") == VERCEL
    assert commits(there) == {"docx": acme.resolve("v1.0.0"), "pdf": acme.resolve("main")}
    assert settled(there) == SETTLED


def test_a_dry_run_says_the_same_and_writes_nothing(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    lay(there)
    before = there.full_snapshot

    said = there.run("import", "--dry-run", check=True)

    assert said.stdout.splitlines()[-1] == f"would have added 2: 2 skills in {there.work}/.agent-skills"
    assert there.full_snapshot == before
    assert there.run("import", check=True).stderr == said.stderr


def test_programs_get_one_object(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    lay(there)

    found = there.json_output("import", "--dry-run")

    assert list(found) == [
        *(
            "changed",
            "scope",
            "directory",
            "read",
            "adopted",
            "unknown",
            "left",
            "actions",
            "warnings",
            "links",
            "dryRun",
        ),
    ]
    assert found["links"]["made"] == [".claude/skills/docx", ".claude/skills/pdf"]
    assert found["read"] == [{"tool": "skills (Vercel)", "file": "WORK/skills-lock.json", "skills": 2}]
    assert found["adopted"] == [
        {"name": "docx", "path": ".claude/skills/docx"},
        {"name": "pdf", "path": ".claude/skills/pdf"},
    ]
    assert found["unknown"] == []


def test_a_commit_that_nobody_recorded_is_found_in_the_history_by_what_lies_here(
    there: CommandSandbox, acme: Repository
) -> None:
    """Vercel's lock follows the branch here, holds no commit, and upstream has moved twice since."""
    followed = json.loads(VERCEL)
    del followed["skills"]["docx"]["ref"]
    there.write("skills-lock.json", json.dumps(followed))
    lay(there)
    acme.write({"skills/docx/more.md": "More.\n"}).commit("third")

    said = there.run("import", check=True).stderr

    assert "docx: .claude/skills/docx is what was locked, and is taken over as it is" in said
    assert commits(there) == {"docx": acme.resolve("v1.0.0"), "pdf": acme.resolve("main")}
    assert there.read_json("skills.json")["skills"]["docx"] == {
        "git": "https://github.com/acme/skills",
        "path": "skills/docx",
    }
    assert settled(there) == SETTLED
    assert there.run("outdated", "--exit-code").code == 1


def test_what_cannot_be_found_is_locked_to_what_is_there_now_and_said(there: CommandSandbox, acme: Repository) -> None:
    there.write("skills-lock.json", VERCEL.replace('      "ref": "v1.0.0",\n', "").replace(DOCX_SUM, "0" * 64))
    lay(there)

    said = there.output("import")

    now = acme.resolve("main")[:7]
    assert said == expected_output(f"""\
 + docx {now}
 + pdf {now}
added 2: 2 skills in WORK/.agent-skills
! read skills-lock.json of skills (Vercel)
! pdf: .claude/skills/pdf is what was locked, but not all beside it; it is left as it is
! docx: .claude/skills/docx is not what is locked; it is left as it is
! docx: upstream has moved, and what was recorded is in no folder here: it is locked to what is there now ({now})
! next: `skillpm link claude-code` shows them to that agent
""")
    assert "agents" not in there.read_json("skills.json")
    assert settled(there) == SETTLED


def test_what_somebody_edited_stays_theirs(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    lay(there)
    there.write(".claude/skills/pdf/SKILL.md", "mine")
    laid = there.snapshot(".claude")

    said = there.run("import", check=True).stderr

    assert "pdf: .claude/skills/pdf is not what is locked; it is left as it is" in said
    assert there.snapshot(".claude") == laid
    assert settled(there) == SETTLED


def test_links_of_another_tool_are_left_and_told(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    lay(there, ".agents/skills")
    (there.work / ".claude/skills").mkdir(parents=True)
    (there.work / ".claude/skills/pdf").symlink_to("../../.agents/skills/pdf")

    said = there.run("import", check=True).stderr

    assert "pdf: .agents/skills/pdf is what was locked, and is taken over as it is" in said
    assert "pdf: .claude/skills/pdf is a link of another tool; it is left as it is" in said
    assert there.read_json("skills.json")["agents"] == ["universal"]
    assert settled(there) == SETTLED


def test_a_host_that_sees_what_was_adopted_through_the_tools_link_can_be_linked(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    lay(there, ".agents/skills")
    (there.work / ".claude/skills").mkdir(parents=True)
    (there.work / ".claude/skills/pdf").symlink_to("../../.agents/skills/pdf")
    there.run("import", check=True)

    assert there.run("link", "claude-code").code == 0

    assert there.render_tree(".claude/skills") == expected_output("""\
docx -> ../../.agent-skills/docx
pdf -> ../../.agents/skills/pdf
""")
    assert settled(there) == SETTLED


def test_a_link_of_another_tool_beside_what_agrees_leaves_its_host_as_it_is(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.write_files(prefix_paths(".claude/skills/docx", DOCX) | prefix_paths("elsewhere/pdf", PDF))
    (there.work / ".claude/skills/pdf").symlink_to("../../elsewhere/pdf")

    said = there.run("import", check=True).stderr

    assert "docx: .claude/skills/docx is what was locked, but not all beside it; it is left as it is" in said
    assert "pdf: .claude/skills/pdf is a link of another tool; it is left as it is" in said
    assert "agents" not in there.read_json("skills.json")
    assert settled(there) == SETTLED


def test_what_a_tool_leaves_out_of_its_copies_is_named(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    lay(there)
    (there.work / ".claude/skills/pdf/README.md").unlink()

    said = there.run("import", check=True).stderr

    assert "pdf: .claude/skills/pdf lacks README.md of what is locked; it is left as it is" in said


def test_many_are_told_in_a_line(there: CommandSandbox, acme: Repository) -> None:
    names = ["one", "two", "three", "four"]
    lock: dict[str, dict[str, Any]] = {}
    for name in names:
        acme.write(prefix_paths(f"skills/{name}", make_skill(name)))
        there.write_files(prefix_paths(f".claude/skills/{name}", make_skill(name)))
        there.write_files(prefix_paths(f".agents/skills/{name}", make_skill(name)))
        lock[name] = {"source": "acme/skills", "sourceType": "github", "skillPath": f"skills/{name}/SKILL.md"}
    acme.commit("four more")
    there.write(".agents/skills/four/SKILL.md", "mine")
    there.write("skills-lock.json", vercel(**lock))

    said = there.run("import", check=True).stderr.splitlines()
    again = there.run("import", check=True).stderr.splitlines()

    assert said[:6] == [
        "read skills-lock.json of skills (Vercel)",
        "4 skills in .claude/skills are what was locked, and are taken over as they are",
        "one: .agents/skills/one is what was locked, but not all beside it; it is left as it is",
        "two: .agents/skills/two is what was locked, but not all beside it; it is left as it is",
        "three: .agents/skills/three is what was locked, but not all beside it; it is left as it is",
        "four: .agents/skills/four is not what is locked; it is left as it is",
    ]
    assert again == ["read skills-lock.json of skills (Vercel)", "4 skills: the manifest asks for it already"]


def test_a_local_skill_is_found_in_the_folder_that_vercels_skills_was_given(there: CommandSandbox) -> None:
    there.write_files(prefix_paths("mine/writing/local-one", make_skill("local-one")))
    there.write("skills-lock.json", vercel(**{"local-one": {"source": "./mine", "sourceType": "local"}}))

    there.run("import", check=True)

    assert there.read_json("skills.json")["skills"] == {"local-one": {"path": "./mine/writing/local-one"}}
    assert there.run("sync", "--frozen").code == 0


def test_a_host_whose_folder_is_the_source_itself_is_not_linked(there: CommandSandbox) -> None:
    there.write("skills-lock.json", vercel(own={"source": "./.claude/skills", "sourceType": "local"}))
    there.write_files(prefix_paths(".claude/skills/own", make_skill("own")))

    there.run("import", check=True)

    assert "agents" not in there.read_json("skills.json")


def skills_lock_sum(files: dict[str, bytes]) -> str:
    data = b"".join(path.encode() + b"\0" + files[path] + b"\0" for path in sorted(files))
    return "sha256-" + b64encode(sha256(data).digest()).decode()


def test_the_lock_of_skills_lock_gives_commits(there: CommandSandbox, acme: Repository) -> None:
    lock = {
        "lockfileVersion": 1,
        "skills": {
            "docx": {
                "spec": "acme/skills",
                "resolved": "https://github.com/acme/skills.git",
                "ref": None,
                "commit": acme.resolve("v1.0.0"),
                "path": "skills/docx",
                "integrity": skills_lock_sum(DOCX),
            },
            "pdf": {
                "spec": "acme/skills#v1.0.0",
                "resolved": "https://github.com/acme/skills.git",
                "ref": "v1.0.0",
                "commit": acme.resolve("v1.0.0"),
                "path": "skills/pdf",
                "integrity": skills_lock_sum(PDF),
            },
        },
    }
    there.write("skills-lock.json", json.dumps(lock, indent=2))
    lay(there)

    assert there.run("import", check=True).stderr.count("is taken over as it is") == 2
    assert commits(there) == {"docx": acme.resolve("v1.0.0"), "pdf": acme.resolve("v1.0.0")}
    assert settled(there) == SETTLED


SPM_LOCK = """\
lockfileVersion: "0.1"
installDir: .agents/skills
linkTargets:
  - .claude/skills
skills:
  docx:
    specifier: https://github.com/acme/skills.git#v1.0.0&path:/skills/docx
    resolution:
      type: git
      url: https://github.com/acme/skills.git
      commit: COMMIT
      path: /skills/docx
    digest: sha256-abc
  mine:
    specifier: link:./skills/mine
    resolution:
      type: link
      path: ./skills/mine
  npm-one:
    specifier: npm:@acme/skill@1.0.0
    resolution:
      type: npm
      packageName: "@acme/skill"
      version: 1.0.0
"""
SPM_MANIFEST = {
    "installDir": ".agents/skills",
    "linkTargets": [".claude/skills"],
    "skills": {
        "docx": "https://github.com/acme/skills.git#v1.0.0&path:/skills/docx",
        "mine": "link:./skills/mine",
        "npm-one": "npm:@acme/skill@1.0.0",
    },
    "patchedSkills": {"docx": "patches/docx.patch"},
}


def test_spms_manifest_makes_room_for_ours_and_is_kept(there: CommandSandbox, acme: Repository) -> None:
    there.write("skills.json", json.dumps(SPM_MANIFEST))
    there.write("skills-lock.yaml", SPM_LOCK.replace("COMMIT", acme.resolve("v1.0.0")))
    there.write_files(prefix_paths("skills/mine", make_skill("mine")))
    before = there.read("skills.json")

    assert there.output("import") == expected_output("""\
 + docx 1.0.0
 + mine (live link)
added 2: 2 skills in WORK/.agent-skills
! read skills.json of spm
! docx: its patch patches/docx.patch is not taken over: apply it to what was installed
! warning: npm-one is not taken over: it comes from `npm:@acme/skill@1.0.0`, and skillpm has no npm source \
(skills.json: skills.npm-one)
! spm's skills.json is kept as skills.spm.json
! next: `skillpm link AGENT` shows them to your agent; `skillpm agents --all` lists the agents it knows
""")
    assert there.read("skills.spm.json") == before
    assert there.read_json("skills.json")["skills"] == {
        "docx": {"git": "https://github.com/acme/skills", "path": "skills/docx", "tag": "v1.0.0"},
        "mine": {"path": "./skills/mine", "link": True},
    }
    assert there.run("sync", "--frozen").code == 0
    assert there.run("verify").code == 0


def test_what_gh_wrote_into_a_skill_is_read(there: CommandSandbox, acme: Repository) -> None:
    gh = {
        "github-path": "skills/docx",
        "github-ref": "refs/heads/main",
        "github-repo": "https://github.com/acme/skills",
        "github-tree-sha": acme.tree_id("skills/docx", "v1.0.0"),
    }
    there.write_files(prefix_paths(".claude/skills/docx", make_skill("docx", "Writes Word files.", metadata=gh)))
    there.write_files(prefix_paths(".claude/skills/own", make_skill("own")))

    assert there.output("import") == expected_output("""\
 + docx COMMIT
added 1: 1 skill in WORK/.agent-skills
! read SKILL.md files of gh skill
! docx: .claude/skills/docx has lines that gh wrote into its SKILL.md; it is left as it is
! next: `skillpm link claude-code` shows them to that agent
""").replace("COMMIT", acme.resolve("v1.0.0")[:7])
    assert there.read_json("skills.json")["skills"] == {
        "docx": {"git": "https://github.com/acme/skills", "path": "skills/docx", "branch": "main"},
    }
    assert commits(there) == {"docx": acme.resolve("v1.0.0")}
    assert there.run("sync", "--frozen").code == 0


def test_the_global_lock_goes_to_user_scope(there: CommandSandbox, acme: Repository) -> None:
    entry = {
        "source": "acme/skills",
        "sourceType": "github",
        "sourceUrl": "https://github.com/acme/skills.git",
        "skillPath": "skills/pdf/SKILL.md",
        "skillFolderHash": acme.tree_id("skills/pdf", "main"),
        "installedAt": "2026-01-02T03:04:05.000Z",
        "updatedAt": "2026-01-02T03:04:05.000Z",
    }
    lock = {"version": 3, "skills": {"pdf": entry}, "dismissed": {}, "lastSelectedAgents": ["claude-code"]}
    there.write("../home/.agents/.skill-lock.json", json.dumps(lock))
    there.write_files(prefix_paths("../home/.claude/skills/pdf", PDF))
    (there.home / ".claude/skills/pdf/scripts/read.sh").chmod(0o755)

    assert there.output("import", "-g") == expected_output("""\
 + pdf COMMIT
added 1: 1 skill in HOME/.agent-skills
! read ../home/.agents/.skill-lock.json of skills (Vercel)
! pdf: ~/.claude/skills/pdf is what was locked, and is taken over as it is
""").replace("COMMIT", acme.resolve("main")[:7])
    assert there.read_json("../home/.config/skillpm/skills.json")["agents"] == ["claude-code"]
    assert there.output("verify", "-g") == "! 1 of 1 skill is what the lockfile says\n"


def test_the_plugins_of_a_marketplace_are_skills_here_and_elsewhere(there: CommandSandbox, acme: Repository) -> None:
    there.write_files(
        prefix_paths("skills/own", make_skill("own")) | prefix_paths("plugins/kit/skills/inner", make_skill("inner"))
    )
    acme.write(prefix_paths("plugins/x/skills/deep", make_skill("deep"))).commit(branch="sub")
    market = {
        "name": "acme",
        "owner": {"name": "Acme"},
        "metadata": {"version": "1.0.0", "pluginRoot": "./plugins"},
        "plugins": [
            {"name": "docs", "source": "./", "strict": False, "skills": ["./skills/own"]},
            {"name": "kit", "source": "kit"},
            {"name": "ext", "source": {"source": "github", "repo": "acme/skills", "ref": "v1.0.0"}},
            {
                "name": "sub",
                "source": {
                    "source": "git-subdir",
                    "url": "https://github.com/acme/skills.git",
                    "path": "plugins/x",
                    "sha": acme.resolve("sub"),
                },
            },
            {"name": "pkg", "source": {"source": "npm", "package": "@acme/x"}},
            {"name": "out", "source": "../../etc"},
        ],
    }
    there.write(".claude-plugin/marketplace.json", json.dumps(market))

    said = there.run("import", check=True)

    assert "nor sum" not in "".join(line for line in said.stderr.splitlines() if line.startswith("deep"))
    assert [line for line in said.stderr.splitlines() if line.startswith("warning")] == [
        "warning: pkg is not taken over: it comes from a `npm` source, which skillpm does not have "
        "(.claude-plugin/marketplace.json: plugins.4.source)",
        "warning: out is not taken over: the path `../../etc` has an empty, `.` or `..` part "
        "(.claude-plugin/marketplace.json: plugins.5.source)",
    ]
    assert there.read_json("skills.json")["skills"] == {
        "deep": {
            "git": "https://github.com/acme/skills",
            "path": "plugins/x/skills/deep",
            "rev": acme.resolve("sub"),
        },
        "docx": {"git": "https://github.com/acme/skills", "path": "skills/docx", "tag": "v1.0.0"},
        "inner": {"path": "./plugins/kit/skills/inner"},
        "own": {"path": "./skills/own"},
        "pdf": {"git": "https://github.com/acme/skills", "path": "skills/pdf", "tag": "v1.0.0"},
    }
    assert there.run("sync", "--frozen").code == 0
    assert there.run("verify").code == 0


def test_plugins_are_read_in_all_the_forms_that_are_found_in_the_wild(there: CommandSandbox, acme: Repository) -> None:
    acme.write(prefix_paths("plugins/y/skills/far", make_skill("far"))).commit("a plugin below a path")
    there.write_files(
        prefix_paths("skills/near", make_skill("near")) | prefix_paths("kit/more/third", make_skill("third"))
    )
    there.write("kit/.claude-plugin/plugin.json", '{"name": "kit", "skills": "./more/"}')
    there.write_files(prefix_paths("many/all/one", make_skill("one")) | prefix_paths("many/all/two", make_skill("two")))
    market = {
        "plugins": [
            {"name": "root", "source": {"source": "url", "url": "./"}},
            {"name": "kit", "source": "./kit"},
            {"name": "many", "source": "./many", "skills": "./all"},
            {"name": "far", "source": {"source": "github", "repo": "acme/skills", "path": "plugins/y"}},
            {"name": "agents only", "source": "./docs"},
            {"name": "out", "source": {"source": "github", "repo": "acme/skills", "path": "../x"}},
        ]
    }
    there.write(".agents/plugins/marketplace.json", json.dumps(market))

    said = there.run("import", check=True).stderr

    assert [line for line in said.splitlines() if line.startswith("warning")] == [
        "warning: out is not taken over: the path `../x` has an empty, `.` or `..` part "
        "(.agents/plugins/marketplace.json: plugins.5.source.path)",
        "warning: plugin agents only is not taken over: it holds no skills "
        "(.agents/plugins/marketplace.json: plugins.4)",
    ]
    assert there.read_json("skills.json")["skills"] == {
        "far": {"git": "https://github.com/acme/skills", "path": "plugins/y/skills/far"},
        "near": {"path": "./skills/near"},
        "one": {"path": "./many/all/one"},
        "third": {"path": "./kit/more/third"},
        "two": {"path": "./many/all/two"},
    }


@pytest.mark.parametrize("source", ["./.agent-skills", "./.agent-skills/own", "./linked"])
def test_what_lies_where_skills_are_installed_is_left_and_told_with_its_place(
    there: CommandSandbox, source: str
) -> None:
    there.write_files(
        prefix_paths(".agent-skills/own", make_skill("own")) | prefix_paths("good/skills/right", make_skill("right"))
    )
    (there.work / "linked").symlink_to(".agent-skills")
    plugins = [
        {"name": "bad", "source": source, "skills": ["./", "./own"]},
        {"name": "good", "source": "./good"},
    ]
    there.write(".claude-plugin/marketplace.json", json.dumps({"plugins": plugins}))

    said = there.output("import")

    place = source.removeprefix("./").removesuffix("/own") + "/own"
    assert [line for line in said.splitlines() if "warning" in line or line.startswith((" +", "["))] == [
        " + right b114cac23351",
        f"! warning: own is not taken over: {place} lies where skills are installed, and is there already "
        "(.claude-plugin/marketplace.json: plugins.0)",
    ]
    assert there.read_json("skills.json")["skills"] == {"right": {"path": "./good/skills/right"}}
    assert there.run("sync", "--frozen").code == 0


def test_one_that_is_gone_hides_no_other(there: CommandSandbox, acme: Repository) -> None:
    gone = json.loads(VERCEL)
    gone["skills"]["gone"] = {**gone["skills"]["pdf"], "skillPath": "skills/gone/SKILL.md"}
    gone["skills"]["npm"] = {"source": "@acme/x", "sourceType": "node_modules", "computedHash": PDF_SUM}
    gone["skills"]["Bad Name"] = gone["skills"]["pdf"]
    there.write("skills-lock.json", json.dumps(gone))

    said = there.run("import", check=True)

    assert [line for line in said.stderr.splitlines() if line.startswith("warning")] == [
        "warning: npm is not taken over: it comes with the npm package @acme/x; its folder there can be installed as a "
        "local one (skills-lock.json: skills.npm)",
        "warning: Bad Name is not taken over: `Bad Name` is no name for a skill (skills-lock.json: skills.Bad Name)",
        "warning: gone is not taken over: https://github.com/acme/skills has no folder `skills/gone` "
        "(skills-lock.json: skills.gone)",
    ]
    assert sorted(commits(there)) == ["docx", "pdf"]


def test_what_the_manifest_asks_for_already_stays(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.run("import", check=True)
    before = there.full_snapshot

    assert there.output("import") == expected_output("""\
! read skills-lock.json of skills (Vercel)
! docx: the manifest asks for it already
! pdf: the manifest asks for it already
""")
    assert there.full_snapshot == before


def test_another_one_of_a_name_that_is_asked_for_is_left_and_told(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.write_files(prefix_paths("own/pdf", make_skill("pdf")))
    there.write("skills.json", '{"skills": {"pdf": {"path": "./own/pdf"}}}')

    said = there.run("import", check=True).stderr

    assert "warning: pdf is not taken over: the manifest asks for another one of that name already" in said
    assert there.read_json("skills.json")["skills"]["pdf"] == {"path": "./own/pdf"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("skills-lock.json", "{", "this is not JSON: Expecting property name enclosed in double quotes"),
        ("skills-lock.json", "[]", "expected an object, got an array"),
        ("skills-lock.json", '{"version": 2, "skills": {}}', "this is format 2 of skills-lock.json; up to 1 is known"),
        (
            "skills-lock.json",
            '{"lockfileVersion": 9, "skills": {}}',
            "this is format 9 of skills-lock; up to 1 is known",
        ),
        ("skills-lock.json", '{"a": 1}', "this is no file of a tool that is known"),
        ("skills-lock.json", "\xff", "this document is not UTF-8"),
        ("skills-lock.json", "[" * 100_000, "this JSON is nested too deeply"),
        (".skill-lock.json", '{"version": 3, "skills": []}', "expected an object, got an array"),
        ("skills-lock.yaml", "skills: &a [*a]", "this is not YAML: anchors and aliases are not read"),
        ("skills-lock.yaml", "{" * 100_000, "this is not YAML: nested deeper than 20"),
        (".claude-plugin/marketplace.json", '{"plugins": {}}', "expected an array, got an object"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_and_changes_nothing(
    there: CommandSandbox, name: str, content: str, message: str
) -> None:
    there.write(name, content.encode("latin-1"))
    before = there.full_snapshot

    said = there.run("import", name)

    assert (said.code, said.stdout) == (1, "")
    assert said.stderr.startswith(f"error: {message}"), said.stderr
    assert there.full_snapshot == before


@pytest.mark.parametrize(
    "entry",
    [
        {"source": "acme/skills", "sourceType": "github", "skillPath": "../../../etc/SKILL.md"},
        {"source": "acme/skills", "sourceType": "github", "skillPath": "/etc/SKILL.md\n", "ref": "--upload-pack=x"},
        {"source": "ext::sh -c touch% /tmp/x", "sourceType": "git"},
        {"source": "-oProxyCommand=x", "sourceType": "git"},
        {"source": "acme/skills", "sourceType": "\x1b[31m"},
        {"source": ["acme"], "sourceType": "github"},
        {"source": "../../nowhere", "sourceType": "local"},
        "acme/skills",
        None,
    ],
    ids=str,
)
def test_an_entry_that_means_no_good_is_left_and_told_in_a_line(there: CommandSandbox, entry: Any) -> None:
    there.write("skills-lock.json", json.dumps({"version": 1, "skills": {"pdf": entry}}))
    before = there.full_snapshot

    said = there.run("import")

    assert said.code == 1
    assert said.stderr.splitlines()[1].startswith("warning: pdf is not taken over: ")
    assert "\x1b" not in said.stderr
    assert there.full_snapshot == before


@pytest.mark.parametrize("commit", [{"a": 1}, ["a"], 7, True, "main", "A" * 40], ids=str)
def test_a_commit_that_is_none_is_told(there: CommandSandbox, commit: Any) -> None:
    entry = {"spec": "acme/skills", "resolved": "https://github.com/acme/skills.git", "commit": commit, "path": "x"}
    there.write("skills-lock.json", json.dumps({"lockfileVersion": 1, "skills": {"pdf": entry}}))

    said = there.run("import")

    assert said.code == 1
    assert re.match(
        r"warning: pdf is not taken over: expected a (string|whole commit id), got ", said.stderr.splitlines()[1]
    )


def test_a_folder_with_nothing_says_what_was_looked_for(there: CommandSandbox) -> None:
    assert there.output("import") == expected_output("""\
! error: this folder holds nothing of another tool
!   try: looked for skills-lock.json, .skill-lock.json, skills.json and skills-lock.yaml of spm, \
.claude-plugin/marketplace.json, and skills that gh installed
[1]
""")
