"""Invalid input: each error has a message, a location and a hint; nothing is changed, and there is no traceback."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text
from kit import GitServer, Repository, make_skill, prefix_paths

if TYPE_CHECKING:
    from kit.sandbox import Environment

MANIFEST = '{"skills": {"code-review": {"bundled": true}, "pdf": {"git": "URL", "path": "skills/pdf"}}}\n'
BUNDLED = "api-design, claude-code, code-review, git-release, google-workspace, playwright-mcp, skill-creator, skillpm"
EXAMPLES = "e.g. code-review, owner/repo@skill, https://github.com/owner/repo, ./folder"
NAMES = "use lower-case letters, digits and single hyphens, at most 64 characters, e.g. bad-name"
RESTORE = "restore it from version control, or delete it and run `skillpm lock`"
FIX = "fix the file by hand, or restore it from version control"
ZEROS = "0" * 40
A_PATH = (
    "paths are relative to the current folder; for a skill in a repository, use owner/repo@skill without ./ in front"
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A command line, the damage done before, and the whole error: message, location, hint."""

    words: str | list[str]
    message: str
    hint: str
    where: str = ""
    code: int = 1
    damage: Callable[[CommandSandbox], object] = lambda _: None
    env: Environment | None = None

    @property
    def arguments(self) -> list[str]:
        return self.words.split() if isinstance(self.words, str) else self.words


def overwrite(path: str, content: str | bytes) -> Callable[[CommandSandbox], object]:
    """Return a function that overwrites a document; `URL` in it is replaced by the upstream's URL."""

    def damage(scene: CommandSandbox) -> None:
        url = next(iter(scene.placeholders))
        scene.write(path, content.replace("URL", url) if isinstance(content, str) else content)

    return damage


def replace_text(path: str, old: str, new: str) -> Callable[[CommandSandbox], object]:
    """Return a function that replaces the first occurrence of a text in a document."""

    def damage(scene: CommandSandbox) -> None:
        text = scene.read(path)
        assert old in text
        scene.write(path, text.replace(old, new, 1))

    return damage


LOCKFILE, RECEIPT = "skills.lock", ".agent-skills/.skillpm/receipt.json"
EVIL = f'"git": "https://evil.example/x", "commit": "{ZEROS}", "tree": "{ZEROS}", "path": "."'
ANOTHER_SOURCE = (
    "`code-review` is locked to https://evil.example/x at 0000000, but the manifest specifies another source"
)
ANOTHER_PLACE = ('"bundled": "code-review"', EVIL)

SPECS = {
    "nothing": Case(words=["install", ""], code=2, message="the SPEC is empty", hint=EXAMPLES),
    "capitals": Case(
        words="install Code-Review",
        code=2,
        message="invalid SPEC `Code-Review`",
        hint="names are lower case, without `@`: code-review",
    ),
    "two words": Case(words=["install", "code review"], code=2, message="invalid SPEC `code review`", hint=EXAMPLES),
    "half a repository": Case(words="install owner/", code=2, message="invalid SPEC `owner/`", hint=EXAMPLES),
    "an invalid version": Case(
        words=["install", "code-review@1 || 2"],
        code=2,
        message="invalid version range `1 || 2`",
        hint='e.g. `name@^1.2`, `name@1.2.0` or `"name>=1.2,<2"`',
    ),
    "a reserved name": Case(words="install con", code=2, message="`con`: invalid skill name `con`", hint=EXAMPLES),
    "a ref that is missing": Case(
        words="install owner/repo#",
        code=2,
        message="`owner/repo#`: missing ref or skill at the end",
        hint=EXAMPLES,
    ),
    "a page that is not a folder": Case(
        words="install https://github.com/o/r/issues/3",
        code=2,
        message="`https://github.com/o/r/issues/3` is a page of a forge that shows no folder",
        hint="use the URL of the folder, or https://github.com/o/r",
    ),
    "ftp": Case(words="install ftp://x/y", code=2, message="`ftp://` is not supported", hint=EXAMPLES),
    "a program instead of a URL": Case(
        words=["install", "ext::sh -c id"], code=2, message="invalid SPEC `ext::sh -c id`", hint=EXAMPLES
    ),
    "an archive": Case(
        words="install ./nothing.tar.gz",
        message="./nothing.tar.gz does not exist",
        where="WORK/nothing.tar.gz",
        hint=A_PATH,
    ),
    "plain http": Case(
        words="install http://example.com/x.git",
        message="http://example.com/x.git uses plain HTTP, which can be tampered with in transit",
        hint="use https, or allow it with --allow-insecure-host example.com",
    ),
    "--tag and a bundled skill": Case(
        words="install testing --tag v1",
        code=2,
        message="--tag cannot be used with `testing`",
        hint="run `skillpm install --help`",
    ),
    "--link and a repository": Case(
        words="install URL@docx --link",
        code=2,
        message="--link cannot be used with `URL@docx`",
        hint="run `skillpm install --help`",
    ),
    "two refs": Case(
        words="install URL#main@docx --tag v1",
        code=2,
        message="`URL#main@docx` already has a ref, which conflicts with --tag",
        hint="run `skillpm install --help`",
    ),
    "half a commit": Case(
        words="install URL@docx --rev abc123",
        code=2,
        message="`abc123` is not a full commit ID",
        hint="use all 40 digits, or --tag or --branch",
    ),
    "--as and several": Case(
        words="install URL --all --as one",
        code=2,
        message="--as requires a single skill, but there are several",
        hint="run `skillpm install --help`",
    ),
    "--as and a bad name": Case(
        words=["install", "URL@docx", "--as", "Bad Name"], code=2, message="invalid skill name `Bad Name`", hint=NAMES
    ),
    "--as and a bundled skill": Case(
        words="install testing --as mine",
        code=2,
        message="--as cannot be used with `testing`: skills of an index and bundled ones keep their names",
        hint="run `skillpm install --help`",
    ),
    "--list without a repository": Case(
        words="install testing --list",
        code=2,
        message="`testing` is not a repository, a registry, a site or a package, so there is nothing to list",
        hint="run `skillpm install --help`",
    ),
}

UNKNOWN_NAMES = {
    "a bundled skill, mistyped": Case(
        words="install code-reviw",
        message="no index is configured, and skillpm bundles no skill named `code-reviw`",
        hint="did you mean `code-review`?",
    ),
    "a bundled skill of which the beginning is mistyped": Case(
        words="install tesst",
        message="no index is configured, and skillpm bundles no skill named `tesst`",
        hint="did you mean `testing`?",
    ),
    "a version that is not there": Case(
        words="install testing@9",
        message="no version of `testing` satisfies 9; available: 1.0.0",
        hint="require another version, or name its repository: skillpm install owner/repo@testing",
    ),
    "a skill of a repository, mistyped": Case(
        words="install URL@dox", message="URL has no skill named `dox`", hint="did you mean `docx`?"
    ),
    "a skill a repository does not have": Case(
        words="install URL@zzz", message="URL has no skill named `zzz`", hint="it has: docx, pdf"
    ),
    "a folder a repository does not have": Case(
        words="install URL --path skills/pfd",
        message="URL has no folder `skills/pfd`",
        hint="its skills are in: skills/pdf",
    ),
    "a folder without a skill": Case(
        words="install URL --path assets",
        message="URL has no SKILL.md in `assets`",
        hint="its skills are in: skills/docx, skills/pdf",
    ),
    "a folder above the repository": Case(
        words="install URL --path ../x",
        message="URL has no folder `../x`",
        hint="its skills are in: skills/docx, skills/pdf",
    ),
    "a branch": Case(
        words="install URL@docx --branch zzz",
        message="URL has no branch `zzz`",
        hint="its branches: main",
    ),
    "a tag": Case(
        words="install URL@docx --tag zzz", message="URL has no tag `zzz`", hint="it has no tags; its branches: main"
    ),
    "a ref": Case(
        words="install URL#zzz@docx",
        message="URL has no branch or tag `zzz`",
        hint="it has no tags; its branches: main",
    ),
    "a folder of this disk": Case(words="install ./zzz", message="./zzz does not exist", where="WORK/zzz", hint=A_PATH),
    "a folder outside": Case(
        words="install /zzz/zzz", message="/zzz/zzz does not exist", where="/zzz/zzz", hint=A_PATH
    ),
    "a folder that is not a skill": Case(
        words="install ./plain",
        damage=overwrite("plain/notes.md", "Words.\n"),
        message="./plain has no SKILL.md",
        hint="its flat files can become skills: run `skillpm migrate ./plain --dry-run`, then install them from there",
    ),
    "a folder with nothing of a skill in it": Case(
        words="install ./plain",
        damage=overwrite("plain/notes.txt", "Words.\n"),
        message="./plain has no SKILL.md",
        hint="a skill is a folder that contains a SKILL.md",
    ),
    "a repository": Case(
        words="install MISSING@pdf",
        message="there is no git repository at MISSING",
        hint="check the spelling; if it is private, check that git can read it: git ls-remote MISSING",
    ),
}

DOCUMENTS = {
    "a manifest that is not JSON": Case(
        words="sync",
        damage=overwrite("skills.json", '{\n  "skills": {"a": }\n}'),
        message="invalid JSON: Expecting value",
        where="WORK/skills.json:2:19",
        hint=FIX,
    ),
    "an empty manifest": Case(
        words="list",
        damage=overwrite("skills.json", ""),
        message="invalid JSON: Expecting value",
        where="WORK/skills.json:1:1",
        hint=f"the file is empty; {FIX}",
    ),
    "a manifest that is not text": Case(
        words="sync",
        damage=overwrite("skills.json", b'{"skills": {"\xff": 1}}'),
        message="this document is not UTF-8",
        where="WORK/skills.json",
        hint=FIX,
    ),
    "an invalid name in a manifest": Case(
        words="sync",
        damage=overwrite("skills.json", '{"skills": {"Bad Name": "*"}}'),
        message="invalid skill name `Bad Name`",
        where="WORK/skills.json:1:13: skills.Bad Name",
        hint=NAMES,
    ),
    "an unknown key in a requirement": Case(
        words="sync",
        damage=overwrite("skills.json", '{"skills": {"testing": {"bundled": true, "tga": "v1"}}}'),
        message="unknown key `tga`; known keys: bundled",
        where="WORK/skills.json:1:42: skills.testing.tga",
        hint=FIX,
    ),
    "two refs in a requirement": Case(
        words="sync",
        damage=overwrite("skills.json", '{"skills": {"pdf": {"git": "URL", "tag": "a", "branch": "b"}}}'),
        message="tag, branch cannot be combined",
        where="WORK/skills.json:1:13: skills.pdf",
        hint=FIX,
    ),
    "a word twice in a manifest": Case(
        words="sync",
        damage=overwrite("skills.json", '{"skills": {}, "skills": {}}'),
        message="duplicate key `skills`",
        where="WORK/skills.json:1:16",
        hint=FIX,
    ),
    "a lockfile that is not JSON": Case(
        words="sync",
        damage=overwrite(LOCKFILE, '{\n "version": 1,,\n}'),
        message="invalid JSON: Expecting property name enclosed in double quotes",
        where="WORK/skills.lock:2:15",
        hint=RESTORE,
    ),
    "a lockfile with merge conflict markers": Case(
        words="sync --frozen",
        damage=overwrite(LOCKFILE, "<<<<<<< HEAD\n{}\n"),
        message="unresolved merge conflict",
        where="WORK/skills.lock:1",
        hint="`skillpm lock` merges both sides, except in CI; "
        "or take one: `git checkout --ours skills.lock`, then `skillpm lock`",
    ),
    "a manifest in which `skills` is mistyped": Case(
        words="list",
        damage=overwrite("skills.json", '{\n  "skils": {}\n}\n'),
        message="unknown key `skils`; did you mean `skills`?",
        where="WORK/skills.json:2:3: skils",
        hint=FIX,
    ),
    "a lockfile of a newer skillpm": Case(
        words="sync",
        damage=replace_text(LOCKFILE, '"version": 1', '"version": 2'),
        message="unsupported format 2; this version of skillpm reads up to 1",
        where="WORK/skills.lock",
        hint="upgrade skillpm: pip install --upgrade agent-skillpm",
    ),
    "an unknown key in a lockfile": Case(
        words="sync",
        damage=replace_text(LOCKFILE, '"digest"', '"extra": 1, "digest"'),
        message="unknown key `extra`; known keys: version, source, digest, signer, dependencies",
        where="WORK/skills.lock:18:7: skills.code-review.extra",
        hint=RESTORE,
    ),
    "a digest of another kind": Case(
        words="verify",
        damage=replace_text(LOCKFILE, '"digest": "sha256:', '"digest": "md5:'),
        message="expected sha256: and 64 hex digits, got 'md5:DIGEST-code-review'",
        where="WORK/skills.lock:18:7: skills.code-review.digest",
        hint=RESTORE,
    ),
    "an invalid range": Case(
        words="sync",
        damage=overwrite("skills.json", '{"skills": {"code-review": "~=1"}}'),
        message="invalid version range `~=1`",
        where="WORK/skills.json:1:13: skills.code-review",
        hint="e.g. `^1.2`, `~1.2`, `>=1.2,<2` or `1.2.0`, with commas between its parts",
    ),
    "a lockfile with another source": Case(
        words="sync",
        damage=replace_text(LOCKFILE, *ANOTHER_PLACE),
        message=ANOTHER_SOURCE,
        where="WORK/skills.lock: skills.code-review.source",
        hint="if the manifest was changed, run `skillpm lock`; otherwise, check who changed the lockfile",
    ),
    "a frozen lockfile with another source": Case(
        words="sync --frozen",
        damage=replace_text(LOCKFILE, *ANOTHER_PLACE),
        message=ANOTHER_SOURCE,
        where="WORK/skills.lock: skills.code-review.source",
        hint="if the manifest was changed, run `skillpm lock`; otherwise, check who changed the lockfile",
    ),
    "a receipt that is not JSON": Case(
        words="sync",
        damage=overwrite(RECEIPT, "{"),
        message="invalid JSON: Expecting property name enclosed in double quotes",
        where=f"WORK/{RECEIPT}:1:2",
        hint="remove that file and run `skillpm sync`, which adopts the skills that match the lockfile",
    ),
    "a receipt that is read": Case(
        words="list",
        damage=replace_text(RECEIPT, '"size":', '"sice":'),
        message="unknown key `sice`; did you mean `size`?",
        where=f"WORK/{RECEIPT}:13:11: skills.code-review.files.SKILL.md.sice",
        hint="remove that file and run `skillpm sync`, which adopts the skills that match the lockfile",
    ),
    "a receipt of a newer skillpm": Case(
        words="list",
        damage=replace_text(RECEIPT, '"version": 1', '"version": 9'),
        message="unsupported format 9; this version of skillpm reads up to 1",
        where=f"WORK/{RECEIPT}",
        hint="upgrade skillpm: pip install --upgrade agent-skillpm",
    ),
    "settings that are not TOML": Case(
        words="sync",
        damage=overwrite("../home/.config/skillpm/config.toml", "agents = "),
        message="invalid TOML: Invalid value (at end of document)",
        where="HOME/.config/skillpm/config.toml",
        hint=FIX,
    ),
}

ENVIRONMENT = {
    "no git": Case(
        words="install URL@docx",
        env={"PATH": "/nonexistent"},
        message="`git` was not found on PATH",
        hint="install git (2.37 or newer), e.g. `apt-get install git`",
    ),
    "offline": Case(
        words="install MISSING@docx --offline",
        message="not cached, and the network is disabled: MISSING at HEAD",
        hint="run the same command once without --offline",
    ),
}

CASES = SPECS | UNKNOWN_NAMES | DOCUMENTS | ENVIRONMENT


@dataclass(frozen=True)
class World:
    """A project with two skills and the forge of one of them; copied for each case."""

    scene: CommandSandbox
    url: str
    missing: str
    digests: dict[str, str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    base = tmp_path_factory.mktemp("world")
    upstream = Repository.create(base / "upstream")
    upstream.write(
        prefix_paths("skills/pdf", make_skill("pdf"))
        | prefix_paths("skills/docx", make_skill("docx"))
        | {"assets/logo": "A"}
    ).commit()
    with GitServer() as server:
        url = server.serve("acme/skills", upstream)
        scene = CommandSandbox(base / "scene").create_project(MANIFEST.replace("URL", url))
        scene.run("sync", check=True)
        locked = scene.read_json(LOCKFILE)["skills"]
        digests = {name: entry["digest"].removeprefix("sha256:") for name, entry in locked.items()}
        yield World(scene, url, server.url("acme/missing"), digests)


@pytest.fixture
def scene(world: World, tmp_path: Path) -> CommandSandbox:
    world.scene.copy(tmp_path / "scene")
    scene = CommandSandbox(tmp_path / "scene")
    digests = {digest: f"DIGEST-{name}" for name, digest in world.digests.items()}
    scene.placeholders = {world.url: "URL", world.missing: "MISSING", **digests, **scene.placeholders}
    return scene


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_error_is_complete_and_nothing_is_changed(scene: CommandSandbox, world: World, case: Case) -> None:
    words = [word.replace("URL", world.url).replace("MISSING", world.missing) for word in case.arguments]
    case.damage(scene)
    before = scene.full_snapshot

    output = scene.output(*words, env=case.env)

    where = f"!   where: {case.where}\n" if case.where else ""
    assert output == f"! error: {case.message}\n{where}!   hint: {case.hint}\n[{case.code}]\n"
    assert scene.full_snapshot == before


@pytest.mark.parametrize(
    "how", [[], ["--frozen"], ["--locked"], ["--offline"]], ids=lambda how: " ".join(how) or "plain"
)
@pytest.mark.parametrize("is_installed", [True, False], ids=["installed", "not installed"])
def test_one_wrong_character_of_a_digest_stops_a_sync(
    scene: CommandSandbox, world: World, how: list[str], *, is_installed: bool
) -> None:
    right = world.digests["pdf"]
    wrong = ("0" if right[0] != "0" else "1") + right[1:]
    replace_text(LOCKFILE, right, wrong)(scene)
    if not is_installed:
        (scene.work / ".agent-skills").rename(scene.root / "moved-away")
    before = scene.full_snapshot
    commit = scene.read_json(LOCKFILE)["skills"]["pdf"]["source"]["commit"][:7]

    output = scene.output("sync", *how)

    assert output == expected_output(f"""\
! error: `pdf` from URL at {commit} does not match the lockfile: \
expected sha256:{wrong[:12]}…, got sha256:{right[:12]}…
!   where: skills.lock: skills.pdf.digest
!   hint: nothing was changed; check the history of skills.lock in version control, and restore it, or lock \
the current content with `skillpm update pdf`
[1]
""")
    assert scene.full_snapshot == before


def test_all_wrong_digests_are_reported(scene: CommandSandbox, world: World) -> None:
    names = sorted(world.digests)[:2]
    for name in names:
        replace_text(LOCKFILE, world.digests[name], "0" * 64)(scene)
    before = scene.full_snapshot

    output = scene.run("sync", "--frozen").stderr.splitlines()

    assert output[0] == "error: 2 skills do not match the lockfile"
    assert [line.split("`")[1] for line in output[1:3]] == names
    assert output[3] == "  where: skills.lock"
    assert scene.full_snapshot == before


def test_a_server_that_cannot_be_reached_is_an_error(scene: CommandSandbox) -> None:
    before = scene.full_snapshot

    output = scene.output("install", "http://127.0.0.1:1/x.git@pdf")

    first, second, code = output.splitlines()
    message, _, quoted = first.partition("; git says: ")
    assert (message, code) == ("! error: http://127.0.0.1:1/x.git could not be reached", "[1]")
    assert quoted.startswith("fatal: unable to access 'http://127.0.0.1:1/x.git/': ")
    assert second == "!   hint: check the URL and your network connection"
    assert scene.full_snapshot == before


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("empty", "is empty: it has no commits yet"),
        ("without a skill", "has no skills: it contains no SKILL.md"),
    ],
)
def test_a_repository_without_a_skill_is_an_error(
    scene: CommandSandbox, tmp_path: Path, kind: str, message: str
) -> None:
    repository = Repository.create(tmp_path / "other")
    if kind == "without a skill":
        repository.write({"README.md": "Nothing here.\n"}).commit()
    before = scene.full_snapshot

    output = scene.output("install", repository.file_url)

    assert output.splitlines()[0] == f"! error: {repository.file_url} {message}"
    assert len(output.splitlines()) <= 4
    assert output.endswith("[1]\n")
    assert scene.full_snapshot == before


def test_a_locked_skills_directory_is_reported_with_the_process_that_holds_it(scene: CommandSandbox) -> None:
    with GitServer() as slow:
        slow.stall = True
        scene.write("skills.json", manifest_text(slow={"git": slow.url("acme/slow")}))
        with scene.spawn("sync") as other:
            while not slow.requests:
                assert other.poll() is None
                os.sched_yield()
            before = scene.full_snapshot

            output = scene.output("sync", "--lock-timeout", "0.2")
            listed = scene.run("list")

            assert output == expected_output(f"""\
! error: WORK/.agent-skills has been locked by process {other.pid} for more than 0.2 s
!   where: WORK/.agent-skills/.skillpm/lock
!   hint: wait for it to finish, or wait longer with --lock-timeout
[1]
""")
            assert listed.code == 0
            assert scene.full_snapshot == before
            other.terminate()
            other.communicate(timeout=60)
