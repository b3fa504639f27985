"""Signed tags and commits: `allowed-signers` says whose ssh signatures count."""

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from commands.scene import CommandSandbox
from commands.test_signatures import HINT, locked_signer
from kit import GitServer, Repository, git, make_skill, prefix_paths

PDF = make_skill("pdf", "Reads PDF files.")


class SshKey:
    """A key of ssh, and the line of an allowed signer."""

    def __init__(self, folder: Path, name: str) -> None:
        self.file = folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", self.file], check=True)
        self.public = (folder / f"{name}.pub").read_text()
        self.line = f"{name}@acme.example {self.public}"

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the key in hex, which `ssh-keygen -l` prints in base64."""
        blob = subprocess.run(["base64", "-d"], input=self.public.split()[1].encode(), capture_output=True, check=True)
        return f"sha256:{sha256(blob.stdout).hexdigest()}"

    @property
    def options(self) -> list[str]:
        """The options of git that sign with it."""
        return ["-c", "gpg.format=ssh", "-c", f"user.signingkey={self.file}"]


@pytest.fixture
def ada(tmp_path: Path) -> SshKey:
    """Return the key of a maintainer."""
    return SshKey(tmp_path, "ada")


@pytest.fixture
def eve(tmp_path: Path) -> SshKey:
    """Return the key of somebody else."""
    return SshKey(tmp_path, "eve")


def sign_commit(upstream: Repository, key: SshKey) -> str:
    """Replace the tip of `main` by a signed commit of the same tree; return its id."""
    words = [*key.options, "commit-tree", "-S", "-p", "main~1", "-m", "Signed", "main^{tree}"]
    commit = git(*words, cwd=upstream.path).strip()
    upstream.reset(commit)
    return commit


def sign_tag(upstream: Repository, key: SshKey, name: str) -> None:
    git(*key.options, "tag", "-s", "-m", f"Tag {name}", name, "main", cwd=upstream.path)


def trust(sandbox: CommandSandbox, *keys: SshKey) -> None:
    folder = sandbox.home / ".config/skillpm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "signers").write_text("".join(key.line for key in keys))
    (folder / "config.toml").write_text(
        '[[trust]]\nsource = "*acme/skills"\nallowed-signers = "signers"\nrequired = true\n'
    )


@pytest.fixture
def newer(upstream: Repository) -> Repository:
    """Return the upstream with a second commit, which is not signed yet."""
    upstream.write(prefix_paths("skills/pdf", PDF)).commit()
    return upstream


def test_a_signed_commit_is_verified(project: CommandSandbox, served: str, newer: Repository, ada: SshKey) -> None:
    sign_commit(newer, ada)
    trust(project, ada)

    project.run("install", f"{served}@pdf", check=True)

    assert locked_signer(project) == ada.fingerprint
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"


def test_a_signed_tag_is_verified(
    project: CommandSandbox, served: str, newer: Repository, ada: SshKey, eve: SshKey
) -> None:
    sign_commit(newer, eve)
    sign_tag(newer, ada, "v2.0.0")
    trust(project, ada)

    project.run("install", f"{served}@pdf", "--tag", "v2.0.0", check=True)

    assert locked_signer(project) == ada.fingerprint


def test_another_machine_verifies_it_again(
    project: CommandSandbox, served: str, newer: Repository, ada: SshKey
) -> None:
    sign_tag(newer, ada, "v2.0.0")
    trust(project, ada)
    project.run("install", f"{served}@pdf", "--tag", "v2.0.0", check=True)
    (project.work / ".agent-skills").rename(project.work / "old")
    empty = {"SKILLPM_CACHE_DIR": str(project.work / "cache")}

    assert project.run("sync", "--frozen", env=empty).code == 0
    (project.work / ".agent-skills").rename(project.work / "older")
    (project.home / ".config/skillpm/signers").write_text("")
    result = project.run("sync", "--frozen", env=empty)

    assert "tag v2.0.0 is not signed by an allowed signer" in result.error_output


def test_an_unsigned_commit_is_refused(project: CommandSandbox, served: str, newer: Repository, ada: SshKey) -> None:
    trust(project, ada)
    commit = newer.resolve("main")[:7]

    assert project.output("install", f"{served}@pdf") == (
        "! error: `pdf` is refused: signature: HOME/.config/skillpm/config.toml: trust.0: commit "
        f"{commit} has no ssh signature (from URL at {commit})\n!   hint: {HINT}\n[1]\n"
    )


def test_somebody_else_is_refused(
    project: CommandSandbox, served: str, newer: Repository, ada: SshKey, eve: SshKey
) -> None:
    commit = sign_commit(newer, eve)[:7]
    sign_tag(newer, eve, "v2.0.0")
    trust(project, ada)

    error = project.run("install", f"{served}@pdf", "--tag", "v2.0.0").error_output

    assert (
        f"tag v2.0.0 is not signed by an allowed signer; commit {commit} is not signed by an allowed signer (from"
        in error
    )


def test_a_tag_that_was_signed_under_another_name_does_not_count(
    project: CommandSandbox, served: str, newer: Repository, ada: SshKey
) -> None:
    """An attacker who controls the server cannot provide an old, signed version as a new one."""
    sign_tag(newer, ada, "v1.0.1")
    git("update-ref", "refs/tags/v2.0.0", "refs/tags/v1.0.1", cwd=newer.path)
    trust(project, ada)

    error = project.run("install", f"{served}@pdf", "--tag", "v2.0.0").error_output

    assert f"trust.0: commit {newer.resolve('main')[:7]} has no ssh signature" in error


def test_a_changed_commit_with_the_signature_of_another_one_is_refused(
    project: CommandSandbox, served: str, newer: Repository, ada: SshKey
) -> None:
    signed = git("cat-file", "commit", sign_commit(newer, ada), cwd=newer.path)
    forged = signed.replace("\n\nSigned", "\n\nForged")
    file = project.write("commit", forged)
    newer.reset(git("hash-object", "-t", "commit", "-w", str(file), cwd=newer.path).strip())
    trust(project, ada)

    error = project.run("install", f"{served}@pdf").error_output

    assert f"commit {newer.resolve('main')[:7]} is not signed by an allowed signer" in error


def test_two_signatures_in_one_commit_do_not_count(
    project: CommandSandbox, served: str, newer: Repository, ada: SshKey
) -> None:
    commit = git("cat-file", "commit", sign_commit(newer, ada), cwd=newer.path)
    armor = commit[commit.index("-----BEGIN") : commit.index("\n\nSigned")].replace("\n ", "\n")
    words = [*ada.options, "commit-tree", "-S", "-p", "main~1", "-m", f"Again\n\n{armor}", "main^{tree}"]
    newer.reset(git(*words, cwd=newer.path).strip())
    trust(project, ada)

    error = project.run("install", f"{served}@pdf").error_output

    assert f"commit {newer.resolve('main')[:7]} has no ssh signature" in error


def test_other_sources_have_no_such_signatures(project: CommandSandbox, ada: SshKey, server: GitServer) -> None:
    trust(project, ada)
    text = (project.home / ".config/skillpm/config.toml").read_text()
    (project.home / ".config/skillpm/config.toml").write_text(text.replace("*acme/skills", "path:*"))
    project.write_files({f"own/pdf/{path}": data for path, data in PDF.items()})

    error = project.run("install", "./own/pdf").error_output

    assert "only skills of git repositories have signatures that `allowed-signers` verifies" in error


def test_the_lockfile_is_the_same_again(project: CommandSandbox, served: str, newer: Repository, ada: SshKey) -> None:
    sign_commit(newer, ada)
    trust(project, ada)
    project.run("install", f"{served}@pdf", check=True)
    before = project.read("skills.lock")

    project.run("lock", "--upgrade", check=True)

    assert json.loads(project.read("skills.lock")) == json.loads(before)


def test_the_same_content_signed_by_somebody_else_is_an_update(
    project: CommandSandbox, served: str, newer: Repository, ada: SshKey, eve: SshKey
) -> None:
    sign_commit(newer, ada)
    trust(project, ada, eve)
    project.run("install", f"{served}@pdf", check=True)
    sign_commit(newer, eve)

    project.run("update", check=True)

    assert locked_signer(project) == eve.fingerprint
