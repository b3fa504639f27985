"""Push blobs and manifests to OCI registries (OCI distribution specification 1.1, "Push")."""

from urllib.parse import quote

from skillpm.core.file_tree import FileTree
from skillpm.core.git_syntax import server_of
from skillpm.core.tree_checks import check_tree
from skillpm.errors import FetchError, NotFoundError
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.fetchers.http.client import Request, Response
from skillpm.fetchers.http.redirects import resolve_redirect
from skillpm.fetchers.oci.registry import OciRegistries
from skillpm.formats.oci.manifest import Descriptor

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

    def read_skill_layer(self, repository: str, layer: Descriptor, name: str) -> FileTree:
        """Return the files of a published skill. Raises `NotFoundError`, or `RefusedError` for what is not a skill."""
        return self.read_archive(self._registries.fetch_blob(repository, layer), name)

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

    def push_manifest(self, repository: str, reference: str, media_type: str, data: bytes) -> None:
        """Push a manifest or an index under a tag or its digest."""
        request = Request(
            method="PUT",
            limit=MAX_RESPONSE,
            content=data,
            headers={"Content-Type": media_type},
            accepted=frozenset([CREATED]),
        )
        self._send(repository, f"manifests/{quote(reference, safe=':')}", request)

    def _send(self, repository: str, path: str, request: Request) -> Response:
        return self._registries.send(repository, path, request, ACTIONS)
