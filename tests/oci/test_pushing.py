"""`skillpm push`: what it writes to a registry, what it refuses, and what it does not send again."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from kit import Files, GitServer, OciRegistry, Repository, Sandbox, Tokens, digest_of, git, make_skill, prefix_paths
from oci.world import COLLECTION, CONFIG, INDEX, LAYER, MANIFEST, SKILL, requests_of

from skillpm.skillmd.validation import PLACEHOLDER

FILES: Mapping[str, Files] = {
    "pdf": make_skill("pdf", license="MIT", metadata={"version": "1.0.0"}) | {"scripts/run.py": "print()\n"},
    "docx": make_skill("docx", metadata={"version": "2.0.0+linux"}),
}


@pytest.fixture
def skills(sandbox: Sandbox) -> Sandbox:
    """A sandbox with two skills in `skills/`."""
    for name, files in FILES.items():
        sandbox.write_files(prefix_paths(f"skills/{name}", files))
    return sandbox


def read(registry: OciRegistry, repository: str, tag: str) -> Any:
    return json.loads(registry.manifests[repository, tag][1])


def test_the_artifact_is_that_of_the_draft(registry: OciRegistry, skills: Sandbox) -> None:
    result = skills.run("push", "skills/pdf", f"oci://{registry.host}/acme/pdf", check=True)

    manifest = read(registry, "acme/pdf", "1.0.0")
    config, layer = manifest["config"], manifest["layers"][0]
    assert manifest == {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": SKILL,
        "config": {"mediaType": CONFIG, "digest": config["digest"], "size": config["size"]},
        "layers": [{"mediaType": LAYER, "digest": layer["digest"], "size": layer["size"]}],
        "annotations": {
            "io.agentskills.skill.name": "pdf",
            "org.opencontainers.image.description": "Use when a test needs a skill.",
            "org.opencontainers.image.licenses": "MIT",
            "org.opencontainers.image.title": "pdf",
            "org.opencontainers.image.version": "1.0.0",
        },
    }
    assert json.loads(registry.blobs["acme/pdf", config["digest"]]) == {
        "schemaVersion": "1.0",
        "name": "pdf",
        "version": "1.0.0",
        "description": "Use when a test needs a skill.",
        "license": "MIT",
        "metadata": {"version": "1.0.0"},
    }
    digest = digest_of(registry.manifests["acme/pdf", "1.0.0"][1])
    sent = (config["size"] + layer["size"] + len(registry.manifests["acme/pdf", "1.0.0"][1])) / 1000
    assert result.stdout == (
        f" + oci://{registry.host}/acme/pdf:1.0.0 ({digest[:19]})\npushed 1 of 1 tag, {sent:.1f} kB\n"
    )


def test_what_was_pushed_installs_byte_for_byte(registry: OciRegistry, skills: Sandbox) -> None:
    skills.run("push", "skills", f"oci://{registry.host}/acme/", check=True)

    for name in FILES:
        skills.run("install", f"oci://{registry.host}/acme/{name}", check=True)

    assert skills.render_tree(".agent-skills/pdf") == skills.render_tree("skills/pdf")
    locked = json.loads(skills.read("skills.lock"))["skills"]
    assert {name: skill["version"] for name, skill in locked.items()} == {"docx": "2.0.0+linux", "pdf": "1.0.0"}
    assert locked["docx"]["source"]["tag"] == "2.0.0_linux"


def test_the_same_bytes_come_out_of_any_checkout_and_are_not_sent_again(registry: OciRegistry, skills: Sandbox) -> None:
    destination = f"oci://{registry.host}/acme/pdf"
    skills.run("push", "skills/pdf", destination, check=True)
    other = Sandbox(skills.root / "other")
    other.write_files(prefix_paths("elsewhere/pdf", FILES["pdf"]))
    registry.clear_requests()

    again = other.run("push", "elsewhere/pdf", destination, check=True)

    digest = digest_of(registry.manifests["acme/pdf", "1.0.0"][1])
    assert again.stdout == (
        f" = {destination}:1.0.0 ({digest[:19]}), already published\nnothing to push: 1 tag already published\n"
    )
    assert requests_of(registry) == ["GET /v2/acme/pdf/manifests/1.0.0"]


def test_a_tag_that_is_another_version_and_a_placeholder_are_reported(registry: OciRegistry, skills: Sandbox) -> None:
    destination = f"oci://{registry.host}/acme/pdf"
    text = skills.read("skills/pdf/SKILL.md")
    skills.write("skills/pdf/SKILL.md", re.sub("description: .*", f"description: {PLACEHOLDER}", text))

    pushed = skills.run(
        "push", "skills/pdf", destination, "--tag", "9.9.9", "--tag", "latest", "--tag", "1.0", check=True
    )

    assert pushed.error_output == (
        "warning: skills/pdf: the description is still the placeholder of `skillpm new`\n"
        "warning: skills/pdf: the tag 9.9.9 is a version, but the skill is 1.0.0; users can install it as 9.9.9\n"
    )
    missing = skills.run("install", f"{destination}@7")
    assert missing.error_output == (
        f"error: {destination} has no tag that is a version that satisfies 7; its tags: 9.9.9, 1.0.0, 1.0, latest\n"
        f"  hint: choose one of its tags, e.g. {destination}:9.9.9\n"
    )


def test_a_version_that_is_there_with_other_content_is_refused_before_anything_is_sent(
    registry: OciRegistry, skills: Sandbox
) -> None:
    skills.run("push", "skills/pdf", f"oci://{registry.host}/acme/pdf", check=True)
    skills.write("skills/pdf/more.md", "more\n")
    (skills.work / "skills/pdf/scripts/run.py").chmod(0o755)
    registry.clear_requests()

    result = skills.run("push", "skills", f"oci://{registry.host}/acme/")

    assert (result.code, result.error_output) == (
        1,
        "error: `pdf` 1.0.0 is published already, with other content: scripts/run.py changed, more.md new in "
        "skills/pdf\n"
        "  hint: a published version must not change: raise the version; nothing was pushed\n",
    )
    assert {request.method for request in registry.requests} == {"GET"}


def test_the_same_files_with_another_config_are_another_version(registry: OciRegistry, skills: Sandbox) -> None:
    destination = f"oci://{registry.host}/acme/pdf"
    skills.run("push", "skills/pdf", destination, check=True)
    media_type, data = registry.manifests["acme/pdf", "1.0.0"]
    manifest = json.loads(data)
    manifest["config"]["digest"] = registry.add_blob("acme/pdf", b'{"version": "9.9.9"}')
    registry.manifests["acme/pdf", "1.0.0"] = media_type, json.dumps(manifest).encode()

    result = skills.run("push", "skills/pdf", destination)

    assert result.code == 1
    assert f"other content: {destination}:1.0.0 is sha256:" in result.error_output
    assert ", with the same files\n" in result.error_output


def test_a_version_that_cannot_be_read_is_reported_by_its_digest(registry: OciRegistry, skills: Sandbox) -> None:
    destination = f"oci://{registry.host}/acme/pdf"
    skills.run("push", "skills/pdf", destination, check=True)
    registry.blobs = dict.fromkeys(registry.blobs, b"")
    skills.write("skills/pdf/more.md", "more\n")

    result = skills.run("push", "skills/pdf", destination)

    before = digest_of(registry.manifests["acme/pdf", "1.0.0"][1])
    assert result.error_output.startswith(
        "error: `pdf` 1.0.0 is published already, with other content: "
        f"{destination}:1.0.0 is {before[:19]}…, this would be sha256:"
    )


def test_other_tags_may_move(registry: OciRegistry, skills: Sandbox) -> None:
    destination = f"oci://{registry.host}/acme/pdf"
    skills.run("push", "skills/pdf", destination, "--tag", "latest", "--tag", "1", check=True)
    skills.write_files(prefix_paths("skills/pdf", make_skill("pdf", metadata={"version": "1.1.0"})))

    skills.run("push", "skills/pdf", destination, "--tag", "latest", check=True)

    tags = {tag: data for (_, tag), (_, data) in registry.manifests.items() if ":" not in tag}
    assert sorted(tags) == ["1", "1.0.0", "1.1.0", "latest"]
    assert tags["latest"] == tags["1.1.0"]
    assert tags["1"] == tags["1.0.0"]


def test_another_tag_that_is_a_version_never_moves(registry: OciRegistry, skills: Sandbox) -> None:
    destination = f"oci://{registry.host}/acme/pdf"
    skills.run("push", "skills/pdf", destination, "--tag", "0.9.0", check=True)
    skills.write_files(prefix_paths("skills/pdf", make_skill("pdf", metadata={"version": "1.1.0"})))
    registry.clear_requests()

    result = skills.run("push", "skills/pdf", destination, "--tag", "0.9.0")

    assert result.code == 1
    assert result.error_output.startswith(
        "warning: skills/pdf: the tag 0.9.0 is a version, but the skill is 1.1.0; users can install it as 0.9.0\n"
        "error: `pdf` 0.9.0 is published already, with other content: SKILL.md changed"
    )
    assert {request.method for request in registry.requests} == {"GET"}


def test_a_tag_must_be_one(registry: OciRegistry, skills: Sandbox) -> None:
    result = skills.run("push", "skills/pdf", f"oci://{registry.host}/acme/pdf", "--tag", "../x")

    assert (result.code, result.error_output) == (
        2,
        "error: `../x` is not a tag\n  hint: letters, digits, `.`, `_` and `-`, e.g. latest\n",
    )
    assert registry.requests == []


def test_a_tag_that_is_added_later_is_named_and_sends_nothing_else(registry: OciRegistry, skills: Sandbox) -> None:
    destination = f"oci://{registry.host}/acme/pdf"
    skills.run("push", "skills/pdf", destination, check=True)
    digest, data = registry.manifests["acme/pdf", "1.0.0"][1], registry.manifests["acme/pdf", "1.0.0"][1]
    registry.clear_requests()

    result = skills.run("push", "skills/pdf", destination, "--tag", "latest", check=True)

    short = digest_of(digest)[:19]
    assert result.stdout == (
        f" = {destination}:1.0.0 ({short}), already published\n"
        f" + {destination}:latest ({short})\n"
        f"pushed 1 of 2 tags, {len(data) / 1000:.1f} kB\n"
    )
    assert [request.path for request in registry.requests if request.method == "PUT"] == [
        "/v2/acme/pdf/manifests/latest"
    ]


def test_a_collection_that_may_not_change_is_found_before_anything_is_sent(
    registry: OciRegistry, skills: Sandbox
) -> None:
    collection = ("--collection", f"oci://{registry.host}/acme/all:1.0.0")
    skills.run("push", "skills", f"oci://{registry.host}/acme/", *collection, check=True)
    skills.write_files(prefix_paths("skills/pdf", make_skill("pdf", metadata={"version": "1.1.0"})))
    registry.clear_requests()

    result = skills.run("push", "skills", f"oci://{registry.host}/acme/", *collection)

    assert result.code == 1
    assert result.error_output == (
        f"error: the collection oci://{registry.host}/acme/all:1.0.0 is published already, with other skills\n"
        "  hint: a published version must not change: choose another tag, or one that may move, like latest; nothing "
        "was pushed\n"
    )
    assert {request.method for request in registry.requests} == {"GET"}


def test_a_dry_run_sends_nothing(registry: OciRegistry, skills: Sandbox) -> None:
    result = skills.run("push", "skills", f"oci://{registry.host}/acme/", "--dry-run", "--json", check=True)

    assert [(each["name"], each["version"], each["ref"], each["isNew"]) for each in result.json["pushed"]] == [
        ("docx", "2.0.0+linux", f"oci://{registry.host}/acme/docx:2.0.0_linux", True),
        ("pdf", "1.0.0", f"oci://{registry.host}/acme/pdf:1.0.0", True),
    ]
    assert result.json["dryRun"] is True
    assert {request.method for request in registry.requests} == {"GET"}


def test_a_collection_takes_its_blobs_from_the_repositories_of_its_skills(
    registry: OciRegistry, skills: Sandbox
) -> None:
    collection = f"oci://{registry.host}/acme/all:1.0.0"

    skills.run("push", "skills", f"oci://{registry.host}/acme/", "--collection", collection, check=True)

    index = read(registry, "acme/all", "1.0.0")
    assert (index["mediaType"], index["artifactType"]) == (INDEX, COLLECTION)
    assert index["annotations"] == {
        "io.agentskills.collection.name": "all",
        "org.opencontainers.image.version": "1.0.0",
    }
    assert [entry["annotations"]["io.agentskills.skill.ref"] for entry in index["manifests"]] == [
        f"{registry.host}/acme/docx:2.0.0_linux",
        f"{registry.host}/acme/pdf:1.0.0",
    ]
    assert [entry["artifactType"] for entry in index["manifests"]] == [SKILL, SKILL]
    uploads = [f"{each.method} {each.path}" for each in registry.requests if "/blobs/uploads/" in each.path]
    assert [each for each in uploads if "acme/all" in each and each.startswith("PUT")] == []
    for name in FILES:
        skills.run("install", collection, "--skill", name, check=True)
    assert skills.render_tree(".agent-skills/pdf") == skills.render_tree("skills/pdf")


def test_an_image_has_the_same_layer_for_each_platform(registry: OciRegistry, skills: Sandbox) -> None:
    destination = f"oci://{registry.host}/acme/pdf"

    skills.run("push", "skills/pdf", destination, "--image", check=True)

    index = read(registry, "acme/pdf", "1.0.0")
    manifests = [read(registry, "acme/pdf", entry["digest"]) for entry in index["manifests"]]
    configs = [json.loads(registry.blobs["acme/pdf", manifest["config"]["digest"]]) for manifest in manifests]
    assert index["artifactType"] == "dev.toolhive.skills.v1"
    assert [entry["platform"] for entry in index["manifests"]] == [
        {"architecture": "amd64", "os": "linux"},
        {"architecture": "arm64", "os": "linux"},
    ]
    assert manifests[0]["layers"] == manifests[1]["layers"]
    assert configs[0]["config"]["Labels"]["dev.toolhive.skills.files"] == '["pdf/SKILL.md", "pdf/scripts/run.py"]'
    assert configs[0]["rootfs"]["type"] == "layers"
    skills.run("install", destination, check=True)
    assert skills.render_tree(".agent-skills/pdf") == skills.render_tree("skills/pdf")


def test_origin_and_commit_are_told_for_a_git_checkout(
    registry: OciRegistry, sandbox: Sandbox, upstream: Repository
) -> None:
    commit = upstream.write(prefix_paths("pdf", FILES["pdf"])).commit()
    git("clone", "-q", upstream.file_url, str(sandbox.work / "clone"))
    git(
        "-C",
        str(sandbox.work / "clone"),
        "remote",
        "set-url",
        "origin",
        "https://ann:token@forge.example/acme/skills.git",
    )

    sandbox.run("push", "clone/pdf", f"oci://{registry.host}/acme/pdf", check=True)

    annotations = read(registry, "acme/pdf", "1.0.0")["annotations"]
    assert annotations["org.opencontainers.image.revision"] == commit
    assert annotations["org.opencontainers.image.source"] == "https://forge.example/acme/skills"


@pytest.mark.parametrize("options", [[], ["--image"]])
def test_the_same_files_at_a_later_commit_are_published_already(
    registry: OciRegistry, sandbox: Sandbox, upstream: Repository, options: list[str]
) -> None:
    destination = f"oci://{registry.host}/acme/pdf"
    upstream.write(prefix_paths("pdf", FILES["pdf"])).commit()
    for depth in ("one", "two"):  # a shallow clone knows only its own commit
        git("clone", "-q", "--depth=1", upstream.file_url, str(sandbox.work / depth))
        upstream.write({"README.md": f"After {depth}.\n"}).commit()
    sandbox.run("push", "one/pdf", destination, *options, check=True)
    first = registry.manifests["acme/pdf", "1.0.0"]

    again = sandbox.run("push", "two/pdf", destination, *options, "--tag", "latest", check=True)

    digest = digest_of(first[1])[:19]
    assert again.stdout.splitlines()[:2] == [
        f" = {destination}:1.0.0 ({digest}), already published",
        f" + {destination}:latest ({digest})",
    ]
    assert registry.manifests["acme/pdf", "latest"] == first
    other = sandbox.run("push", "two/pdf", destination, *({"--image"} ^ {*options}))
    assert "`pdf` 1.0.0 is published already, with other content" in other.error_output


def test_all_versions_of_a_repository_are_pushed_the_oldest_first(
    registry: OciRegistry, sandbox: Sandbox, upstream: Repository
) -> None:
    for version in ("1.0.0", "1.1.0", "1.10.0"):
        body = "" if version == "1.0.0" else f"Version {version}.\n"
        upstream.write(prefix_paths("skills/pdf", make_skill("pdf", body=body))).commit()
        upstream.tag(f"v{version}")
    upstream.write({"skills/pdf/SKILL.md": "not a skill\n"}).commit()
    upstream.tag("v1.2.0", "HEAD")
    destination = f"oci://{registry.host}/acme/pdf"
    words = ("push", upstream.file_url, destination, "--tag", "latest")

    newest = sandbox.run(*words, "--dry-run", "--json", check=True)
    pushed = sandbox.run(*words, "--all-versions", "--json", check=True)
    again = sandbox.run(*words, "--all-versions", check=True)

    refs = [each["ref"].removeprefix(f"{destination}:") for each in pushed.json["pushed"]]
    assert [each["version"] for each in newest.json["pushed"]] == ["1.10.0", "1.10.0"]
    assert refs == ["1.0.0", "1.1.0", "1.10.0", "latest"]
    assert registry.manifests["acme/pdf", "latest"] == registry.manifests["acme/pdf", "1.10.0"]
    assert again.stdout.splitlines()[-1] == "nothing to push: 4 tags already published"


def test_a_mirror_pushes_what_changed_and_skips_what_it_cannot(
    registry: OciRegistry, sandbox: Sandbox, upstream: Repository
) -> None:
    upstream.write(prefix_paths("skills/docx", make_skill("docx")) | prefix_paths("skills/pdf", FILES["pdf"])).commit()
    words = ("push", upstream.file_url, f"oci://{registry.host}/acme/", "--version-from-commits")
    sandbox.run(*words, check=True)
    upstream.write({"skills/docx/more.md": "More.\n", "skills/pdf/more.md": "More.\n"}).commit()
    upstream.write({"skills/bad/SKILL.md": "no frontmatter\n"}).commit()

    refused = sandbox.run(*words)
    result = sandbox.run(*words, "--skip-invalid", "--json", check=True)

    bad = "skill bad: its SKILL.md cannot be loaded: the file does not begin with a `---` line"
    assert refused.error_output.splitlines()[0] == f"error: cannot be pushed: bad at HEAD: {bad}"
    assert [each["ref"] for each in result.json["pushed"]] == [f"oci://{registry.host}/acme/docx:2026.1.1.1"]
    left_out = {each["where"]: each["why"].partition(":")[0] for each in result.json["leftOut"]}
    assert left_out == {
        "bad at HEAD": "skill bad",
        "pdf at HEAD": "`pdf` 1.0.0 is published already, with other content",
    }
    assert {tag for repository, tag in registry.manifests if repository == "acme/docx" and ":" not in tag} == {
        "2026.1.1",
        "2026.1.1.1",
    }


@pytest.mark.parametrize("options", [[], ["--image"]])
def test_a_change_that_was_taken_back_before_it_was_pushed_makes_no_version(
    registry: OciRegistry, sandbox: Sandbox, upstream: Repository, options: list[str]
) -> None:
    upstream.write(prefix_paths("docx", make_skill("docx"))).commit()
    destination = f"oci://{registry.host}/acme/docx"
    words = ("push", upstream.file_url, destination, "--version-from-commits", "--tag", "latest", *options)
    sandbox.run(*words, check=True)
    upstream.write({"docx/more.md": "More.\n"}).commit()
    upstream.remove(["docx/more.md"]).commit()

    unchanged = sandbox.run(*words, check=True)
    upstream.write({"docx/more.md": "More.\n"}).commit()
    changed = sandbox.run(*words, "--json", check=True)
    upstream.remove(["docx/more.md"]).commit()
    taken_back = sandbox.run(*words, "--json", check=True)

    assert unchanged.stdout.splitlines()[0].startswith(f" = {destination}:2026.1.1 (")
    assert unchanged.stdout.splitlines()[2:] == ["nothing to push: 2 tags already published"]
    assert [each["version"] for each in changed.json["pushed"]] == ["2026.1.1.3"] * 2
    assert [each["version"] for each in taken_back.json["pushed"]] == ["2026.1.1.4"] * 2


def test_uploads_on_another_server_get_no_login(registry: OciRegistry, skills: Sandbox) -> None:
    registry.tokens = Tokens()
    with GitServer() as other:
        registry.uploads_elsewhere = other

        result = skills.run("push", "skills/pdf", f"oci://{registry.host}/acme/pdf")

        assert {request.method for request in other.requests} == {"PUT"}
        assert {request.authorization for request in other.requests} == {""}
    assert result.code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["skills", "oci://{host}/acme/pdf:1.0.0"], "a tag fits one skill, but 2 are pushed"),
        (["skills/pdf"], "expected paths and then a destination that begins with oci://"),
        (["skills/pdf", "oci://{host}"], "`oci://{host}`: invalid repository `{host}`: expected HOST/PATH"),
        (
            ["skills/pdf", "oci://{host}/Acme"],
            "`oci://{host}/Acme`: invalid repository `{host}/Acme`: its path must be lower-case letters, digits and "
            "single `.`, `_` or `-` between slashes",
        ),
        (["skills", "oci://{host}/acme/", "--collection", "oci://{host}/acme/all"], "--collection needs a tag"),
        (
            ["skills", "oci://{host}/acme/", "--collection", "oci://ghcr.io/acme/all:1"],
            "the collection must be in the registry of its skills, not in ghcr.io",
        ),
        (
            ["skills", "oci://{host}/acme/", "--image", "--collection", "oci://{host}/acme/all:1"],
            "--collection cannot be used with --image",
        ),
    ],
)
def test_wrong_arguments(registry: OciRegistry, skills: Sandbox, arguments: list[str], message: str) -> None:
    result = skills.run("push", *(argument.format(host=registry.host) for argument in arguments))

    assert result.code == 2
    assert result.error_output.splitlines()[0] == f"error: {message.format(host=registry.host)}"
    assert [request for request in registry.requests if request.method != "GET"] == []


def test_an_invalid_skill_and_one_without_a_version_are_named_and_nothing_is_pushed(
    registry: OciRegistry, skills: Sandbox
) -> None:
    skills.write_files(prefix_paths("skills/none", make_skill("none")))
    skills.write("skills/bad/SKILL.md", "no frontmatter\n")

    result = skills.run("push", "skills", f"oci://{registry.host}/acme/")

    assert (result.code, result.error_output) == (
        1,
        "error: cannot be pushed: skills/bad: skill bad: its SKILL.md cannot be loaded: the file does not begin with a "
        "`---` line\n"
        "  skills/none: no version\n"
        "  hint: add `metadata: version:` to SKILL.md or pass --default-version; run `skillpm validate` for all "
        "findings; nothing was pushed\n",
    )
    assert registry.requests == []


def test_a_tag_stands_for_the_version_of_a_skill_without_one(registry: OciRegistry, sandbox: Sandbox) -> None:
    sandbox.write_files(prefix_paths("none", make_skill("none")))

    sandbox.run("push", "none", f"oci://{registry.host}/acme/none:1.2.0", check=True)
    sandbox.run("install", f"oci://{registry.host}/acme/none", check=True)

    assert json.loads(sandbox.read("skills.lock"))["skills"]["none"]["version"] == "1.2.0"


def test_skills_without_a_version_get_the_default_version(registry: OciRegistry, skills: Sandbox) -> None:
    skills.write_files(prefix_paths("skills/none", make_skill("none")))

    skills.run("push", "skills", f"oci://{registry.host}/acme/", "--default-version", "3.0.0", check=True)
    refused = skills.run("push", "skills", f"oci://{registry.host}/acme/", "--default-version", "third")

    assert ("acme/none", "3.0.0") in registry.manifests
    assert ("acme/pdf", "3.0.0") not in registry.manifests
    assert refused.error_output == "error: `third` is not a valid version\n  hint: write one like 1.2.0\n"


@pytest.mark.parametrize("fault", ["reset", "500", "404", "418", "web-page", "hang-up"])
@pytest.mark.parametrize(
    "pattern", ["^GET .*/manifests/", "^HEAD .*/blobs/", "^POST .*/uploads/", "^PUT .*/uploads/", "^PUT .*/manifests/"]
)
def test_a_push_that_fails_leaves_no_tag(registry: OciRegistry, skills: Sandbox, pattern: str, fault: str) -> None:
    registry.add_fault(pattern, fault)

    result = skills.run("push", "skills/pdf", f"oci://{registry.host}/acme/pdf")

    if result.code == 0:  # 404 for what is not there yet is the usual response
        assert (fault, pattern) in {("404", "^GET .*/manifests/"), ("404", "^HEAD .*/blobs/")}
    else:
        assert result.code == 1
        named = (f"error: {registry.address}/v2/acme/pdf/", "error: invalid JSON: ")
        assert result.error_output.startswith(named), result.error_output
        registry.clear_faults()
        assert skills.run("push", "skills/pdf", f"oci://{registry.host}/acme/pdf").code == 0
