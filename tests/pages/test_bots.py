"""What bots and CI hosts read from this repository: the action file, the workflows, and the recipe for Renovate."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands.scene import CommandSandbox
from kit import GitServer, Repository, git, make_skill, prefix_paths

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
PAGE = (GUIDES / "bots.md").read_text(encoding="utf-8")


def workflows() -> list[str]:
    """Return the workflows of the guides, as text."""
    text = PAGE + (GUIDES / "ci.md").read_text(encoding="utf-8")
    return [
        block for block in re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if "\njobs:" in block
    ]


def steps_of(workflow: str) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(workflow)["jobs"].values() for step in job["steps"]]


def test_no_expression_is_part_of_a_script() -> None:
    own = [file.read_text(encoding="utf-8") for file in (ROOT / ".github/workflows").iterdir()]
    steps = [*STEPS, *(step for workflow in [*workflows(), *own] for step in steps_of(workflow))]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []


def test_each_foreign_action_is_pinned_to_a_commit_with_its_version() -> None:
    files = [ROOT / "action.yml", *(ROOT / ".github/workflows").iterdir()]
    text = "".join([*(file.read_text(encoding="utf-8") for file in files), *workflows()])
    used = [line.strip(" -") for line in text.splitlines() if re.match(r" +(- )?uses: (?![\w-]+/skillpm@)", line)]
    assert len(used) >= 5
    assert [line for line in used if not re.fullmatch(r"uses: [\w/-]+@[0-9a-f]{40} # v[\d.]+", line)] == []
    assert len({line.partition("@")[0] for line in used}) == len(set(used)), "one action in two versions"


def test_each_input_is_used_and_described_on_the_page() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(ACTION["inputs"]) == set(re.findall(r"\binputs\.([\w-]+)", text))
    assert list(ACTION["inputs"]) == re.findall(r"^\| `([\w-]+)` \|", PAGE.partition("\n## Renovate")[0], re.MULTILINE)


# Records what it is called with, and answers the question for comments with what the file `ids` contains.
GH = """\
#!/bin/sh
for word in "$@"; do
    case $word in --jq) break ;; body=@*) cat "${word#body=@}" > ../body ;; *) echo "$word" >> ../calls ;; esac
done
case "$*" in *--jq*) cat ../ids;; esac
"""


class Runner:
    """Runs scripts of the action as a runner does: `bash -e`, with the environment that the step names."""

    def __init__(self, scene: CommandSandbox) -> None:
        self.scene = scene
        self.programs = scene.root / "skillpm" / "bin"
        self.programs.mkdir(parents=True)
        skillpm = f'#!/bin/sh\nexec "{sys.executable}" -m skillpm "$@"\n'
        for name, text in (("skillpm", skillpm), ("gh", GH)):
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)

    def run(
        self, name: str, steps: Sequence[dict[str, Any]] = STEPS, **values: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the step with this name; `values` are those of the expressions in its environment, by their last word."""
        step = next(step for step in steps if step.get("name") == name)
        root = self.scene.root
        environment = self.scene.environment() | {"CI": "true", "RUNNER_TEMP": str(root)}
        environment |= {"GITHUB_STEP_SUMMARY": str(root / "summary"), "GITHUB_REPOSITORY": "acme/app"}
        environment |= {key: values[re.split(r"[.\s]", text)[-2]] for key, text in step["env"].items()}
        environment["PATH"] = f"{self.programs}:{environment['PATH']}"
        script = root / "step.sh"
        script.write_text(step["run"])
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        return subprocess.run(
            command, cwd=self.scene.work, env=environment, capture_output=True, text=True, check=False
        )


REVIEW = "Review the changes of skills.lock"
FOLDER = "a b; touch '$(touch owned)'"


@pytest.fixture
def checkout(tmp_path: Path) -> CommandSandbox:
    """Return a checkout whose project is in a folder with spaces and shell syntax in its name; nothing is installed."""
    scene = CommandSandbox(tmp_path / "scene")
    scene.write(f"{FOLDER}/skills.json", '{"skills": {"code-review": {"bundled": true}}}\n')
    scene.run("lock", "--project", FOLDER, check=True)
    return scene


def test_the_action_installs_what_the_lockfile_specifies(checkout: CommandSandbox) -> None:
    done = Runner(checkout).run("Install the skills", project=FOLDER, token="")

    assert done.stdout == f" + code-review 1.0.0\nadded 1; total: 1 skill in {checkout.work / FOLDER}/.agent-skills\n"
    assert done.returncode == 0
    assert [path.name for path in checkout.work.iterdir()] == [FOLDER]


def test_the_action_fails_outside_a_project_and_in_one_that_is_not_locked(checkout: CommandSandbox) -> None:
    runner = Runner(checkout)
    outside = runner.run("Install the skills", project=".", token="")
    checkout.write(f"{FOLDER}/skills.json", '{"skills": {"testing": {"bundled": true}}}\n')
    behind = runner.run("Install the skills", project=FOLDER, token="")

    assert (outside.returncode, outside.stderr.partition("\n")[0]) == (1, f"error: {checkout.work} has no skills.json")
    assert behind.returncode == 1
    assert not checkout.exists(f"{FOLDER}/.agent-skills")


@pytest.fixture
def pull_request(checkout: CommandSandbox) -> CommandSandbox:
    """Return a checkout of a pull request that adds a skill to the lockfile."""
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "base"]):
        git("-C", str(checkout.work), *command)
    checkout.write(
        f"{FOLDER}/skills.json", '{"skills": {"code-review": {"bundled": true}, "testing": {"bundled": true}}}'
    )
    checkout.run("lock", "--project", FOLDER, check=True)
    return checkout


@pytest.mark.parametrize(
    ("ids", "written"),
    [
        ("", ["--silent", "repos/acme/app/issues/7/comments", "--field"]),
        ("41\n42\n", ["--silent", "--method", "PATCH", "repos/acme/app/issues/comments/41", "--field"]),
    ],
)
def test_the_action_writes_its_review_into_the_summary_and_one_comment(
    pull_request: CommandSandbox, ids: str, written: list[str]
) -> None:
    root = pull_request.root
    (root / "ids").write_text(ids)
    base = git("-C", str(pull_request.work), "rev-parse", "HEAD").strip()
    review = pull_request.run("diff", "--project", FOLDER, "--locked", base, "--format", "markdown", check=True).stdout

    done = Runner(pull_request).run(REVIEW, sha=base, comment="true", token="", number="7", project=FOLDER)

    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    assert "testing" in review
    assert (root / "summary").read_text() == (root / "body").read_text() == f"<!-- skillpm: {FOLDER} -->\n{review}"
    asked = ["api", "--paginate", "repos/acme/app/issues/7/comments"]
    assert (root / "calls").read_text().splitlines() == [*asked, "api", *written]


def test_the_action_comments_only_when_asked_and_fails_if_the_review_is_not_whole(pull_request: CommandSandbox) -> None:
    pull_request.write(f"{FOLDER}/skills.lock", "{")
    base = git("-C", str(pull_request.work), "rev-parse", "HEAD").strip()

    done = Runner(pull_request).run(REVIEW, sha=base, comment="false", token="", number="7", project=FOLDER)

    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert (pull_request.root / "summary").read_text() == f"<!-- skillpm: {FOLDER} -->\n"
    assert not (pull_request.root / "calls").exists()


def test_the_scheduled_job_commits_an_update_and_opens_a_pull_request(tmp_path: Path) -> None:
    upstream, origin = Repository.create(tmp_path / "upstream"), tmp_path / "origin"
    upstream.write(prefix_paths("skills/pdf", make_skill("pdf"))).commit()
    scene = CommandSandbox(tmp_path / "scene").create_project()
    scene.run("install", f"{upstream.file_url}@pdf", check=True)
    git("init", "-q", "--bare", str(origin))
    for command in (["init", "-q", "-b", "main"], ["add", "skills.json", "skills.lock"], ["commit", "-qm", "base"]):
        git("-C", str(scene.work), *command)
    git("-C", str(scene.work), "remote", "add", "origin", str(origin))
    (scene.root / "ids").touch()
    runner = Runner(scene)
    steps = next(steps_of(workflow) for workflow in workflows() if "schedule:" in workflow)

    idle = runner.run("Update and open a pull request", steps, token="")
    branches = git("-C", str(origin), "branch", "--list")
    commit = upstream.write({"skills/pdf/forms.md": "Forms.\n"}).commit()
    done = runner.run("Update and open a pull request", steps, token="")

    assert (idle.returncode, branches) == (0, "")
    assert (done.returncode, done.stderr) == (0, "")
    title = ["--head", "skillpm-update", "--title", "Update skills"]
    assert (scene.root / "calls").read_text().splitlines() == [
        *("pr", "create", *title, "--body-file", str(scene.root / "body.md"))
    ]
    assert "forms.md" in (scene.root / "body.md").read_text()
    assert git("-C", str(origin), "show", "--format=%an: %s", "--name-only", "skillpm-update").split("\n") == [
        "github-actions[bot]: Update skills",
        "",
        "skills.lock",
    ]
    assert commit in git("-C", str(origin), "show", "skillpm-update:skills.lock")


RECIPE: dict[str, Any] = next(
    value
    for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    if "customManagers" in (value := json.loads(block))
)


def compiled(text: str) -> re.Pattern[str]:
    """Compile a pattern as Renovate writes it."""
    return re.compile(text.replace("(?<", "(?P<"))


def found(manifest: str) -> list[dict[str, str]]:
    """Return what the recipe finds in a manifest, in the order of its managers."""
    return [
        {"datasource": manager["datasourceTemplate"], **match.groupdict()}
        for manager in RECIPE["customManagers"]
        for pattern in manager["matchStrings"]
        for match in compiled(pattern).finditer(manifest)
    ]


def test_the_recipe_finds_each_tag_and_each_commit_that_install_writes(tmp_path: Path) -> None:
    names = ("at-branch", "at-commit", "at-default", "at-ref", "at-tag", "in-range", "some-files")
    upstream = Repository.create(tmp_path / "upstream")
    for name in names:
        upstream.write(prefix_paths(f"skills/{name}", make_skill(name)))
    commit = upstream.commit()
    upstream.tag("v1.0.0")
    scene = CommandSandbox(tmp_path / "scene").create_project()
    with GitServer() as server:
        url = server.serve("acme/skills", upstream)
        for words in (
            ["@at-branch", "--branch", "main"],
            ["@at-commit", "--rev", commit],
            ["@at-default"],
            ["#v1.0.0@at-ref"],
            ["@at-tag", "--tag", "v1.0.0"],
            ["@in-range", "--version", "^1"],
            ["@some-files", "--tag", "v1.0.0", "--files", "*.md"],
        ):
            host = ["--allow-insecure-host", "127.0.0.1"]
            scene.run("install", f"{url}{words[0]}", *words[1:], *host, check=True)
    scene.run("install", "code-review", check=True)
    manifest = scene.read("skills.json")

    tag = {"datasource": "git-tags", "packageName": url, "currentValue": "v1.0.0"}
    expected = [
        {**tag, "depName": "at-ref"},
        {**tag, "depName": "at-tag"},
        {**tag, "depName": "some-files"},
        {"datasource": "git-refs", "depName": "at-commit", "packageName": url, "currentDigest": commit},
    ]
    assert sorted(json.loads(manifest)["skills"]) == sorted([*names, "code-review"])
    assert found(manifest) == expected
    assert found(json.dumps(json.loads(manifest), indent=4)) == expected, "one key a line, as other programs write it"


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("skills.json", True),
        ("services/api/skills.json", True),
        (".agent-skills/skills.json", False),
        ("services/api/.agent-skills/skills.json", False),
        ("my-skills.json", False),
    ],
)
def test_the_recipe_reads_manifests_and_no_registry(path: str, read: bool) -> None:  # noqa: FBT001
    patterns = {text.strip("/") for manager in RECIPE["customManagers"] for text in manager["managerFilePatterns"]}
    assert [bool(compiled(pattern).search(path)) for pattern in patterns] == [read]


@pytest.mark.parametrize(
    ("tag", "parts"),
    [
        ("v1.2.0", ("", "1", "2", "0", None)),
        ("1.2", ("", "1", "2", None, None)),
        ("pdf-v1.2.0-beta.1", ("pdf-", "1", "2", "0", "beta.1")),
        ("skill2@1.2.0", ("skill2@", "1", "2", "0", None)),
        ("2024-notes", None),
    ],
)
def test_the_recipe_compares_tags_of_one_skill_only(tag: str, parts: tuple[str | None, ...] | None) -> None:
    versioning = RECIPE["customManagers"][0]["versioningTemplate"].removeprefix("regex:")
    match = compiled(versioning).search(tag)
    assert (match and match.group("compatibility", "major", "minor", "patch", "prerelease")) == parts
