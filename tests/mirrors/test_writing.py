"""Writing a mirror: by several commands at once, on a full disk, and into a registry that fails."""

import io
import json
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kit import OciRegistry, Repository, make_skill, prefix_paths
from mirrors.world import REMOTE, Machine, Origins

from skillpm.fetchers.mirrors.readers import FileReader

LARGE = "".join(f"{number * 7919 % 104729:x}" for number in range(200_000))  # which does not compress well


def parts_of(first: Machine) -> list[str]:
    """Write a lockfile for each remote skill; return their names."""
    lock = json.loads(first.read("skills.lock"))
    for name in REMOTE:
        first.write(f"{name}.lock", json.dumps({**lock, "skills": {name: lock["skills"][name]}}))
    return [f"{name}.lock" for name in REMOTE]


@pytest.mark.parametrize("name", ["mirror", "bundle.tar"])
def test_commands_at_once_lose_nothing(origins: Origins, first: Machine, tmp_path: Path, name: str) -> None:
    target = str(tmp_path / name)

    running = [first.spawn("mirror", part, target) for part in parts_of(first)]
    codes = [(process.communicate()[1], process.returncode) for process in running]
    other = origins.clone("other")
    other.run("sync", "--frozen", env={"SKILLPM_REPLACE": target}, check=True)

    assert codes == [(b"", 0)] * 4
    assert other.skills == first.skills
    assert [path.name for path in tmp_path.rglob("*.tmp")] == []


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    disk = tmp_path / "small"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("mounting a disk is not permitted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize("name", ["mirror", "bundle.tar"])
def test_a_full_disk_leaves_what_is_whole(small: Path, tmp_path: Path, upstream: Repository, name: str) -> None:
    machine = Machine(tmp_path / "machine")
    for each in ("a", "b", "c"):
        upstream.write(prefix_paths(f"skills/{each}", make_skill(each) | {"large.txt": each + LARGE}))
    upstream.commit()
    machine.write("skills.json", '{"skills": {}}')
    machine.run("install", upstream.file_url, "--all", check=True)
    lock = json.loads(machine.read("skills.lock"))
    machine.write("one.lock", json.dumps({**lock, "skills": {"a": lock["skills"]["a"]}}))
    target = small / name
    machine.run("mirror", "one.lock", str(target), check=True)

    result = machine.run("mirror", "skills.lock", str(target))
    rest = machine.run("mirror", "one.lock", str(target), "--dry-run")

    first_line, where, *_ = result.error_output.splitlines()
    assert (result.code, first_line) == (1, "error: cannot write a mirror: no space left on the device")
    assert where.startswith(f"  where: {target}")
    assert rest.stdout.splitlines()[-1] == f"would copy 0 of 1 skill to {target}"
    assert [path.name for path in small.rglob("*.tmp")] == []
    if name == "bundle.tar":
        with tarfile.open(target) as archive:
            assert len(archive.getnames()) == 2


@pytest.mark.parametrize("fault", ["PUT .*manifests", "PUT .*uploads", "POST .*uploads"])
def test_a_registry_that_fails_has_no_tag_without_its_bytes(
    origins: Origins, first: Machine, registry: OciRegistry, fault: str
) -> None:
    address = f"oci://{registry.host}/acme/mirror"
    registry.add_fault(fault, "418", after=2)

    broken = first.run("mirror", "skills.lock", address)
    tags = {tag for _, tag in registry.manifests if tag.startswith("skillpm-")}
    registry.clear_faults()
    again = first.run("mirror", "skills.lock", address, check=True)
    other = origins.clone("other")
    other.run("sync", "--frozen", env={"SKILLPM_REPLACE": address}, check=True)

    assert broken.code == 1
    assert again.stdout.splitlines()[-1] == f"copied {4 - len(tags)} of 4 skills to {address}"
    assert other.skills == first.skills


def test_what_a_registry_is_asked(first: Machine, registry: OciRegistry) -> None:
    first.run("mirror", "skills.lock", f"oci://{registry.host}/acme/mirror", check=True)

    methods = Counter(f"{each.method} {each.path.split('/')[4]}" for each in registry.requests)

    # A look at each tag; then the empty config and four archives, each with a look whether it is there, and four tags.
    assert methods == {"GET manifests": 4, "HEAD blobs": 5, "POST blobs": 5, "PUT blobs": 5, "PUT manifests": 4}


def test_a_bundle_that_is_replaced_while_it_is_read(first: Machine, tmp_path: Path) -> None:
    bundle, newer = tmp_path / "bundle.tar", tmp_path / "newer.tar"
    first.run("mirror", "skills.lock", str(bundle), check=True)
    with tarfile.open(bundle) as archive:
        name = archive.getnames()[-1]
        member = archive.extractfile(name)
        assert member is not None
        data = member.read()
    with closing(FileReader(str(bundle), 1_000_000)) as reader:
        assert name in reader.members

        newer.write_bytes(b"other bytes at all places")
        newer.replace(bundle)

        assert reader.read_member(name) == data


@pytest.mark.parametrize("has_marker", [True, False])
def test_nothing_is_written_through_a_link_in_a_mirror(first: Machine, tmp_path: Path, *, has_marker: bool) -> None:
    mirror, elsewhere = tmp_path / "mirror", tmp_path / "elsewhere"
    for folder in (mirror, elsewhere):
        folder.mkdir()
    (mirror / "skills").symlink_to(elsewhere)
    if has_marker:
        (mirror / "mirror.json").write_text('{"version": 1}\n')

    result = first.run("mirror", "skills.lock", str(mirror))

    assert (result.code, result.error_output) == (
        1,
        "error: `skills` of a mirror must be a folder\n"
        f"  where: {mirror}/skills\n"
        "  hint: replace it with a folder; nothing was written\n",
    )
    assert [*elsewhere.iterdir()] == []


def test_other_members_of_a_tar_are_not_passed_on(first: Machine, tmp_path: Path) -> None:
    bundle, forged = tmp_path / "bundle.tar", tmp_path / "forged.tar"
    first.run("mirror", "skills.lock", str(bundle), check=True)
    with tarfile.open(forged, "w") as archive:
        for name, data in {"mirror.json": b'{"version": 1}', "skills/../../.bashrc": b"x", "skills/a": b"x"}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))

    first.run("mirror", "skills.lock", str(forged), check=True)

    assert forged.read_bytes() == bundle.read_bytes()


def test_an_unreachable_registry_is_an_error_of_the_skills_by_name(first: Machine) -> None:
    with OciRegistry() as gone:
        address = f"oci://{gone.host}/acme/mirror"

    result = first.run("mirror", "skills.lock", address)

    assert result.code == 1
    assert result.error_output.splitlines()[1] == "  skills: archive, indexed, of-git, of-oci"
