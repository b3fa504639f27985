"""Push blobs and manifests to OCI registries (OCI distribution specification 1.1, "Push")."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from skillpm.core.file_tree import FileTree
from skillpm.core.git_syntax import server_of
from skillpm.core.tree_checks import check_tree
from skillpm.errors import FetchError, NotFoundError
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.fetchers.http.client import Request, Response
from skillpm.fetchers.http.redirects import resolve_redirect
from skillpm.fetchers.oci.referrers import (
    EMPTY_CONFIG,
    add_referrer,
    build_signature_manifest,
    read_signatures_beside,
    referrers_tag,
)
from skillpm.fetchers.oci.registry import OciRegistries
from skillpm.formats.oci.manifest import OCI_INDEX, OCI_MANIFEST, Descriptor

ACTIONS = "pull,push"
MAX_RESPONSE = 1_000_000
CREATED, ACCEPTED = 201, 202


class Uploader:
    """Pushes to the repositories of a command; what is there already is not sent again."""

    def __init__(self, registries: OciRegistries) -> None:
        self._registries = registries

    def find_manifest(self, repository: str, reference: str) -> bytes:
        """Return the manifest or index that a tag or a digest points at; empty if there is none.

        Raises `DocumentError` if it is not JSON.
        """
        return self._registries.find_manifest(repository, reference, ACTIONS)

    def list_tags(self, repository: str) -> list[str]:
        """Return all tags of a repository; none if it does not exist."""
        try:
            return self._registries.list_tags(repository)
        except NotFoundError:
            return []

    def fetch_blob(self, repository: str, blob: Descriptor) -> bytes:
        """Return the content of a blob. Raises `NotFoundError`, or `RefusedError` for other content."""
        return self._registries.fetch_blob(repository, blob)

    def read_archive(self, data: bytes, name: str) -> FileTree:
        """Return the files in a layer. Raises `RefusedError` for what is not a skill."""
        limits = self._registries.settings.limits
        return check_tree(read_archive(data, name, limits), name=name, limits=limits)

    def has_blob(self, repository: str, digest: str) -> bool:
        """Return whether a repository has a blob."""
        try:
            self._send(repository, f"blobs/{digest}", Request(method="HEAD", limit=MAX_RESPONSE))
        except NotFoundError:
            return False
        return True

    def push_blob(self, repository: str, digest: str, data: bytes, mount_from: str = "") -> bool:
        """Push a blob unless it is there; return whether its bytes were sent.

        `mount_from`: a repository of the same registry that has it, and from which the registry may take it.
        """
        if self.has_blob(repository, digest):
            return False
        mount = f"?mount={digest}&from={quote(mount_from, safe='/')}" if mount_from else ""
        start = Request(method="POST", limit=MAX_RESPONSE, content=b"", accepted=frozenset([CREATED, ACCEPTED]))
        response = self._send(repository, f"blobs/uploads/{mount}", start)
        if response.status == CREATED:
            return False
        # Uploads may go to another server, which gets no login of this one.
        location = response.headers.get("Location", "")
        if not location:
            raise FetchError(f"oci://{repository}: the registry accepts an upload, but names no place for it")
        url = resolve_redirect(response.url, location)
        url += ("&" if "?" in url else "?") + f"digest={quote(digest, safe='')}"
        headers = {"Content-Type": "application/octet-stream"}
        upload = Request(method="PUT", limit=MAX_RESPONSE, content=data, headers=headers, accepted=frozenset([CREATED]))
        if server_of(url) == server_of(response.url):
            self._send(repository, url, upload)
        else:
            self._registries.http.send(url, upload, referrer=response.url)
        return True

    def attach_signature(self, repository: str, subject: Mapping[str, Any], data: bytes) -> int:
        """Attach a signature to the manifest that `subject` describes, unless it is; return the bytes sent."""
        digest = str(subject["digest"])
        if data in read_signatures_beside(self._registries, repository, digest, ACTIONS):
            return 0
        sent = 0
        for blob in (data, EMPTY_CONFIG):
            sent += len(blob) if self.push_blob(repository, f"sha256:{sha256(blob).hexdigest()}", blob) else 0
        manifest = build_signature_manifest(data, subject)
        reference = f"sha256:{sha256(manifest).hexdigest()}"
        if not self.push_manifest(repository, reference, OCI_MANIFEST, manifest):
            tag = referrers_tag(digest)
            index = add_referrer(self.find_manifest(repository, tag), manifest, f"oci://{repository}:{tag}")
            self.push_manifest(repository, tag, OCI_INDEX, index)
            sent += len(index)
        return sent + len(manifest)

    def push_manifest(self, repository: str, reference: str, media_type: str, data: bytes) -> bool:
        """Push a manifest or an index under a tag or its digest; return whether the registry lists its subject."""
        request = Request(
            method="PUT",
            limit=MAX_RESPONSE,
            content=data,
            headers={"Content-Type": media_type},
            accepted=frozenset([CREATED]),
        )
        response = self._send(repository, f"manifests/{quote(reference, safe=':')}", request)
        return "OCI-Subject" in response.headers

    def _send(self, repository: str, path: str, request: Request) -> Response:
        return self._registries.send(repository, path, request, ACTIONS)
