"""Dependencies of a git skill that its own repository has: from there, at the same commit, and never from an index."""

import json
from pathlib import Path
from typing import Any

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill, prefix_paths

DEPENDENCIES = {"skill-dependencies": "pdf-forms>=1; csv-merge"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "upstream")


@pytest.fixture
def url(upstream: Repository, server: GitServer) -> str:
    upstream.write(prefix_paths("skills/docx-report", make_skill("docx-report", metadata=DEPENDENCIES)))
    upstream.write(prefix_paths("skills/pdf-forms", make_skill("pdf-forms", metadata={"version": "1.2.0"})))
    upstream.write(
        prefix_paths("deep/csv-merge", make_skill("csv-merge", metadata={"skill-dependencies": "pdf-forms"}))
    )
    upstream.write(prefix_paths("skills/other", make_skill("other")))
    upstream.commit()
    upstream.tag("v1.5.0")
    return server.serve("acme/skills", upstream)


@pytest.fixture
def index(project: Project, tmp_path: Path) -> Path:
    """An index that has other skills of these names, in newer versions."""
    names = ("pdf-forms", "csv-merge", "elsewhere")
    for name in names:
        for path, content in make_skill(name, body="index\n", metadata={"version": "9.0.0"}).items():
            project.write(f"../source/{name}/{path}", content)
    project.run("index", "build", "../source", "--out", str(tmp_path / "index"), check=True)
    project.write(
        "skills.json", json.dumps({"indexes": [{"name": "local", "url": str(tmp_path / "index")}], "skills": {}})
    )
    return tmp_path / "index"


def locked(project: Project) -> dict[str, Any]:
    skills: dict[str, Any] = json.loads(project.read("skills.lock"))["skills"]
    return skills


def places(project: Project) -> dict[str, tuple[str, str, str]]:
    """Return path, commit and ref of each locked skill of a repository."""
    sources = {name: skill["source"] for name, skill in locked(project).items()}
    return {name: (it["path"], it["commit"], it.get("ref", "")) for name, it in sources.items()}


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize(
    ("words", "ref", "version"),
    [
        (["URL@docx-report"], "HEAD", "1.2.0"),
        (["URL#main@docx-report"], "refs/heads/main", "1.2.0"),
        (["URL#v1.5.0@docx-report"], "refs/tags/v1.5.0", "1.5.0"),
        (["URL#COMMIT@docx-report"], "", "1.2.0"),
        (["URL@docx-report", "--version", "^1"], "refs/tags/v1.5.0", "1.5.0"),
        (["URL@docx-report", "--path", "skills/docx-report"], "HEAD", "1.2.0"),
        (["URL@docx-report", "URL@csv-merge"], "HEAD", "1.2.0"),
        (["URL", "--all", "--exclude", "other"], "HEAD", "1.2.0"),
        (["URL@docx-report", "-g"], "HEAD", "1.2.0"),
    ],
    ids=" ".join,
)
def test_they_come_from_the_same_commit(
    project: Project, upstream: Repository, url: str, tmp_path: Path, words: list[str], ref: str, version: str
) -> None:
    commit = upstream.resolve("main")
    project.run("install", *(word.replace("URL", url).replace("COMMIT", commit) for word in words), check=True)
    if "-g" in words:
        assert "csv-merge" in project.run("list", "-g").stdout
        return

    assert places(project) == {
        "csv-merge": ("deep/csv-merge", commit, ref),
        "docx-report": ("skills/docx-report", commit, ref),
        "pdf-forms": ("skills/pdf-forms", commit, ref),
    }
    assert locked(project)["pdf-forms"]["version"] == version
    other = project.clone(tmp_path / "other")
    for command in (
        ["sync", "--frozen"],
        ["verify"],
        ["lock", "--check"],
        ["outdated"],
        ["sync"],
        ["update"],
        ["tree"],
    ):
        other.run(*command, check=True)
    assert other.read("skills.lock") == project.read("skills.lock")


@pytest.mark.usefixtures("index")
def test_a_manifest_and_a_member_of_a_workspace_mean_the_same(project: Project, upstream: Repository, url: str) -> None:
    manifest = json.loads(project.read("skills.json"))
    project.write("skills.json", json.dumps(manifest | {"members": ["packages/*"]}))
    member = {"skills": {"docx-report": {"git": url, "path": "skills/docx-report"}}}
    project.write("packages/one/skills.json", json.dumps(member))
    project.run("sync", check=True)

    assert {commit for _, commit, _ in places(project).values()} == {upstream.resolve("main")}
    project.run("sync", "--frozen", check=True)
    assert project.exists("packages/one/.agent-skills/pdf-forms")


@pytest.mark.usefixtures("index")
def test_an_update_takes_the_new_sibling(project: Project, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}@docx-report", check=True)
    old = upstream.resolve("main")
    upstream.write(prefix_paths("skills/pdf-forms", make_skill("pdf-forms", metadata={"version": "1.3.0"}))).commit()

    outdated = project.run("outdated", check=True).stdout.splitlines()
    assert [line.split()[:3] for line in outdated[1:]] == [["pdf-forms", "1.2.0", "1.3.0"]]
    project.run("sync", check=True)
    assert locked(project)["pdf-forms"]["version"] == "1.2.0"
    project.run("update", check=True)

    assert locked(project)["pdf-forms"]["version"] == "1.3.0"
    assert {name: commit for name, (_, commit, _) in places(project).items()} == {
        "csv-merge": old,
        "docx-report": old,
        "pdf-forms": upstream.resolve("main"),
    }
    for command in (["sync", "--frozen"], ["lock", "--check"], ["sync"], ["update"]):
        project.run(*command, check=True)


@pytest.mark.usefixtures("index")
def test_a_new_skill_upgrades_no_sibling(project: Project, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}@docx-report", check=True)
    before = locked(project)
    more = make_skill("xlsx-report", metadata=DEPENDENCIES)
    upstream.write(prefix_paths("skills/xlsx-report", more) | prefix_paths("deep/csv-merge", make_skill("csv-merge")))
    upstream.commit()
    project.run("install", f"{url}@xlsx-report", check=True)

    after = locked(project)
    assert {name: after[name] for name in before} == before
    project.run("sync", "--frozen", check=True)


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("words", [["install", "URL@docx-report"], ["install", "URL", "--all"], ["lock"], ["sync"]])
def test_a_version_outside_of_the_range_is_an_error(
    project: Project, upstream: Repository, url: str, words: list[str]
) -> None:
    metadata = {"skill-dependencies": "pdf-forms>=2"}
    upstream.write(prefix_paths("skills/docx-report", make_skill("docx-report", metadata=metadata))).commit()
    if words[0] != "install":
        manifest = json.loads(project.read("skills.json"))
        manifest["skills"]["docx-report"] = {"git": url, "path": "skills/docx-report"}
        project.write("skills.json", json.dumps(manifest))
    before = project.snapshot()

    result = project.run(*(word.replace("URL", url) for word in words))
    assert result.code == 1
    assert "requires `pdf-forms` >=2" in result.stderr, result.stderr
    assert "1.2.0" in result.stderr
    assert project.snapshot() == before


def test_what_the_repository_lacks_comes_from_the_index(
    project: Project, upstream: Repository, url: str, index: Path
) -> None:
    metadata = {"skill-dependencies": "elsewhere; pdf-forms"}
    upstream.write(prefix_paths("skills/docx-report", make_skill("docx-report", metadata=metadata))).commit()
    project.run("install", f"{url}@docx-report", check=True)

    assert locked(project)["elsewhere"]["source"]["index"] == f"{index}/"
    assert locked(project)["pdf-forms"]["source"]["git"] == url


def test_the_manifest_decides(project: Project, url: str, index: Path) -> None:
    project.run("install", "pdf-forms", check=True)
    project.run("install", f"{url}@docx-report", check=True)

    assert locked(project)["pdf-forms"]["source"]["index"] == f"{index}/"
    assert locked(project)["csv-merge"]["source"]["git"] == url


def test_a_lock_with_a_dependency_from_an_index_stays(
    project: Project, upstream: Repository, url: str, index: Path, tmp_path: Path
) -> None:
    upstream.remove(["skills/pdf-forms", "deep/csv-merge"]).commit()
    project.run("install", f"{url}@docx-report", check=True)
    before = project.read("skills.lock")
    assert locked(project)["pdf-forms"]["source"]["index"] == f"{index}/"
    upstream.write(prefix_paths("skills/pdf-forms", make_skill("pdf-forms", metadata={"version": "1.2.0"}))).commit()

    other = project.clone(tmp_path / "other")
    for machine in (project, other):
        for command in (["sync", "--frozen"], ["sync"], ["lock"]):
            machine.run(*command, check=True)
        assert machine.read("skills.lock") == before


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("how", ["another repository", "another branch", "another commit of a rev"])
def test_a_lock_cannot_take_them_from_elsewhere(
    project: Project, upstream: Repository, server: GitServer, url: str, tmp_path: Path, how: str
) -> None:
    spec = f"{url}#{upstream.resolve('main')}@docx-report" if how == "another commit of a rev" else f"{url}@docx-report"
    project.run("install", spec, check=True)
    upstream.branch("pull/7")
    evil = upstream.write(prefix_paths("skills/pdf-forms", make_skill("pdf-forms", body="evil\n"))).commit(
        branch="pull/7"
    )
    other = Project(tmp_path / "evil")
    other.run("install", f"{server.serve('evil/skills', upstream)}#{evil}@pdf-forms", check=True)
    forged = locked(other)["pdf-forms"]
    document = json.loads(project.read("skills.lock"))
    source = document["skills"]["pdf-forms"]["source"]
    match how:
        case "another repository":
            source = forged["source"]
        case "another branch":
            source |= {"ref": "refs/heads/pull/7", "commit": evil, "tree": forged["source"]["tree"]}
        case _:
            source |= {"commit": evil, "tree": forged["source"]["tree"]}
    document["skills"]["pdf-forms"] |= {"source": source, "digest": forged["digest"]}
    victim = project.clone(tmp_path / "victim")
    victim.write("skills.lock", json.dumps(document))

    for command in (["sync", "--frozen"], ["sync", "--locked"], ["sync"]):
        result = victim.run(*command)
        assert (result.code, "`pdf-forms` is locked to" in result.stderr) == (1, True), result.stderr
    assert not victim.exists(".agent-skills/pdf-forms")
