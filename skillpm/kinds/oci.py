"""Skills in OCI registries, named by repository, tag and digest (OCI distribution specification 1.1)."""

import re
from collections.abc import Callable
from typing import Any, Literal, Self

from skillpm.core.git_syntax import LOOPBACK, host_of
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.netloc import host_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word, shell_words
from skillpm.core.text import sanitize
from skillpm.core.versions import is_version
from skillpm.errors import DocumentError, UsageError
from skillpm.kinds.base import Pin, Place, Source, SpecOptions, read_range

PREFIX = "oci://"
LATEST = "latest"
MAX_REPOSITORY = 255
# One part of a path: lower case, with single separators between letters and digits.
PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
PATH = lazy_pattern(rf"{PART}(?:/{PART})*", re.ASCII)
TAG = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
MANIFEST_DIGEST = lazy_pattern(r"sha256:[0-9a-f]{64}", re.ASCII)
# The registry that everybody calls docker.io answers under another name.
API_HOSTS = {"docker.io": "registry-1.docker.io"}


class OciSource(Source):
    """A skill in a repository of an OCI registry, or one of a collection there."""

    # `HOST[:PORT]/PATH`.
    repository: str
    # What `ref` is: a range over tags, a tag, or the digest of a manifest; empty for the newest version.
    kind: Literal["", "version", "tag", "digest"] = ""
    ref: str = ""
    # One of a collection, if it is not named like the requirement.
    skill: str = ""

    scheme = "oci"
    has_several_skills = True

    def to_json(self) -> Any:
        value = {"oci": self.repository, self.kind: self.ref, "skill": self.skill}
        return {key: part for key, part in value.items() if part}

    def describe(self) -> str:
        separator = ":" if self.kind == "tag" else "@" if self.ref else ""
        return f"{PREFIX}{self.repository}{separator}{self.ref}"

    def phrase(self) -> str:
        ref = f" {sanitize(self.ref, 80)}" if self.ref else ""
        return f"{ref} from {PREFIX}{self.repository}"

    def skill_spec(self, spec: str, name: str) -> str:
        return shell_words([spec, "--skill", name])

    def place(self) -> Place:
        return Place(table="oci", address=self.repository)

    def server_url(self) -> str:
        return repository_url(self.repository)

    def private_location(self) -> str:
        return f"{PREFIX}{self.repository}" if is_loopback(self.repository) else ""

    def admits(self, pin: Pin) -> bool:
        if not isinstance(pin, OciPin) or pin.repository != self.repository:
            return False
        if self.kind == "digest":
            return self.ref == (pin.index or pin.manifest)
        if self.kind == "tag":
            return self.ref == pin.tag
        return tag_version(pin.tag) != "" or (self.kind == "" and pin.tag == LATEST)

    def is_same_skill(self, other: Source) -> bool:
        return isinstance(other, OciSource) and (self.repository, self.skill) == (other.repository, other.skill)

    @property
    def has_open_version(self) -> bool:
        return self.kind in {"", "version"}

    @property
    def version_range(self) -> str:
        return self.ref if self.kind == "version" else "*"

    def without_range(self) -> Self:
        return self.replace(kind="", ref="") if self.kind == "version" else self

    def select(self, skill: str) -> Self | None:
        return None if self.skill else self.replace(skill=skill)

    def without_selection(self, name: str) -> Self:
        return self.replace(skill="") if self.skill == name else self

    def with_options(self, options: SpecOptions, spec: str) -> Self | None:
        if not options.has_only_ref or options.ref_kind not in {"tag", "version"}:
            return None
        if self.ref:
            raise UsageError(f"`{sanitize(spec)}` already has a version, which conflicts with --{options.ref_kind}")
        try:
            given = JsonNode({"oci": self.repository, options.ref_kind: options.ref}, f"--{options.ref_kind}")
            source = read_source(SkillName(""), given)
        except DocumentError as error:
            raise UsageError(error.message, where=error.where, hint=error.hint) from error
        return self.replace(kind=source.kind, ref=source.ref)


class OciPin(Pin):
    """A manifest in a repository of an OCI registry, and its layer, by their digests."""

    repository: str
    # Empty if the digest was asked for.
    tag: str = ""
    manifest: str
    layer: str
    # The digest that was asked for, if it is that of an index that lists the manifest.
    index: str = ""

    scheme = "oci"
    is_remote = True
    is_content_addressed = True
    has_signatures_beside = True

    def to_json(self) -> dict[str, Any]:
        value = {"oci": self.repository, "tag": self.tag, "index": self.index}
        return {key: part for key, part in value.items() if part} | {"manifest": self.manifest, "layer": self.layer}

    def describe(self) -> str:
        return f"{PREFIX}{self.repository}{f':{self.tag}' if self.tag else f'@{self.manifest}'}"

    def version_spec(self, name: str, version: str) -> str:
        return f"{PREFIX}{self.repository}@{version}"

    def place(self) -> Place:
        return Place(table="oci", address=self.repository)

    def server_url(self) -> str:
        return repository_url(self.repository)

    def origin(self) -> str:
        return self.repository

    def has_same_content(self, other: Pin) -> bool:
        return isinstance(other, OciPin) and self.replace(manifest=other.manifest, index=other.index) == other

    def tagged(self) -> tuple[str, str]:
        return self.tag, self.manifest if self.tag else ""

    def store_variant(self) -> str:
        return self.layer.removeprefix("sha256:")

    def claim(self, name: str, version: str) -> tuple[str, ...]:
        return self.repository, self.manifest, self.layer

    def choose_version(self, name: str, declared: str, version: str, warn: Callable[[str], None]) -> str:
        return tag_version(self.tag) or sanitize(version, 60)


def read_source(_: SkillName, node: JsonNode) -> OciSource:
    """Parse the object of a requirement."""
    node.check_keys("oci", "version", "tag", "digest", "skill")
    given = [key for key in ("version", "tag", "digest") if key in node.value]
    if len(given) > 1:
        raise DocumentError(f"{', '.join(given)} cannot be combined", where=node.where)
    source = OciSource(repository=read_repository(node.require("oci")), skill=node.text_or("skill"))
    match given:
        case ["version"]:
            return source.replace(kind="version", ref=read_range(node.require("version")))
        case ["tag"]:
            return source.replace(kind="tag", ref=read_tag(node.require("tag")))
        case ["digest"]:
            return source.replace(kind="digest", ref=read_manifest_digest(node.require("digest")))
    return source


def read_pin(node: JsonNode) -> OciPin:
    """Parse the object of a lockfile or a receipt."""
    node.check_keys("oci", "tag", "index", "manifest", "layer")
    tag, index = node.get("tag"), node.get("index")
    return OciPin(
        repository=read_repository(node.require("oci")),
        tag="" if tag is None else read_tag(tag),
        index="" if index is None else read_manifest_digest(index),
        manifest=read_manifest_digest(node.require("manifest")),
        layer=read_manifest_digest(node.require("layer")),
    )


def parse_spec(spec: str) -> OciSource:
    """Parse `oci://HOST/PATH:TAG`, `…@sha256:DIGEST` or `…@RANGE`. Raises `UsageError`."""
    rest, at, after = spec[len(PREFIX) :].partition("@")
    folder, slash, last = rest.rpartition("/")
    last, colon, tag = last.partition(":") if slash else (last, "", "")
    value = {"oci": f"{folder}{slash}{last}"}
    if at:
        value["digest" if after.startswith("sha256:") else "version"] = after
    elif colon:
        value["tag"] = tag
    hint = "e.g. oci://ghcr.io/acme/skills/pdf:1.2.0 or oci://ghcr.io/acme/skills/pdf@^1.2"
    if at and is_skill_name(after):
        hint = f"to choose one of a collection: {shell_word(f'{PREFIX}{rest}')} --skill {after}"
    try:
        return read_source(SkillName(""), JsonNode(value, "SPEC"))
    except DocumentError as error:
        raise UsageError(f"`{sanitize(spec)}`: {error.message}", hint=hint) from error


def repository_problem(repository: str) -> str:
    """Return why `HOST[:PORT]/PATH` does not name a repository; empty if it does."""
    host, slash, path = repository.partition("/")
    if not slash or not host:
        return "expected HOST/PATH"
    if "@" in host:
        return "it must not contain a user or a password"
    if problem := host_problem(host):
        return problem
    if not PATH.fullmatch(path) or len(repository) > MAX_REPOSITORY:
        return "its path must be lower-case letters, digits and single `.`, `_` or `-` between slashes"
    return ""


def read_repository(node: JsonNode) -> str:
    """Return a repository, with its host in lower case. Raises `DocumentError`."""
    host, slash, path = node.text().removeprefix(PREFIX).partition("/")
    repository = f"{host.lower()}{slash}{path}"
    if problem := repository_problem(repository):
        message = f"invalid repository `{sanitize(node.text(), 120)}`: {problem}"
        raise DocumentError(message, where=node.where, hint="e.g. ghcr.io/acme/skills/pdf")
    return repository


def is_tag(text: str) -> bool:
    """Return whether text may be a tag."""
    return TAG.fullmatch(text) is not None


def read_tag(node: JsonNode) -> str:
    """Return a tag. Raises `DocumentError`."""
    return node.text() if is_tag(node.text()) else node.raise_expected("a tag")


def is_manifest_digest(text: str) -> bool:
    """Return whether text is the SHA-256 of a manifest or a layer: `sha256:` and 64 digits."""
    return MANIFEST_DIGEST.fullmatch(text) is not None


def read_manifest_digest(node: JsonNode) -> str:
    """Return the digest of a manifest or a layer. Raises `DocumentError`."""
    return node.text() if is_manifest_digest(node.text()) else node.raise_expected("sha256: and 64 hex digits")


def tag_version(tag: str) -> str:
    """Return the version that a tag names, or an empty string: `v1.2.0` and `1.2.0_linux` for `1.2.0+linux`."""
    version = tag.removeprefix("v").replace("_", "+")
    return version if version[:1].isdigit() and is_version(version) else ""


def version_tag(version: str) -> str:
    """Return the tag of a version; tags cannot contain `+`."""
    return version.replace("+", "_")


def folder_name(repository: str) -> SkillName:
    """Return the last part of a repository's path, the usual name of its skill."""
    return SkillName(repository.rpartition("/")[2])


def repository_url(repository: str) -> str:
    """Return the URL that names the server of a repository, whether it is reached by HTTP or HTTPS."""
    host, _, path = repository.partition("/")
    return f"https://{API_HOSTS.get(host, host)}/v2/{path}"


def is_loopback(repository: str) -> bool:
    """Return whether a repository is on this machine, where plain HTTP is allowed."""
    return is_loopback_url(repository_url(repository))


def is_loopback_url(url: str) -> bool:
    """Return whether the server of a URL is on this machine."""
    return host_of(url) in LOOPBACK
