"""`exclude-newer` of a scope: the command line's, else the environment's, else the stricter of manifest and user.

A project may keep its people from what is too new; it may not take back what one of them decided for himself, since
it is often somebody else's checkout.
"""

from skillpm.documents.cutoff import EVERYTHING, Cutoff, read_cutoff
from skillpm.documents.decode import Node
from skillpm.documents.manifest import Manifest
from skillpm.errors import DocumentError
from skillpm.operations.user_config import user_setting
from skillpm.settings import Settings


def cutoff_of(manifest: Manifest, settings: Settings) -> Cutoff:
    """Give what is too new in a scope. Raises `DocumentError` that names file and key of what means nothing."""
    if settings.exclude_newer:
        return read_cutoff(settings.exclude_newer, settings.now)
    return strictest(manifest, settings)[1]


def strictest(manifest: Manifest, settings: Settings) -> tuple[Node | None, Cutoff]:
    """Give what the documents say, and where the one that counts says it."""
    written = [Node(manifest.exclude_newer, manifest.file, ("exclude-newer",))] if manifest.exclude_newer else []
    if (own := user_setting(settings, "exclude-newer")) is not None:
        written.append(own)
    said = [(node, read_cutoff(node.text(), settings.now, where=node.where, fail=DocumentError)) for node in written]
    counting = [pair for pair in said if pair[1].moment] or said[:1]
    return min(counting, key=lambda pair: pair[1].moment, default=(None, EVERYTHING))
