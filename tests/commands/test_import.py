"""`import`: files in the exact format of other tools, for skills of real repositories."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, make_skill, prefix_paths
from kit.packages import install_npm_package

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
SETTLED = "nothing to do: 2 skills in WORK/.agent-skills\n! 2 of 2 skills match the lockfile\n"


@pytest.fixture
def acme(tmp_path: Path) -> Repository:
    """Return a repository of two skills, tagged `v1.0.0`; docx has changed on its branch since."""
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
    """Return a git work tree in which github.com/acme/skills is that repository."""
    scene.redirect_git("https://github.com/acme/skills", acme.file_url)
    (scene.work / ".git").mkdir()
    return scene


def copy_to_host(scene: CommandSandbox, folder: str = ".claude/skills") -> None:
    """Copy the current pdf and docx of v1.0.0 to a folder of a host, as the other tools do."""
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
    """Return the output of `sync --frozen` and `verify`."""
    return scene.output("sync", "--frozen") + scene.output("verify")


def commits(scene: CommandSandbox, lockfile: str = "skills.lock") -> dict[str, str]:
    skills = scene.read_json(lockfile)["skills"]
    return {name: skill["source"].get("commit", "") for name, skill in skills.items()}


def test_the_lock_of_vercels_skills_is_imported_and_its_folders_are_adopted(
    there: CommandSandbox, acme: Repository
) -> None:
    there.write("skills-lock.json", VERCEL)
    copy_to_host(there)
    laid = there.snapshot(".claude")

    assert there.output("import") == expected_output("""\
 + docx 1.0.0
 + pdf HEAD
added 2; total: 2 skills in WORK/.agent-skills
! read skills-lock.json of skills (Vercel)
! docx: .claude/skills/docx matches the lockfile; adopted
! pdf: .claude/skills/pdf matches the lockfile; adopted
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


def test_a_dry_run_prints_the_same_and_writes_nothing(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    copy_to_host(there)
    before = there.full_snapshot

    result = there.run("import", "--dry-run", check=True)

    assert result.stdout.splitlines()[-1] == f"would have added 2; total: 2 skills in {there.work}/.agent-skills"
    assert there.full_snapshot == before
    assert there.run("import", check=True).stderr == result.stderr


def test_json_output_is_one_object(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    copy_to_host(there)

    found = there.json_output("import", "--dry-run")

    assert list(found) == [
        *(
            "changed",
            "scope",
            "directory",
            "read",
            "adopted",
            "newFor",
            "hiddenFrom",
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


@pytest.mark.parametrize("ref", ["", "HEAD"])
def test_an_unrecorded_commit_is_found_in_the_history_by_the_installed_content(
    there: CommandSandbox, acme: Repository, ref: str
) -> None:
    """Vercel's lock follows a branch and has no commit, and upstream has changed twice since."""
    followed = json.loads(VERCEL)
    followed["skills"]["docx"]["ref"] = ref
    there.write("skills-lock.json", json.dumps(followed))
    copy_to_host(there)
    acme.write({"skills/docx/more.md": "More.\n"}).commit("third")

    output = there.run("import", check=True).stderr

    assert "docx: .claude/skills/docx matches the lockfile; adopted" in output
    assert commits(there) == {"docx": acme.resolve("v1.0.0"), "pdf": acme.resolve("main")}
    assert there.read_json("skills.json")["skills"]["docx"] == {
        "git": "https://github.com/acme/skills",
        "path": "skills/docx",
    }
    assert settled(there) == SETTLED
    assert there.run("outdated", "--exit-code").code == 1


def test_content_that_is_not_found_is_locked_to_the_current_commit_with_a_note(
    there: CommandSandbox, acme: Repository
) -> None:
    there.write("skills-lock.json", VERCEL.replace('      "ref": "v1.0.0",\n', "").replace(DOCX_SUM, "0" * 64))
    copy_to_host(there)

    output = there.output("import")

    now = acme.resolve("main")[:7]
    assert output == expected_output(f"""\
 + docx {now}
 + pdf {now}
added 2; total: 2 skills in WORK/.agent-skills
! read skills-lock.json of skills (Vercel)
! pdf: .claude/skills/pdf matches the lockfile, but is left as it is, because of docx in the same folder
! docx: .claude/skills/docx differs from the locked version; left as it is
! docx: upstream has changed, and the recorded content is not in any folder here; locked to the current commit ({now})
! next: `skillpm link claude-code` makes them visible to that agent
""")
    assert "agents" not in there.read_json("skills.json")
    assert settled(there) == SETTLED


def test_edited_skills_are_not_adopted(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    copy_to_host(there)
    there.write(".claude/skills/pdf/SKILL.md", "mine")
    laid = there.snapshot(".claude")

    output = there.run("import", check=True).stderr

    assert "pdf: .claude/skills/pdf differs from the locked version; left as it is" in output
    assert there.snapshot(".claude") == laid
    assert settled(there) == SETTLED


def test_links_of_another_tool_are_kept_and_reported(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    copy_to_host(there, ".agents/skills")
    (there.work / ".claude/skills").mkdir(parents=True)
    (there.work / ".claude/skills/pdf").symlink_to("../../.agents/skills/pdf")

    output = there.run("import", check=True).stderr

    assert "pdf: .agents/skills/pdf matches the lockfile; adopted" in output
    assert "pdf: .claude/skills/pdf is a link of another tool; left as it is" in output
    assert there.read_json("skills.json")["agents"] == ["universal"]
    assert settled(there) == SETTLED


def test_a_host_that_gets_more_skills_than_it_had_is_named(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.write_files(prefix_paths(".claude/skills/docx", DOCX))

    dry = there.json_output("import", "--dry-run")
    output = there.run("import", check=True).stderr

    assert dry["newFor"] == [{"agent": "claude-code", "skills": ["pdf"]}]
    assert (
        "claude-code gets what it did not have: pdf; to hide one, run `skillpm disable NAME --agent claude-code`\n"
    ) in output
    assert there.exists(".claude/skills/pdf")
    there.run("disable", "pdf", "--agent", "claude-code", check=True)
    assert not there.exists(".claude/skills/pdf")


def test_no_host_gets_what_only_another_one_had(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.write_files(prefix_paths(".claude/skills/docx", DOCX))
    there.write_files(prefix_paths(".agents/skills/pdf", PDF))

    dry = there.json_output("import", "--dry-run")
    output = there.run("import", check=True).stderr

    assert dry["newFor"] == []
    assert dry["hiddenFrom"] == [
        {"agent": "universal", "skills": ["docx"]},
        {"agent": "claude-code", "skills": ["pdf"]},
    ]
    assert (
        "claude-code does not get what only others had: pdf; "
        "to show one, run `skillpm enable NAME --agent claude-code`\n"
    ) in output
    assert there.read_json("skills.json")["disabled"] == {"docx": ["universal"], "pdf": ["claude-code"]}
    assert sorted(path.name for path in (there.work / ".claude/skills").iterdir()) == ["docx"]
    assert sorted(path.name for path in (there.work / ".agents/skills").iterdir()) == ["pdf"]
    assert settled(there) == SETTLED
    there.run("enable", "pdf", "--agent", "claude-code", check=True)
    assert there.exists(".claude/skills/pdf")


def test_what_is_disabled_for_all_stays_so(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.write("skills.json", '{"skills": {}, "disabled": {"pdf": true}}')
    there.write_files(prefix_paths(".claude/skills/docx", DOCX))
    there.write_files(prefix_paths(".agents/skills/pdf", PDF))

    there.run("import", check=True)

    assert there.read_json("skills.json")["disabled"] == {"pdf": True, "docx": ["universal"]}


def test_a_host_that_is_linked_already_gets_everything_and_is_named(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.write("skills.json", '{"skills": {}, "agents": ["claude-code"]}')
    there.write_files(prefix_paths(".agents/skills/pdf", PDF))
    there.write_files(prefix_paths(".claude/skills/docx", DOCX))

    output = there.run("import", check=True).stderr

    assert "claude-code gets what it did not have: pdf; " in output
    assert "universal does not get what only others had: docx; " in output
    assert there.exists(".claude/skills/pdf")


def test_a_host_that_reads_adopted_skills_through_a_link_can_be_linked(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    copy_to_host(there, ".agents/skills")
    (there.work / ".claude/skills").mkdir(parents=True)
    (there.work / ".claude/skills/pdf").symlink_to("../../.agents/skills/pdf")
    there.run("import", check=True)

    assert there.run("link", "claude-code").code == 0

    assert there.render_tree(".claude/skills") == expected_output("""\
docx -> ../../.agent-skills/docx
pdf -> ../../.agents/skills/pdf
""")
    assert settled(there) == SETTLED


def test_a_host_with_a_link_of_another_tool_is_not_linked(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.write_files(prefix_paths(".claude/skills/docx", DOCX) | prefix_paths("elsewhere/pdf", PDF))
    (there.work / ".claude/skills/pdf").symlink_to("../../elsewhere/pdf")

    output = there.run("import", check=True).stderr

    assert (
        "docx: .claude/skills/docx matches the lockfile, but is left as it is, because of pdf in the same folder"
        in output
    )
    assert "pdf: .claude/skills/pdf is a link of another tool; left as it is" in output
    assert "agents" not in there.read_json("skills.json")
    assert settled(there) == SETTLED


def test_files_missing_in_the_copies_of_a_tool_are_reported(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    copy_to_host(there)
    (there.work / ".claude/skills/pdf/README.md").unlink()

    output = there.run("import", check=True).stderr

    assert "pdf: .claude/skills/pdf lacks README.md of the locked version; left as it is" in output


def test_many_skills_are_summarized_in_one_line(there: CommandSandbox, acme: Repository) -> None:
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

    output = there.run("import", check=True).stderr.splitlines()
    again = there.run("import", check=True).stderr.splitlines()

    assert output[:6] == [
        "read skills-lock.json of skills (Vercel)",
        "4 skills in .claude/skills match the lockfile; adopted",
        "one: .agents/skills/one matches the lockfile, but is left as it is, because of four in the same folder",
        "two: .agents/skills/two matches the lockfile, but is left as it is, because of four in the same folder",
        "three: .agents/skills/three matches the lockfile, but is left as it is, because of four in the same folder",
        "four: .agents/skills/four differs from the locked version; left as it is",
    ]
    assert again == ["read skills-lock.json of skills (Vercel)", "4 skills: already in skills.json"]


def test_a_local_skill_of_vercels_skills_is_found_in_its_folder(there: CommandSandbox) -> None:
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


def test_the_commits_of_skills_lock_are_imported(there: CommandSandbox, acme: Repository) -> None:
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
    copy_to_host(there)

    assert there.run("import", check=True).stderr.count("matches the lockfile; adopted") == 2
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


def test_the_manifest_of_spm_is_backed_up_and_replaced(there: CommandSandbox, acme: Repository) -> None:
    there.write("skills.json", json.dumps(SPM_MANIFEST))
    there.write("skills-lock.yaml", SPM_LOCK.replace("COMMIT", acme.resolve("v1.0.0")))
    there.write_files(prefix_paths("skills/mine", make_skill("mine")))
    before = there.read("skills.json")

    assert there.output("import") == expected_output("""\
 + docx 1.0.0
 + mine (live link)
added 2; total: 2 skills in WORK/.agent-skills
! read skills.json of spm
! docx: its patch patches/docx.patch is not imported: apply it after installing
! warning: npm-one: not imported: it comes from `npm:@acme/skill@1.0.0`, and skillpm does not support npm sources \
(skills.json: skills.npm-one)
! renamed spm's skills.json to skills.spm.json
! next: `skillpm link AGENT` makes them visible to your agent; `skillpm agents --all` lists the agents it knows
""")
    assert there.read("skills.spm.json") == before
    assert there.read_json("skills.json")["skills"] == {
        "docx": {"git": "https://github.com/acme/skills", "path": "skills/docx", "tag": "v1.0.0"},
        "mine": {"path": "./skills/mine", "link": True},
    }
    assert there.run("sync", "--frozen").code == 0
    assert there.run("verify").code == 0


def test_the_metadata_that_gh_adds_to_a_skill_is_read(there: CommandSandbox, acme: Repository) -> None:
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
added 1; total: 1 skill in WORK/.agent-skills
! read SKILL.md files of gh skill
! docx: .claude/skills/docx has lines that gh added to its SKILL.md; left as it is
! next: `skillpm link claude-code` makes them visible to that agent
""").replace("COMMIT", acme.resolve("v1.0.0")[:7])
    assert there.read_json("skills.json")["skills"] == {
        "docx": {"git": "https://github.com/acme/skills", "path": "skills/docx", "branch": "main"},
    }
    assert commits(there) == {"docx": acme.resolve("v1.0.0")}
    assert there.run("sync", "--frozen").code == 0


def test_the_global_lock_is_imported_to_user_scope(there: CommandSandbox, acme: Repository) -> None:
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
added 1; total: 1 skill in HOME/.agent-skills
! read ../home/.agents/.skill-lock.json of skills (Vercel)
! pdf: ~/.claude/skills/pdf matches the lockfile; adopted
""").replace("COMMIT", acme.resolve("main")[:7])
    assert there.read_json("../home/.config/skillpm/skills.json")["agents"] == ["claude-code"]
    assert there.output("verify", "-g") == "! 1 of 1 skill matches the lockfile\n"


def test_plugins_of_a_marketplace_may_be_local_or_remote(there: CommandSandbox, acme: Repository) -> None:
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

    result = there.run("import", check=True)

    assert "nor sum" not in "".join(line for line in result.stderr.splitlines() if line.startswith("deep"))
    assert [line for line in result.stderr.splitlines() if line.startswith("warning")] == [
        "warning: pkg: not imported: it comes from a `npm` source, which skillpm does not support "
        "(.claude-plugin/marketplace.json: plugins.4.source)",
        "warning: out: not imported: the path `../../etc` has an empty, `.` or `..` part "
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


def test_plugins_are_read_in_all_known_forms(there: CommandSandbox, acme: Repository) -> None:
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

    output = there.run("import", check=True).stderr

    assert [line for line in output.splitlines() if line.startswith("warning")] == [
        "warning: out: not imported: the path `../x` has an empty, `.` or `..` part "
        "(.agents/plugins/marketplace.json: plugins.5.source.path)",
        "warning: plugin agents only: not imported: it contains no skills "
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
def test_a_source_inside_an_install_path_is_skipped_and_reported(there: CommandSandbox, source: str) -> None:
    there.write_files(
        prefix_paths(".agent-skills/own", make_skill("own")) | prefix_paths("good/skills/right", make_skill("right"))
    )
    (there.work / "linked").symlink_to(".agent-skills")
    plugins = [
        {"name": "bad", "source": source, "skills": ["./", "./own"]},
        {"name": "good", "source": "./good"},
    ]
    there.write(".claude-plugin/marketplace.json", json.dumps({"plugins": plugins}))

    output = there.output("import")

    place = source.removeprefix("./").removesuffix("/own") + "/own"
    assert [line for line in output.splitlines() if "warning" in line or line.startswith((" +", "["))] == [
        " + right b114cac23351",
        f"! warning: own: not imported: {place} is inside a directory where skills are installed "
        "(.claude-plugin/marketplace.json: plugins.0)",
    ]
    assert there.read_json("skills.json")["skills"] == {"right": {"path": "./good/skills/right"}}
    assert there.run("sync", "--frozen").code == 0


def test_an_unavailable_skill_does_not_stop_the_others(there: CommandSandbox, acme: Repository) -> None:
    gone = json.loads(VERCEL)
    gone["skills"]["gone"] = {**gone["skills"]["pdf"], "skillPath": "skills/gone/SKILL.md"}
    gone["skills"]["npm"] = {"source": "@acme/x", "sourceType": "node_modules", "computedHash": PDF_SUM}
    gone["skills"]["Bad Name"] = gone["skills"]["pdf"]
    there.write("skills-lock.json", json.dumps(gone))

    result = there.run("import", check=True)

    assert [line for line in result.stderr.splitlines() if line.startswith("warning")] == [
        "warning: Bad Name: not imported: invalid skill name `Bad Name` (skills-lock.json: skills.Bad Name)",
        "warning: gone: not imported: https://github.com/acme/skills has no folder `skills/gone` "
        "(skills-lock.json: skills.gone)",
        "warning: npm: not imported: `npm`: the package @acme/x is not installed in node_modules "
        "(skills-lock.json: skills.npm)",
    ]
    assert sorted(commits(there)) == ["docx", "pdf"]


def test_skills_of_packages_in_node_modules_are_imported(there: CommandSandbox) -> None:
    files = prefix_paths("skills/button", make_skill("button")) | prefix_paths("skills/Modal", make_skill("modal"))
    install_npm_package(there.work, "@acme/ui", "1.2.0", files)
    entry = {"source": "@acme/ui", "sourceType": "node_modules", "version": "1.1.0", "computedHash": PDF_SUM}
    paths = {"button": "skills/button/SKILL.md", "modal": "skills/Modal/SKILL.md"}
    there.write("skills-lock.json", vercel(**{name: {**entry, "skillPath": path} for name, path in paths.items()}))

    there.run("import", check=True)

    assert there.read_json("skills.json")["skills"] == {
        "button": {"npm": "@acme/ui"},
        "modal": {"npm": "@acme/ui", "skill": "Modal"},
    }
    assert there.run("sync", "--frozen").code == 0


def test_requirements_of_the_manifest_are_kept(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.run("import", check=True)
    before = there.full_snapshot

    assert there.output("import") == expected_output("""\
! read skills-lock.json of skills (Vercel)
! docx: already in skills.json
! pdf: already in skills.json
""")
    assert there.full_snapshot == before


def test_a_skill_that_was_recorded_without_its_folder_is_known_again(there: CommandSandbox) -> None:
    entries = json.loads(VERCEL)["skills"]
    del entries["docx"]["skillPath"]
    there.write("skills-lock.json", vercel(**entries))
    there.run("import", check=True)

    assert there.output("import") == expected_output("""\
! read skills-lock.json of skills (Vercel)
! docx: already in skills.json
! pdf: already in skills.json
""")


def test_a_skill_whose_name_has_another_requirement_is_skipped(there: CommandSandbox) -> None:
    there.write("skills-lock.json", VERCEL)
    there.write_files(prefix_paths("own/pdf", make_skill("pdf")))
    there.write("skills.json", '{"skills": {"pdf": {"path": "./own/pdf"}}}')

    output = there.run("import", check=True).stderr

    assert "warning: pdf: not imported: the manifest already requires another skill of that name" in output
    assert there.read_json("skills.json")["skills"]["pdf"] == {"path": "./own/pdf"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("skills-lock.json", "{", "invalid JSON: Expecting property name enclosed in double quotes"),
        ("skills-lock.json", "[]", "expected an object, got an array"),
        ("skills-lock.json", '{"version": 2, "skills": {}}', "unsupported format 2 of skills-lock.json (up to 1)"),
        (
            "skills-lock.json",
            '{"lockfileVersion": 9, "skills": {}}',
            "unsupported format 9 of skills-lock (up to 1)",
        ),
        ("skills-lock.json", '{"a": 1}', "not a file of a supported tool"),
        ("skills-lock.json", "\xff", "this document is not UTF-8"),
        ("skills-lock.json", "[" * 100_000, "this JSON is nested too deeply"),
        (".skill-lock.json", '{"version": 3, "skills": []}', "expected an object, got an array"),
        ("skills-lock.yaml", "skills: &a [*a]", "invalid YAML: aliases are not supported"),
        ("skills-lock.yaml", "{" * 100_000, "invalid YAML: nested deeper than 20"),
        (".claude-plugin/marketplace.json", '{"plugins": {}}', "expected an array, got an object"),
    ],
)
def test_an_unreadable_file_is_reported_and_nothing_is_changed(
    there: CommandSandbox, name: str, content: str, message: str
) -> None:
    there.write(name, content.encode("latin-1"))
    before = there.full_snapshot

    result = there.run("import", name)

    assert (result.code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: {message}"), result.stderr
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
def test_a_hostile_entry_is_skipped_and_reported_in_one_line(there: CommandSandbox, entry: Any) -> None:
    there.write("skills-lock.json", json.dumps({"version": 1, "skills": {"pdf": entry}}))
    before = there.full_snapshot

    result = there.run("import")

    assert result.code == 1
    assert result.stderr.splitlines()[1].startswith("warning: pdf: not imported: ")
    assert "\x1b" not in result.stderr
    assert there.full_snapshot == before


@pytest.mark.parametrize("commit", [{"a": 1}, ["a"], 7, True, "main", "A" * 40], ids=str)
def test_an_invalid_commit_is_reported(there: CommandSandbox, commit: Any) -> None:
    entry = {"spec": "acme/skills", "resolved": "https://github.com/acme/skills.git", "commit": commit, "path": "x"}
    there.write("skills-lock.json", json.dumps({"lockfileVersion": 1, "skills": {"pdf": entry}}))

    result = there.run("import")

    assert result.code == 1
    assert re.match(
        r"warning: pdf: not imported: expected a (string|full commit id), got ", result.stderr.splitlines()[1]
    )


def test_a_folder_without_supported_files_lists_them(there: CommandSandbox) -> None:
    assert there.output("import") == expected_output("""\
! error: this folder contains no files of another tool
!   hint: looked for skills-lock.json, .skill-lock.json, skills.json and skills-lock.yaml of spm, \
.claude-plugin/marketplace.json, and skills that gh installed
[1]
""")
