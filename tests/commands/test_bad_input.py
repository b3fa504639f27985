"""Everything that cannot work: told in a few lines with a way on, nothing changed, and never a traceback."""

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
NAMES = "use lower-case letters, digits and single hyphens, at most 64 characters, e.g. code-review"
MEND = "mend that place by hand, or take the file from version control"
ZEROS = "0" * 40
A_PATH = "a path starts where you are; a skill of a repository is owner/repo@skill, without ./ in front"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A command line, what was spoilt before, and all that is said: message, place, way on."""

    words: str | list[str]
    said: str
    hint: str
    where: str = ""
    code: int = 1
    spoil: Callable[[CommandSandbox], object] = lambda _: None
    env: Environment | None = None

    @property
    def arguments(self) -> list[str]:
        return self.words.split() if isinstance(self.words, str) else self.words


def written(path: str, content: str | bytes) -> Callable[[CommandSandbox], object]:
    """Overwrite a document; `URL` in it is the upstream's address."""

    def spoil(scene: CommandSandbox) -> None:
        url = next(iter(scene.placeholders))
        scene.write(path, content.replace("URL", url) if isinstance(content, str) else content)

    return spoil


def changed(path: str, old: str, new: str) -> Callable[[CommandSandbox], object]:
    """Change a word of a document, once."""

    def spoil(scene: CommandSandbox) -> None:
        text = scene.read(path)
        assert old in text
        scene.write(path, text.replace(old, new, 1))

    return spoil


LOCKFILE, RECEIPT = "skills.lock", ".agent-skills/.skillpm/receipt.json"
EVIL = f'"git": "https://evil.example/x", "commit": "{ZEROS}", "tree": "{ZEROS}", "path": "."'
ANOTHER_PLACE = ('"bundled": "code-review"', EVIL)

SPECS = {
    "nothing": Case(words=["install", ""], code=2, said="an empty SPEC names nothing", hint=EXAMPLES),
    "capitals": Case(
        words="install Code-Review",
        code=2,
        said="`Code-Review` is no SPEC",
        hint="names are in lower case, without `@`: code-review",
    ),
    "two words": Case(words=["install", "code review"], code=2, said="`code review` is no SPEC", hint=EXAMPLES),
    "half a repository": Case(words="install owner/", code=2, said="`owner/` is no SPEC", hint=EXAMPLES),
    "a version that is none": Case(
        words=["install", "code-review@1 || 2"],
        code=2,
        said="`1 || 2` is no version range",
        hint='write it like `name@^1.2`, `name@1.2.0` or `"name>=1.2,<2"`',
    ),
    "a reserved name": Case(words="install con", code=2, said="`con`: `con` is no name for a skill", hint=EXAMPLES),
    "a ref that is missing": Case(
        words="install owner/repo#",
        code=2,
        said="`owner/repo#` ends where a ref or a skill should follow",
        hint=EXAMPLES,
    ),
    "a page that is no folder": Case(
        words="install https://github.com/o/r/issues/3",
        code=2,
        said="`https://github.com/o/r/issues/3` is a page of a forge that names no folder",
        hint="paste the address of the folder, or write https://github.com/o/r",
    ),
    "ftp": Case(words="install ftp://x/y", code=2, said="`ftp://` is not supported", hint=EXAMPLES),
    "a program for an address": Case(
        words=["install", "ext::sh -c id"], code=2, said="`ext::sh -c id` is no SPEC", hint=EXAMPLES
    ),
    "an archive": Case(
        words="install ./nothing.tar.gz",
        said="./nothing.tar.gz is not there",
        where="WORK/nothing.tar.gz",
        hint=A_PATH,
    ),
    "plain http": Case(
        words="install http://example.com/x.git",
        said="http://example.com/x.git is plain http, which anybody on the way can change",
        hint="use https, or allow it with --allow-insecure-host example.com",
    ),
    "--tag and a bundled skill": Case(
        words="install testing --tag v1", code=2, said="--tag does not go with `testing`", hint="skillpm install --help"
    ),
    "--link and a repository": Case(
        words="install URL@docx --link",
        code=2,
        said="--link does not go with `URL@docx`",
        hint="skillpm install --help",
    ),
    "two refs": Case(
        words="install URL#main@docx --tag v1",
        code=2,
        said="`URL#main@docx` names a ref already, so --tag would name another",
        hint="skillpm install --help",
    ),
    "half a commit": Case(
        words="install URL@docx --rev abc123",
        code=2,
        said="`abc123` is no whole commit id",
        hint="give all of its 40 digits, or use --tag or --branch",
    ),
    "--as and several": Case(
        words="install URL --all --as one",
        code=2,
        said="--as names one skill, and here are several",
        hint="skillpm install --help",
    ),
    "--as and a bad name": Case(
        words=["install", "URL@docx", "--as", "Bad Name"], code=2, said="`Bad Name` is no name for a skill", hint=NAMES
    ),
    "--as and a bundled skill": Case(
        words="install testing --as mine",
        code=2,
        said="--as does not go with `testing`: what an index has or ships with skillpm keeps its name",
        hint="skillpm install --help",
    ),
    "--list and no repository": Case(
        words="install testing --list",
        code=2,
        said="`testing` is no repository and no site, so there is nothing to list",
        hint="skillpm install --help",
    ),
}

NAMES_NOBODY_HAS = {
    "a bundled skill, mistyped": Case(
        words="install code-reviw",
        said="no index is configured, and no skill called `code-reviw` ships with skillpm",
        hint=f"did you mean code-review? bundled are: {BUNDLED}, testing; from a repository: owner/repo@code-reviw",
    ),
    "a version that is not there": Case(
        words="install testing@9",
        said="`testing` 9 is not there: there is 1.0.0",
        hint="ask for another version, or name the repository it is in",
    ),
    "a skill of a repository, mistyped": Case(
        words="install URL@dox", said="URL holds no skill called `dox`", hint="did you mean: docx"
    ),
    "a skill a repository does not have": Case(
        words="install URL@zzz", said="URL holds no skill called `zzz`", hint="it holds: docx, pdf"
    ),
    "a folder a repository does not have": Case(
        words="install URL --path skills/pfd",
        said="URL has no folder `skills/pfd`",
        hint="skills are at: skills/pdf, skills/docx",
    ),
    "a folder without a skill": Case(
        words="install URL --path assets",
        said="URL has no SKILL.md in `assets`",
        hint="skills are at: skills/docx, skills/pdf",
    ),
    "a folder above the repository": Case(
        words="install URL --path ../x", said="URL has no folder `../x`", hint="skills are at: skills/docx, skills/pdf"
    ),
    "a branch": Case(
        words="install URL@docx --branch zzz",
        said="URL has no branch `zzz`",
        hint="its branches: main",
    ),
    "a tag": Case(
        words="install URL@docx --tag zzz", said="URL has no tag `zzz`", hint="it has no tags; its branches: main"
    ),
    "a ref": Case(
        words="install URL#zzz@docx", said="URL has no branch or tag `zzz`", hint="it has no tags; its branches: main"
    ),
    "a folder of this disk": Case(words="install ./zzz", said="./zzz is not there", where="WORK/zzz", hint=A_PATH),
    "a folder outside": Case(words="install /zzz/zzz", said="/zzz/zzz is not there", where="/zzz/zzz", hint=A_PATH),
    "a folder that is no skill": Case(
        words="install ./plain",
        spoil=written("plain/notes.md", "Words.\n"),
        said="./plain has no SKILL.md",
        hint="its flat files can become skills: `skillpm migrate ./plain --dry-run`, then install them from there",
    ),
    "a folder with nothing of a skill in it": Case(
        words="install ./plain",
        spoil=written("plain/notes.txt", "Words.\n"),
        said="./plain has no SKILL.md",
        hint="a skill is a folder with a SKILL.md in it",
    ),
    "a repository": Case(
        words="install MISSING@pdf",
        said="there is no git repository at MISSING",
        hint="check the spelling; if it is private, that git can read it: git ls-remote MISSING",
    ),
}

DOCUMENTS = {
    "a manifest that is no JSON": Case(
        words="sync",
        spoil=written("skills.json", '{\n  "skills": {"a": }\n}'),
        said="this is not JSON: Expecting value",
        where="WORK/skills.json:2:19",
        hint=MEND,
    ),
    "an empty manifest": Case(
        words="list",
        spoil=written("skills.json", ""),
        said="this is not JSON: Expecting value",
        where="WORK/skills.json:1:1",
        hint=f"the file is empty; {MEND}",
    ),
    "a manifest that is no text": Case(
        words="sync",
        spoil=written("skills.json", b'{"skills": {"\xff": 1}}'),
        said="this document is not UTF-8",
        where="WORK/skills.json",
        hint=MEND,
    ),
    "a name that is none in a manifest": Case(
        words="sync",
        spoil=written("skills.json", '{"skills": {"Bad Name": "*"}}'),
        said="`Bad Name` is no name for a skill",
        where="WORK/skills.json:1:13: skills.Bad Name",
        hint=NAMES,
    ),
    "a key that is none in a requirement": Case(
        words="sync",
        spoil=written("skills.json", '{"skills": {"testing": {"bundled": true, "tga": "v1"}}}'),
        said="unknown key `tga`; known here: bundled",
        where="WORK/skills.json:1:42: skills.testing.tga",
        hint=MEND,
    ),
    "two refs in a requirement": Case(
        words="sync",
        spoil=written("skills.json", '{"skills": {"pdf": {"git": "URL", "tag": "a", "branch": "b"}}}'),
        said="at most one of tag, branch may be given",
        where="WORK/skills.json:1:13: skills.pdf",
        hint=MEND,
    ),
    "a word twice in a manifest": Case(
        words="sync",
        spoil=written("skills.json", '{"skills": {}, "skills": {}}'),
        said="`skills` stands twice in one object",
        where="WORK/skills.json:1:16",
        hint=MEND,
    ),
    "a lockfile that is no JSON": Case(
        words="sync",
        spoil=written(LOCKFILE, '{\n "version": 1,,\n}'),
        said="this is not JSON: Expecting property name enclosed in double quotes",
        where="WORK/skills.lock:2:15",
        hint=MEND,
    ),
    "a lockfile with marks of a merge": Case(
        words="sync --frozen",
        spoil=written(LOCKFILE, "<<<<<<< HEAD\n{}\n"),
        said="a merge conflict is not resolved here",
        where="WORK/skills.lock:1",
        hint="take either side (`git checkout --ours skills.lock`, or --theirs), then run `skillpm lock`",
    ),
    "a manifest in which `skills` is mistyped": Case(
        words="list",
        spoil=written("skills.json", '{\n  "skils": {}\n}\n'),
        said="unknown key `skils`; did you mean `skills`?",
        where="WORK/skills.json:2:3: skils",
        hint=MEND,
    ),
    "a lockfile of a newer skillpm": Case(
        words="sync",
        spoil=changed(LOCKFILE, '"version": 1', '"version": 2'),
        said="this is format 2; this skillpm knows up to 1",
        where="WORK/skills.lock",
        hint="upgrade skillpm: pip install --upgrade agent-skillpm",
    ),
    "a key nobody knows in a lockfile": Case(
        words="sync",
        spoil=changed(LOCKFILE, '"digest"', '"extra": 1, "digest"'),
        said="unknown key `extra`; known here: version, source, digest, dependencies",
        where="WORK/skills.lock:18:7: skills.code-review.extra",
        hint=MEND,
    ),
    "a digest of another kind": Case(
        words="verify",
        spoil=changed(LOCKFILE, '"digest": "sha256:', '"digest": "md5:'),
        said="expected sha256: and 64 hex digits, got 'md5:DIGEST-code-review'",
        where="WORK/skills.lock:18:7: skills.code-review.digest",
        hint=MEND,
    ),
    "a range that means nothing": Case(
        words="sync",
        spoil=written("skills.json", '{"skills": {"code-review": "~=1"}}'),
        said="`~=1` is no version range",
        where="WORK/skills.json:1:13: skills.code-review",
        hint="write it like `^1.2`, `~1.2`, `>=1.2,<2` or `1.2.0`, with commas between its parts",
    ),
    "a lockfile that leads elsewhere": Case(
        words="sync",
        spoil=changed(LOCKFILE, *ANOTHER_PLACE),
        said="`code-review` is locked to https://evil.example/x at 0000000, but the manifest names another place",
        where="WORK/skills.lock: skills.code-review.source",
        hint="if the manifest was changed, run `skillpm lock`; if not, see who changed the lockfile",
    ),
    "a frozen lockfile that leads elsewhere": Case(
        words="sync --frozen",
        spoil=changed(LOCKFILE, *ANOTHER_PLACE),
        said="`code-review` is locked to https://evil.example/x at 0000000, but the manifest names another place",
        where="WORK/skills.lock: skills.code-review.source",
        hint="if the manifest was changed, run `skillpm lock`; if not, see who changed the lockfile",
    ),
    "a receipt that is no JSON": Case(
        words="sync",
        spoil=written(RECEIPT, "{"),
        said="this is not JSON: Expecting property name enclosed in double quotes",
        where=f"WORK/{RECEIPT}:1:2",
        hint="remove that file and run `skillpm sync`: what lies there as the lockfile says is taken over again",
    ),
    "a receipt that is read": Case(
        words="list",
        spoil=changed(RECEIPT, '"size":', '"sice":'),
        said="unknown key `sice`; did you mean `size`?",
        where=f"WORK/{RECEIPT}:13:11: skills.code-review.files.SKILL.md.sice",
        hint="remove that file and run `skillpm sync`: what lies there as the lockfile says is taken over again",
    ),
    "a receipt of a newer skillpm": Case(
        words="list",
        spoil=changed(RECEIPT, '"version": 1', '"version": 9'),
        said="this is format 9; this skillpm knows up to 1",
        where=f"WORK/{RECEIPT}",
        hint="upgrade skillpm: pip install --upgrade agent-skillpm",
    ),
    "settings that are no TOML": Case(
        words="sync",
        spoil=written("../home/.config/skillpm/config.toml", "agents = "),
        said="this is not TOML: Invalid value (at end of document)",
        where="HOME/.config/skillpm/config.toml",
        hint=MEND,
    ),
}

SURROUNDINGS = {
    "no git": Case(
        words="install URL@docx",
        env={"PATH": "/nonexistent"},
        said="the program `git` was not found on PATH",
        hint="install git (2.36 or newer), e.g. `apt-get install git`",
    ),
    "offline": Case(
        words="install MISSING@docx --offline",
        said="not in the cache, and the network is switched off: MISSING at HEAD",
        hint="run the same command once without --offline",
    ),
}

CASES = SPECS | NAMES_NOBODY_HAS | DOCUMENTS | SURROUNDINGS


@dataclass(frozen=True)
class World:
    """A project with two skills, and the forge that one of them comes from; copied for each case."""

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
def spoilable(world: World, tmp_path: Path) -> CommandSandbox:
    world.scene.copy(tmp_path / "scene")
    scene = CommandSandbox(tmp_path / "scene")
    digests = {digest: f"DIGEST-{name}" for name, digest in world.digests.items()}
    scene.placeholders = {world.url: "URL", world.missing: "MISSING", **digests, **scene.placeholders}
    return scene


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_it_is_told_with_a_way_on_and_nothing_has_changed(spoilable: CommandSandbox, world: World, case: Case) -> None:
    words = [word.replace("URL", world.url).replace("MISSING", world.missing) for word in case.arguments]
    case.spoil(spoilable)
    before = spoilable.full_snapshot

    said = spoilable.output(*words, env=case.env)

    place = f"!   where: {case.where}\n" if case.where else ""
    assert said == f"! error: {case.said}\n{place}!   try: {case.hint}\n[{case.code}]\n"
    assert spoilable.full_snapshot == before


@pytest.mark.parametrize(
    "how", [[], ["--frozen"], ["--locked"], ["--offline"]], ids=lambda how: " ".join(how) or "plain"
)
@pytest.mark.parametrize("is_installed", [True, False], ids=["installed", "not installed"])
def test_one_character_of_a_digest_stops_a_sync_that_names_both(
    spoilable: CommandSandbox, world: World, how: list[str], *, is_installed: bool
) -> None:
    right = world.digests["pdf"]
    wrong = ("0" if right[0] != "0" else "1") + right[1:]
    changed(LOCKFILE, right, wrong)(spoilable)
    if not is_installed:
        (spoilable.work / ".agent-skills").rename(spoilable.root / "taken-away")
    before = spoilable.full_snapshot
    commit = spoilable.read_json(LOCKFILE)["skills"]["pdf"]["source"]["commit"][:7]

    said = spoilable.output("sync", *how)

    assert said == expected_output(f"""\
! error: `pdf` from URL at {commit} is not what was locked: \
found sha256:{right[:12]}…, locked sha256:{wrong[:12]}…
!   where: skills.lock: skills.pdf.digest
!   try: nothing was changed; see in version control who changed skills.lock, and take it from there, or lock it \
anew with `skillpm update pdf`
[1]
""")
    assert spoilable.full_snapshot == before


def test_two_digests_that_are_wrong_are_both_named(spoilable: CommandSandbox, world: World) -> None:
    names = sorted(world.digests)[:2]
    for name in names:
        changed(LOCKFILE, world.digests[name], "0" * 64)(spoilable)
    before = spoilable.full_snapshot

    said = spoilable.run("sync", "--frozen").stderr.splitlines()

    assert said[0] == "error: 2 skills are not what was locked"
    assert [line.split("`")[1] for line in said[1:3]] == names
    assert said[3] == "  where: skills.lock"
    assert spoilable.full_snapshot == before


def test_a_server_that_cannot_be_reached_is_told(spoilable: CommandSandbox) -> None:
    before = spoilable.full_snapshot

    said = spoilable.output("install", "http://127.0.0.1:1/x.git@pdf")

    first, second, code = said.splitlines()
    message, _, quoted = first.partition("; git says: ")
    assert (message, code) == ("! error: http://127.0.0.1:1/x.git could not be reached", "[1]")
    assert quoted.startswith("fatal: unable to access 'http://127.0.0.1:1/x.git/': ")
    assert second == "!   try: check the address and the network"
    assert spoilable.full_snapshot == before


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("empty", "is empty: it has no commit yet"),
        ("without a skill", "holds no skill: there is no SKILL.md in it"),
    ],
)
def test_a_repository_without_a_skill_is_told(
    spoilable: CommandSandbox, tmp_path: Path, kind: str, message: str
) -> None:
    repository = Repository.create(tmp_path / "other")
    if kind == "without a skill":
        repository.write({"README.md": "Nothing here.\n"}).commit()
    before = spoilable.full_snapshot

    said = spoilable.output("install", repository.file_url)

    assert said.splitlines()[0] == f"! error: {repository.file_url} {message}"
    assert len(said.splitlines()) <= 4
    assert said.endswith("[1]\n")
    assert spoilable.full_snapshot == before


def test_another_skillpm_that_works_here_is_waited_for_and_named(spoilable: CommandSandbox) -> None:
    with GitServer() as slow:
        slow.stall = True
        spoilable.write("skills.json", manifest_text(slow={"git": slow.url("acme/slow")}))
        with spoilable.spawn("sync") as other:
            while not slow.requests:
                assert other.poll() is None
                os.sched_yield()
            before = spoilable.full_snapshot

            said = spoilable.output("sync", "--lock-timeout", "0.2")
            listed = spoilable.run("list")

            assert said == expected_output(f"""\
! error: WORK/.agent-skills is held by process {other.pid}, for more than 0.2 s
!   where: WORK/.agent-skills/.skillpm/lock
!   try: wait for it to end, or allow more time with --lock-timeout
[1]
""")
            assert listed.code == 0
            assert spoilable.full_snapshot == before
            other.terminate()
            other.communicate(timeout=60)
