"""Keys are rotated without a new version: signatures beside published content, whose bytes and digest never change."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit import GitServer, OciRegistry
from kit.signing import Key
from oci.debian_registry import PROGRAM, DebianRegistry
from trust.rotation import (
    NEW,
    OLD,
    STRANGER,
    DebianPlace,
    FolderIndex,
    Machine,
    Place,
    Registry,
    WebIndex,
    fingerprint_of,
)

PLACES = ["index", "folder", "registry", "referrers"]
SHORT = {key: f"{fingerprint_of(key)[:19]}…" for key in (OLD, NEW, STRANGER)}


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Return each kind of place, empty."""
    if request.param in {"registry", "referrers"}:
        with OciRegistry() as registry:
            registry.lists_referrers = request.param == "referrers"
            yield Registry(tmp_path, registry)
        return
    with GitServer() as server:
        yield (WebIndex if request.param == "index" else FolderIndex)(tmp_path, server)


# The steps of the guide: what the publisher does, and whom its users trust from then on.
STEPS = [("old alone", OLD, [OLD]), ("old and new", NEW, [OLD, NEW]), ("new alone", None, [NEW])]


def rotate(place: Place, root: Path) -> None:
    """Rotate the key, and let machines without a cache install with all lockfiles so far at each step."""
    locks: dict[str, str] = {}
    published: dict[str, bytes] = {}
    for step, key, trusted in STEPS:
        if key is not None:
            place.publish(key)
        published = published or place.published()
        assert place.published() == published
        fresh = place.machine(root / f"{step} fresh", *trusted)
        fresh.run("install", place.spec, env=place.env, check=True)
        locks[step] = fresh.read("skills.lock")
        for made, lock in locks.items():
            restore(place.machine(root / f"{step} {made}", *trusted, lock=lock))
    # A user who has not changed any setting yet gets the lockfile of one who has.
    for made, lock in locks.items():
        restore(place.machine(root / f"back {made}", OLD, lock=lock))
        restore(place.machine(root / f"between {made}", OLD, NEW, lock=lock))
    signers = [json.loads(lock)["skills"]["pdf"]["signer"] for lock in locks.values()]
    digests = {json.loads(lock)["skills"]["pdf"]["digest"] for lock in locks.values()}
    assert signers == [fingerprint_of(key) for key in (OLD, OLD, NEW)]
    assert len(digests) == 1


def restore(machine: Machine) -> None:
    """Install with an empty cache, and verify with and without the server and the cache."""
    before = machine.read("skills.lock")
    for words in (["sync", "--frozen"], ["verify"], ["verify", "--offline"], ["sync", "--frozen", "--offline"]):
        machine.run(*words, env=machine.env, check=True)
    machine.empty_cache()
    machine.run("verify", "--offline", env=machine.env, check=True)
    machine.run("lock", env=machine.env, check=True)
    assert machine.read("skills.lock") == before


def test_lockfiles_of_before_each_step_stay_valid(place: Place, tmp_path: Path) -> None:
    rotate(place, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="needs docker-registry: apt-get install docker-registry")
def test_lockfiles_of_before_each_step_stay_valid_in_debians_registry(tmp_path: Path) -> None:
    with DebianRegistry(tmp_path / "registry") as registry:
        rotate(DebianPlace(tmp_path, registry), tmp_path)


@pytest.fixture
def rotated(place: Place) -> Place:
    """Return a place in which the old key signed `pdf`, and the new one signed it again."""
    place.publish(OLD)
    place.publish(NEW)
    return place


@pytest.fixture
def locks(rotated: Place, tmp_path: Path) -> dict[str, str]:
    """Return a lockfile of each step."""
    found = {}
    for step, keys in {"old": [OLD], "both": [OLD, NEW], "new": [NEW]}.items():
        machine = rotated.machine(tmp_path / f"lock {step}", *keys)
        machine.run("install", rotated.spec, check=True)
        found[step] = machine.read("skills.lock")
    return found


def origin_of(lock: str) -> str:
    source = json.loads(lock)["skills"]["pdf"]["source"]
    return str(source["url"]) if "url" in source else f"oci://{source['oci']}:{source['tag']}"


COSIGN = "; its manifest has no cosign signature"


@pytest.mark.parametrize("required", [True, False])
def test_a_stripped_signature_is_refused(
    rotated: Place, locks: dict[str, str], tmp_path: Path, *, required: bool
) -> None:
    rotated.strip()
    cosign = COSIGN if isinstance(rotated, Registry) else ""
    for step, lock in locks.items():
        machine = rotated.machine(tmp_path / step, NEW, lock=lock, required=required)
        signer = f"{json.loads(lock)['skills']['pdf']['signer'][:19]}…"
        assert machine.problem("sync", "--frozen") == (
            f"error: `pdf` is refused: signature: {machine.home}/.config/skillpm/config.toml: trust.0: it is not "
            f"signed with a trusted key{cosign}, but the lockfile names a signer, {signer} (from {origin_of(lock)})\n"
            "  hint: nothing was changed; ask its publisher, or change whom you trust: [[trust]] in config.toml\n"
        )
        assert not machine.exists(".agent-skills/pdf")


def test_what_was_kept_is_verified_after_the_server_stripped_it(
    rotated: Place, locks: dict[str, str], tmp_path: Path
) -> None:
    machine = rotated.machine(tmp_path / "machine", NEW, lock=locks["old"])
    machine.run("sync", "--frozen", check=True)
    rotated.strip()
    machine.empty_cache()
    for words in (["verify"], ["verify", "--offline"], ["sync", "--frozen", "--force"]):
        assert machine.run(*words, check=True).code == 0


def test_what_was_not_kept_is_refused_by_verify(rotated: Place, locks: dict[str, str], tmp_path: Path) -> None:
    machine = rotated.machine(tmp_path / "machine", OLD, lock=locks["old"])
    machine.run("sync", "--frozen", check=True)
    assert not machine.exists(".agent-skills/.skillpm/signatures.json")
    machine.trust(rotated.source, [NEW])
    assert machine.code("verify") == 0  # asks the server
    rotated.strip()
    machine.empty_cache()

    result = machine.run("verify")

    assert result.code == 1
    assert result.stdout.startswith("signature: pdf: it is not signed with a trusted key")


def test_a_signature_of_a_stranger_does_not_count(place: Place, tmp_path: Path) -> None:
    place.publish(OLD)
    place.publish(STRANGER)
    required = place.machine(tmp_path / "required", NEW)
    optional = place.machine(tmp_path / "optional", NEW, required=False)

    refused = required.problem("install", place.spec)
    accepted = optional.run("install", place.spec, check=True)

    cosign = "; its cosign signature is not of a trusted key" if isinstance(place, Registry) else ""
    message = f"it is not signed with a trusted key; a signature beside it: it is not signed with a trusted key{cosign}"
    assert f"trust.0: {message} (from " in refused
    assert "pdf: signature: " in accepted.stderr
    assert message in accepted.stderr
    assert optional.signer == ""


def test_an_unsigned_version_is_signed_later(place: Place, tmp_path: Path) -> None:
    place.publish()
    before = place.published()
    unsigned = place.machine(tmp_path / "unsigned")
    unsigned.run("install", place.spec, check=True)

    place.publish(NEW)

    assert place.published() == before
    machine = place.machine(tmp_path / "machine", NEW, lock=unsigned.read("skills.lock"))
    machine.run("sync", "--frozen", check=True)
    machine.run("lock", check=True)
    assert machine.signer == fingerprint_of(NEW)
    restore(machine)


def test_a_lockfile_that_names_a_trusted_key_that_did_not_sign_is_refused(
    rotated: Place, locks: dict[str, str], tmp_path: Path
) -> None:
    forged = locks["old"].replace(fingerprint_of(OLD), fingerprint_of(STRANGER))
    machine = rotated.machine(tmp_path / "machine", OLD, NEW, STRANGER, lock=forged)

    assert machine.problem("sync", "--frozen").startswith(
        f"error: `pdf` is refused: signature: {machine.home}/.config/skillpm/config.toml: trust.0: it is signed by "
        f"{SHORT[OLD]}, but the lockfile names {SHORT[STRANGER]} as its signer (from "
    )


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", '{"version": 2}', '{"version": 1, "signatures": []}', '{"version": 1, "signatures": {"a": 1}}',
        '{"version": 1, "signatures": {"DIGEST": [1]}}', '{"version": 1, "signatures": {"DIGEST": ["", "{}", "x"]}}',
    ],
)  # fmt: skip
def test_a_forged_file_of_kept_signatures_proves_nothing(tmp_path: Path, content: str) -> None:
    with GitServer() as server:
        place = WebIndex(tmp_path, server)
        place.publish(OLD)
        machine = place.machine(tmp_path / "machine", OLD)
        machine.run("install", "pdf", check=True)
        digest = machine.lockfile["skills"]["pdf"]["digest"]
        machine.write(".agent-skills/.skillpm/signatures.json", content.replace("DIGEST", digest))

        assert machine.code("verify", "--offline") == 0
        machine.trust(place.source, [NEW])
        assert machine.code("verify", "--offline") == 1
        assert machine.code("verify") == 1


def test_kept_signatures_go_with_their_skill(rotated: Place, tmp_path: Path) -> None:
    machine = rotated.machine(tmp_path / "machine", NEW)
    machine.run("install", rotated.spec, check=True)
    kept = json.loads(machine.read(".agent-skills/.skillpm/signatures.json"))
    machine.run("uninstall", "pdf", check=True)

    assert [len(signatures) for signatures in kept["signatures"].values()] == [1]
    assert not machine.exists(".agent-skills/.skillpm/signatures.json")


# Each command that needs a signature: what is removed before, and whether it refuses a skill without a required one,
# by a rule of the user or by a policy.
COMMANDS = {
    "install SPEC": ("everything", True, True),
    "load --fetch SPEC": ("everything", True, True),
    "policy check SPEC": ("everything", False, True),
    "lock": ("lockfile", True, False),
    "update": ("lockfile and skills", True, True),
    "sync": ("skills", True, True),
    "sync --frozen": ("skills", True, True),
    "verify": ("", True, False),
    "policy check": ("", False, True),
}


@pytest.mark.parametrize("by", ["trust", "policy"])
def test_every_command_finds_signatures_beside_the_content(rotated: Place, tmp_path: Path, by: str) -> None:
    installed = rotated.machine(tmp_path / "installed")
    installed.run("install", rotated.spec, check=True)
    outcomes: dict[str, tuple[int, int]] = {}
    expected: dict[str, tuple[int, int]] = {}
    for command, (removed, *refuses) in COMMANDS.items():
        expected[command] = (0, int(refuses[by == "policy"]))
        codes = []
        for key in (NEW, STRANGER):
            root = tmp_path / f"{len(outcomes)} {key is NEW}"
            machine = rotated.machine(root) if removed == "everything" else installed.duplicate(root)
            if "skills" in removed:
                machine.delete_state()
            if "lockfile" in removed:
                (machine.work / "skills.lock").unlink()
            require(machine, rotated, key, by)
            codes.append(machine.code(*(rotated.spec if word == "SPEC" else word for word in command.split())))
        outcomes[command] = (codes[0], codes[1])
    assert outcomes == expected


def require(machine: Machine, place: Place, key: Key, by: str) -> None:
    """Require the signature of a key, by the user's settings or by a policy."""
    machine.trust(place.source, [key])
    if by == "policy":
        (machine.home / ".config/skillpm/config.toml").unlink()
        pattern = "path" if isinstance(place, FolderIndex) else place.source.removesuffix("*").removesuffix("/acme/")
        name = next(iter((machine.home / ".config/skillpm").glob("*.pub"))).name
        (machine.home / ".config/skillpm/policy.toml").write_text(
            f'version = 1\n[require.signers]\n"{pattern}" = "{name}"\n'
        )
