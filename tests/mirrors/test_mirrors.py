"""`skillpm mirror`, and machines that take their skills from a mirror."""

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetchers.packing import tar, tgz
from kit import GitServer, OciRegistry, make_skill
from kit.answers import redirect_response
from mirrors.world import REMOTE, Machine, Origins, serve_folder

HINT = "  hint: run the command where the origins can be reached, then copy with `skillpm mirror skills.lock MIRROR`\n"
REPAIR = "nothing was installed; `skillpm mirror` with this mirror repairs it where the origin can be reached"
KINDS = ("folder", "file", "web", "oci")


class Mirror:
    """A mirror of one kind: where it is written to, and the address that clients use."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.server, self.registry = GitServer(), OciRegistry()
        self.destination = {
            "folder": f"{folder}/mirror",
            "file": f"{folder}/bundle.tar",
            "web": f"{folder}/mirror",
            "oci": f"oci://{self.registry.host}/acme/mirror",
        }[kind]
        self.address = f"{self.server.address}/mirror" if kind == "web" else self.destination

    def fill(self, machine: Machine) -> None:
        """Copy what the machine has locked."""
        machine.run("mirror", "skills.lock", self.destination, check=True)
        if self.kind == "web":
            serve_folder(self.server, Path(self.destination), "/mirror")
        self.server.clear_requests()
        self.registry.clear_requests()

    @property
    def requests(self) -> int:
        """How many requests it got."""
        return len(self.server.requests) + len(self.registry.requests)

    @property
    def environment(self) -> dict[str, str]:
        """The variable that names it."""
        return {"SKILLPM_REPLACE": self.address}


@pytest.fixture(params=KINDS)
def mirror(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Mirror]:
    mirror = Mirror(request.param, tmp_path)
    with mirror.server, mirror.registry:
        yield mirror


@pytest.fixture
def folder(tmp_path: Path, first: Machine) -> Path:
    """A mirror in a folder, of all that the first machine has locked."""
    first.run("mirror", "skills.lock", str(tmp_path / "mirror"), check=True)
    return tmp_path / "mirror"


def archive_of(folder: Path, machine: Machine, name: str) -> Path:
    """Return the archive of a skill."""
    result = machine.run("mirror", "skills.lock", str(folder), "--dry-run", "--json", check=True).json
    (key,) = (each["key"] for each in result["mirrored"] if each["name"] == name)
    return folder / "skills" / f"{key}.tar.gz"


def test_an_empty_machine_gets_the_same_bytes_while_every_origin_is_off(
    origins: Origins, first: Machine, mirror: Mirror
) -> None:
    mirror.fill(first)
    origins.count_requests()
    beside, lockfile = origins.clone("beside"), first.read("skills.lock")

    beside.run("sync", "--frozen", env=mirror.environment, check=True)
    requests, origin_requests = mirror.requests, origins.count_requests()
    origins.switch_off()
    other = origins.clone("other")
    other.run("sync", "--frozen", env=mirror.environment, check=True)
    other.run("verify", env=mirror.environment, check=True)

    assert origin_requests == 0
    assert requests == {"folder": 0, "file": 0, "web": 4, "oci": 8}[mirror.kind]
    assert beside.skills == other.skills == first.skills
    assert {path for path, entry in first.skills.items() if entry.kind == "file" and entry.mode & 0o100} == {
        f"{name}/scripts/run.sh" for name in REMOTE
    }
    assert other.read("skills.lock") == lockfile


def test_what_the_store_has_from_a_mirror_is_not_asked_for_again(
    origins: Origins, first: Machine, mirror: Mirror
) -> None:
    mirror.fill(first)
    other = origins.clone("other")
    other.run("sync", "--frozen", env=mirror.environment, check=True)
    before = mirror.requests

    again = origins.clone("again").run(
        "sync", "--frozen", env={**mirror.environment, "SKILLPM_CACHE_DIR": str(other.cache)}
    )

    assert (again.code, mirror.requests) == (0, before)


def test_running_again_copies_only_what_is_new(origins: Origins, first: Machine, mirror: Mirror) -> None:
    lock = json.loads(first.read("skills.lock"))
    some = {name: skill for name, skill in lock["skills"].items() if name in {"local", "of-git"}}
    first.write("some.lock", json.dumps({**lock, "skills": some}))
    first.run("mirror", "some.lock", mirror.destination, check=True)
    git = lock["skills"]["of-git"]["source"]
    shown_git = f"git+{git['url'] if 'url' in git else git['git']}@{git['commit']}#subdirectory=skills/of-git"

    result = first.run("mirror", "some.lock", "skills.lock", mirror.destination)
    again = first.run("mirror", "skills.lock", mirror.destination)

    rows = [
        f"archive 1.0.0 ({origins.server.address}/files/archive.tar.gz)",
        f"indexed 1.0.0 ({origins.server.address}/index/archives/indexed-1.0.0.tar.gz)",
        f"of-git 1.0.0 ({shown_git})",
        f"of-oci 1.0.0 (oci://{origins.registry.host}/acme/of-oci:1.0.0)",
    ]
    marks = ["+", "+", "=", "+"]
    assert (result.code, result.stdout, result.error_output) == (
        0,
        "".join(
            f" {mark} {row}{', already there' if mark == '=' else ''}\n" for mark, row in zip(marks, rows, strict=True)
        )
        + " - local (./mine/local), is on this machine, not copied\n"
        + f"copied 3 of 4 skills to {mirror.destination}\n",
        "",
    )
    assert again.stdout == (
        "".join(f" = {row}, already there\n" for row in rows)
        + " - local (./mine/local), is on this machine, not copied\n"
        + f"copied 0 of 4 skills to {mirror.destination}\n"
    )


def test_the_same_skills_give_the_same_mirror(first: Machine, origins: Origins, tmp_path: Path) -> None:
    other = origins.clone("other")
    for name in ("one", "one.tar"):
        first.run("mirror", "skills.lock", str(tmp_path / name), check=True)
    lock = json.loads(first.read("skills.lock"))
    for each in ("of-oci", "archive", "indexed", "of-git"):  # in another order, one by one, by another machine
        other.write(f"{each}.lock", json.dumps({**lock, "skills": {each: lock["skills"][each]}}))
        for name in ("two", "two.tar"):
            other.run("mirror", f"{each}.lock", str(tmp_path / name), check=True)

    assert first.snapshot(str(tmp_path / "two")) == first.snapshot(str(tmp_path / "one"))
    assert (tmp_path / "two.tar").read_bytes() == (tmp_path / "one.tar").read_bytes()


def test_an_archive_is_named_as_documented(first: Machine, folder: Path) -> None:
    locked = json.loads(first.read("skills.lock"))["skills"]
    keys = {
        "of-git": ["git", "commit", "path", "tree"],
        "archive": ["url", "sha256"],
        "of-oci": ["oci", "manifest", "layer"],
    }
    lines = {name: [locked[name]["source"][key] for key in names] for name, names in keys.items()}
    source = locked["indexed"]["source"]
    lines["indexed"] = ["indexed", "1.0.0", source["index"], source["url"], source["sha256"]]

    names = {
        hashlib.sha256("\n".join([*claim, locked[name]["digest"]]).encode()).hexdigest() + ".tar.gz"
        for name, claim in lines.items()
    }

    assert {path.name for path in (folder / "skills").iterdir()} == names


def test_a_bundle_is_the_folder_in_one_file(first: Machine, folder: Path, tmp_path: Path) -> None:
    first.run("mirror", "skills.lock", str(tmp_path / "bundle.tar"), check=True)

    with tarfile.open(tmp_path / "bundle.tar") as archive:
        members = {member.name: (archive.extractfile(member) or archive).read() for member in archive}  # type: ignore[union-attr]

    assert members == {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_and_json(origins: Origins, first: Machine, tmp_path: Path) -> None:
    origins.count_requests()
    arguments = ("mirror", ".", str(tmp_path / "mirror"))

    dry = first.run(*arguments, "--dry-run")
    result = first.run(*arguments, "--dry-run", "--json").json
    exists = (tmp_path / "mirror").exists()
    quiet = first.run(*arguments, "-q")

    assert dry.stdout.splitlines()[-1] == f"would copy 4 of 4 skills to {tmp_path}/mirror"
    assert (quiet.code, quiet.stdout, quiet.stderr) == (0, "", "")
    assert (exists, origins.count_requests()) == (False, 0)
    keys = [each.pop("key") for each in result["mirrored"]]
    assert sorted(f"{key}.tar.gz" for key in keys) == sorted(os.listdir(tmp_path / "mirror/skills"))
    assert {**result, "mirrored": [each["name"] for each in result["mirrored"]]} == {
        "destination": f"{tmp_path}/mirror",
        "mirrored": [*REMOTE],
        "unneeded": {"local": "./mine/local"},
        "dryRun": True,
        "warnings": [],
    }
    assert result["mirrored"][0] == {
        "name": "archive",
        "version": "1.0.0",
        "source": f"{origins.server.address}/files/archive.tar.gz",
        "isNew": True,
    }


def test_other_content_is_refused_and_repaired(origins: Origins, first: Machine, folder: Path) -> None:
    path = archive_of(folder, first, "of-git")
    right = path.read_bytes()
    path.write_bytes(tgz(make_skill("of-git", body="Something else.\n")))
    other = origins.clone("other")

    result = other.run("sync", "--frozen", env={"SKILLPM_REPLACE": str(folder)})
    options = ("--frozen", "--project", str(other.work))
    elsewhere = other.run("sync", *options, cwd=other.home, env={"SKILLPM_REPLACE": str(folder)})
    first.run("mirror", "skills.lock", str(folder), check=True)

    locked = json.loads(first.read("skills.lock"))["skills"]["of-git"]["digest"]
    message, where, hint = result.error_output.splitlines()
    assert message.startswith(
        f"error: `of-git` from the mirror {folder} does not match the lockfile: expected {locked[:19]}…, got sha256:"
    )
    assert (result.code, where) == (1, "  where: skills.lock: skills.of-git.digest")
    assert hint == f"  hint: {REPAIR}"
    assert f"\n  where: {other.work}/skills.lock: skills.of-git.digest\n" in elsewhere.error_output
    assert not other.exists(".agent-skills/of-git")
    assert path.read_bytes() == right


def test_a_damaged_bundle_is_repaired(first: Machine, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.tar"
    first.run("mirror", "skills.lock", str(bundle), check=True)
    right = bundle.read_bytes()
    data = bytearray(right)
    with tarfile.open(bundle) as archive:
        data[archive.getmembers()[1].offset_data + 30] ^= 1
    bundle.write_bytes(data)

    result = first.run("mirror", "skills.lock", str(bundle), check=True)

    assert result.stdout.splitlines()[-1] == f"copied 1 of 4 skills to {bundle}"
    assert bundle.read_bytes() == right


def test_a_tar_that_is_no_mirror(origins: Origins, first: Machine, tmp_path: Path) -> None:
    del first
    (tmp_path / "other.tar").write_bytes(tar(make_skill("pdf")))

    result = origins.clone("other").run("sync", "--frozen", env={"SKILLPM_REPLACE": str(tmp_path / "other.tar")})

    assert result.error_output.splitlines()[0] == f"error: {tmp_path}/other.tar is not a mirror: it has no mirror.json"


@pytest.mark.parametrize("position", [12, -1])
def test_a_changed_byte_is_refused(origins: Origins, first: Machine, folder: Path, position: int) -> None:
    path = archive_of(folder, first, "indexed")
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    other = origins.clone("other")

    result = other.run("sync", "--frozen", env={"SKILLPM_REPLACE": f"{folder},origin"})

    assert result.code == 1
    assert result.error_output.startswith(f"error: `indexed` in the mirror {folder}: ")
    assert result.error_output.endswith(f"  hint: {REPAIR}\n")
    assert not other.exists(".agent-skills/indexed")


def test_what_a_mirror_lacks_is_named(origins: Origins, first: Machine, mirror: Mirror) -> None:
    lock = json.loads(first.read("skills.lock"))
    some = {name: skill for name, skill in lock["skills"].items() if name not in {"archive", "of-oci"}}
    first.write("some.lock", json.dumps({**lock, "skills": some}))
    first.run("mirror", "some.lock", mirror.destination, check=True)
    if mirror.kind == "web":
        serve_folder(mirror.server, Path(mirror.destination), "/mirror")
    origins.count_requests()
    other = origins.clone("other")

    result = other.run("sync", "--frozen", env=mirror.environment)
    asked = origins.count_requests()
    fallback = other.run("sync", "--frozen", env={"SKILLPM_REPLACE": f"{mirror.address},origin"})

    shown = mirror.address + ("/" if mirror.kind == "web" else "")
    assert (result.code, result.stdout, result.error_output, asked) == (
        1,
        "",
        f"error: not in the mirror {shown}, which replaces all origins: archive "
        f"({origins.server.address}/files/archive.tar.gz), of-oci (oci://{origins.registry.host}/acme/of-oci:1.0.0)\n"
        f"{HINT}",
        0,
    )
    assert fallback.code == 0
    assert other.skills == first.skills
    assert origins.count_requests() == 3  # the archive; manifest and blob


def test_two_mirrors_are_asked_in_order(origins: Origins, first: Machine, tmp_path: Path) -> None:
    lock = json.loads(first.read("skills.lock"))
    for name in REMOTE:
        first.write("one.lock", json.dumps({**lock, "skills": {name: lock["skills"][name]}}))
        first.run("mirror", "one.lock", str(tmp_path / name), check=True)
    origins.switch_off()
    other = origins.clone("other")
    other.configure(f"replace = {json.dumps([str(tmp_path / name) for name in REMOTE])}\n")

    other.run("sync", "--frozen", check=True)

    assert other.skills == first.skills


def test_nothing_new_comes_from_a_mirror(origins: Origins, first: Machine, folder: Path) -> None:
    other = origins.clone("other")
    other.configure(f'replace = "{folder}"\n')
    other.run("sync", check=True)
    origins.count_requests()
    url = origins.server.url("acme/skills")

    install = other.run("install", f"{url}@other")
    update = other.run("update", "of-oci")
    removed = other.run("uninstall", "of-oci")

    start = f"error: not in the mirror {folder}, which replaces all origins: "
    assert (install.code, install.error_output) == (1, f"{start}{url} at HEAD\n{HINT}")
    assert (update.code, update.error_output) == (
        1,
        f"{start}oci://{origins.registry.host}/acme/of-oci\n  skills: of-oci\n{HINT}",
    )
    assert (removed.code, origins.count_requests()) == (0, 0)


def test_a_manifest_cannot_name_a_mirror(origins: Origins, first: Machine, folder: Path) -> None:
    other = origins.clone("other")
    other.write("skills.json", json.dumps({**json.loads(other.read("skills.json")), "replace": str(folder)}))
    origins.count_requests()

    result = other.run("sync", "--frozen")

    assert result.error_output.startswith(f"warning: {other.work}/skills.json: unknown key `replace`; it is kept\n")
    assert origins.count_requests() > 0


def test_a_mirror_vouches_for_the_entry_that_it_copied(origins: Origins, first: Machine, folder: Path) -> None:
    """Content that the store has does not become that of another commit: the mirror was not given that claim."""
    other = origins.clone("other")
    env = {"SKILLPM_REPLACE": str(folder)}
    other.run("sync", "--frozen", env=env, check=True)
    lock = json.loads(other.read("skills.lock"))
    forged = other.read("skills.lock").replace(lock["skills"]["of-git"]["source"]["commit"], "a" * 40)
    victim = origins.clone("victim")
    victim.write("skills.lock", forged)

    result = victim.run("sync", "--frozen", env={**env, "SKILLPM_CACHE_DIR": str(other.cache)})

    assert result.error_output.startswith(
        f"error: not in the mirror {folder}, which replaces all origins: of-git (git+"
    )


def test_without_a_network_only_local_mirrors_are_used(origins: Origins, first: Machine, mirror: Mirror) -> None:
    mirror.fill(first)
    other = origins.clone("other")

    result = other.run("sync", "--frozen", "--offline", env=mirror.environment)

    if mirror.kind in {"folder", "file"}:
        assert (result.code, other.skills) == (0, first.skills)
        return
    shown = mirror.address + ("/" if mirror.kind == "web" else "")
    assert (result.code, result.error_output, mirror.requests) == (
        1,
        "error: not cached, and the network is disabled: " + ", ".join(f"{name} ({shown})" for name in REMOTE) + "\n"
        "  hint: run the same command once without --offline\n",
        0,
    )


def test_the_login_of_a_mirror_goes_to_no_other_server(
    origins: Origins, first: Machine, mirror: Mirror, server: GitServer
) -> None:
    mirror.fill(first)
    other = origins.clone("other")
    env = dict(mirror.environment)
    if mirror.kind == "oci":
        mirror.registry.login = ("ann", "s3cret")
        mirror.registry.blobs_elsewhere = server
        for (_, digest), data in mirror.registry.blobs.items():
            server.publish(f"/{digest}", data)
        prefix = "SKILLPM_OCI_" + mirror.registry.host.replace(".", "_").replace(":", "_")
        env |= {f"{prefix}_USERNAME": "ann", f"{prefix}_PASSWORD": "s3cret"}
    elif mirror.kind == "web":
        host = "localhost"  # another name than that of all other servers here, since .netrc knows no ports
        (other.home / ".netrc").write_text(f"machine {host} login ann password s3cret\n")
        (other.home / ".netrc").chmod(0o600)
        env["SKILLPM_REPLACE"] = mirror.address.replace("127.0.0.1", host)
        for path in Path(mirror.destination).rglob("*.tar.gz"):
            target = f"/mirror/{path.relative_to(mirror.destination)}"
            server.publish(target, path.read_bytes())
            mirror.server.publish(target, redirect_response(server.address + target))

    result = other.run("sync", "--frozen", env=env)

    assert (result.code, result.error_output.partition("next")[0]) == (0, "")
    assert other.skills == first.skills
    if mirror.kind in {"web", "oci"}:
        sent = {each.authorization for each in (*mirror.server.requests, *mirror.registry.requests)}
        assert "Basic YW5uOnMzY3JldA==" in sent
        assert [each.authorization for each in server.requests] == [""] * 4


def forged_header(name: str, size: int, kind: bytes) -> bytes:
    """Return the header of a member with any size, also a negative one, which GNU tar writes in base 256."""
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        (forged_header("x", -512, b"0") + forged_header("y", 0, b"0"), "a member has a negative size"),
        (
            3000 * (forged_header("././@LongLink", 5, b"L") + b"abcd".ljust(512, b"\0")),
            "maximum recursion depth exceeded",
        ),
        (forged_header("././@LongLink", 1_000_001, b"L") + bytes(2_000_000), "a header is over 1000000 bytes"),
        (forged_header("x", 1_000_001, b"x") + bytes(2_000_000), "a header is over 1000000 bytes"),
    ],
    ids=["negative", "nested", "long name", "pax"],
)
def test_a_forged_tar_ends(origins: Origins, first: Machine, tmp_path: Path, members: bytes, problem: str) -> None:
    del first
    marker = b'{"version": 1}\n'
    start = forged_header("mirror.json", len(marker), b"0") + marker.ljust(512, b"\0")
    (tmp_path / "bundle.tar").write_bytes(start + members + bytes(1024))

    result = origins.clone("other").run("sync", "--frozen", env={"SKILLPM_REPLACE": str(tmp_path / "bundle.tar")})

    assert result.code == 1
    assert result.error_output.startswith(f"error: {tmp_path}/bundle.tar is not a mirror: {problem}")


def test_a_pipe_in_place_of_a_tar_does_not_block(origins: Origins, first: Machine, tmp_path: Path) -> None:
    del first
    os.mkfifo(tmp_path / "bundle.tar")

    result = origins.clone("other").run("sync", "--frozen", env={"SKILLPM_REPLACE": str(tmp_path / "bundle.tar")})

    assert result.code == 1
    assert result.error_output.startswith("error: cannot read a mirror: not a regular file\n")


def test_a_place_that_is_no_mirror(origins: Origins, first: Machine, mirror: Mirror, tmp_path: Path) -> None:
    del first
    (tmp_path / "mirror").mkdir()
    (tmp_path / "bundle.tar").write_bytes(b"something else")
    other = origins.clone("other")

    result = other.run("sync", "--frozen", env=mirror.environment)

    hint = "  hint: create one with `skillpm mirror skills.lock DESTINATION`\n"
    expected = {
        "folder": f"error: {tmp_path}/mirror is not a mirror: it has no mirror.json\n{hint}",
        "file": f"error: {tmp_path}/bundle.tar is not a mirror: truncated header\n",
        "web": f"error: {mirror.address}/ is not a mirror: it has no mirror.json\n{hint}",
        "oci": f"error: not in the mirror {mirror.address}, which replaces all origins: archive (",
    }[mirror.kind]
    lines = [line for line in result.error_output.splitlines(keepends=True) if not line.startswith("  skills: ")]
    assert result.code == 1
    assert "".join(lines).startswith(expected)


def test_a_mirror_of_a_newer_format(origins: Origins, first: Machine, folder: Path) -> None:
    del first
    (folder / "mirror.json").write_text('{"version": 2}')

    result = origins.clone("other").run("sync", "--frozen", env={"SKILLPM_REPLACE": str(folder)})

    assert result.error_output.startswith("error: unsupported format 2; this version of skillpm reads up to 1\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["skills.lock"], 2, "expected lockfiles and then a destination"),
        (["skills.lock", "https://mirror.example/x"], 2, "cannot write to the web server https://mirror.example/x"),
        (["skills.lock", "oci://HOST"], 2, "invalid repository `oci://HOST`: expected HOST/PATH"),
        (["skills.lock", "mine"], 1, "{work}/mine is neither empty nor a mirror; nothing was written"),
        (["other.lock", "mirror"], 1, "there is no lockfile {work}/other.lock"),
        (["skills.json", "mirror"], 2, "{work}/skills.json is a manifest, not a lockfile"),
        (["skills.lock", "mirror.zip"], 2, "a mirror in one file is a .tar, not mirror.zip"),
        (["skills.lock", "mirror.tar.gz"], 2, "a mirror in one file is a .tar, not mirror.tar.gz"),
        (["skills.lock", "oci://localhost:5000/m:1"], 2, "a mirror is a whole repository, without `:1`"),
    ],
)
def test_bad_arguments(first: Machine, arguments: list[str], code: int, message: str) -> None:
    result = first.run("mirror", *arguments)

    assert (result.code, result.error_output.splitlines()[0]) == (
        code,
        f"error: {message.replace('{work}', str(first.work))}",
    )
    assert not [path for path in first.work.iterdir() if path.name.startswith("mirror")]


def test_the_setting(first: Machine) -> None:
    relative = first.run("config", "set", "replace", "mirror", "origin", check=True)
    wrong = first.run("config", "set", "replace", "ftp://x/")
    commas = first.run("config", "set", "replace", "a.tar,origin")
    early = first.run("sync", "--frozen", "--force", env={"SKILLPM_REPLACE": "origin,a.tar"})
    shown = first.run("config", "get", "replace", check=True).stdout
    environment = first.run("config", "get", "replace", "--json", env={"SKILLPM_REPLACE": "a.tar,origin"}).json
    invalid = first.run("sync", "--frozen", "--force", env={"SKILLPM_REPLACE": "oci://x"})
    first.run("config", "unset", "replace", check=True)

    file = f"{first.home}/.config/skillpm/config.toml"
    assert relative.stdout + relative.stderr == f'replace is now ["{first.work}/mirror", "origin"], in {file}\n'
    assert (wrong.code, wrong.error_output) == (
        2,
        "error: invalid web address `ftp://x/`\n"
        "  hint: a folder or a .tar that begins with / or ~/, https://HOST/PATH, or oci://HOST/PATH\n",
    )
    assert (commas.code, commas.error_output) == (
        2,
        f"error: invalid address of a mirror: `{first.work}/a.tar,origin`\n"
        "  hint: `config set replace` takes several mirrors with spaces between them\n",
    )
    assert (early.code, early.error_output) == (
        2,
        "error: SKILLPM_REPLACE: `origin` must come last\n  hint: mirrors are tried first\n",
    )
    assert shown == f"{first.work}/mirror\norigin\n"
    assert environment == {
        "key": "replace",
        "value": [f"{first.work}/a.tar", "origin"],
        "origin": "environment",
        "where": "SKILLPM_REPLACE",
    }
    assert (invalid.code, invalid.error_output) == (
        2,
        "error: SKILLPM_REPLACE: invalid repository `oci://x`: expected HOST/PATH\n"
        "  hint: e.g. ghcr.io/acme/skills/pdf\n",
    )


def test_a_mirror_of_a_mirror(origins: Origins, first: Machine, folder: Path, tmp_path: Path) -> None:
    origins.switch_off()
    other = origins.clone("other")

    other.run("mirror", "skills.lock", str(tmp_path / "second.tar"), env={"SKILLPM_REPLACE": str(folder)}, check=True)
    third = origins.clone("third")
    third.run("sync", "--frozen", env={"SKILLPM_REPLACE": str(tmp_path / "second.tar")}, check=True)

    assert third.skills == first.skills
