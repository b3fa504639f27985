"""Links of a skill to elsewhere in its repository: what they lead to is copied from the same commit.

Their targets are part of the pin, so they are proved and compared like the folder of the skill itself.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from skillpm.core.file_tree import SourceEntry
from skillpm.core.names import SkillName, path_problem
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import MAX_TARGET_LENGTH, LinkResolver, bad_link_error, read_target
from skillpm.errors import EDITED_LOCK_HINT, DigestMismatch, RefusedError, concerning
from skillpm.fetchers.git.fetch_strategies import FolderKey
from skillpm.fetchers.git.program.errors import GitFailed, translate_error
from skillpm.fetchers.git.program.objects import GITLINK, KIND_MASK, LINK, TREE, CacheDamaged
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.skill_finder import MAX_LINKS, SkillLocation
from skillpm.fetchers.git.tree_walk import TreeEntry, TreeTooLarge, format_entry, read_entries, read_entry, walk_tree
from skillpm.kinds.git import MAX_FILE_PATTERNS, GitPin, GitSource

MAX_LEFT_OUT_LEVELS = 5  # links to folders of links to the skill itself, and links to such folders


def _find_outside_links(entries: Sequence[SourceEntry], folder: str, name: str) -> dict[SourceEntry, str]:
    """Return the links that lead out of a skill's folder, and the paths in the repository that they name.

    All `..` of a link come first, so that its text alone says where it leads. Others are left to `check_tree`. Raises
    `RefusedError` for a link out of the repository, and for one to a folder that contains the skill.
    """
    links: dict[SourceEntry, str] = {}
    for entry in entries:
        if entry.kind != "link":
            continue
        parts = [part for part in read_target(entry, name).split("/") if part != "."]
        rest = [part for part in parts if part != ".."]
        steps_up = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
        above = [] if folder == "." else folder.split("/")
        place = [*above, *entry.path.split("/")[:-1]]
        if steps_up <= len(place) - len(above) or parts[steps_up:] != rest or "" in parts[:-1]:
            continue
        if steps_up > len(place):
            raise bad_link_error(name, entry, "points outside the repository")
        target = "/".join([*place[: len(place) - steps_up], *(part for part in rest if part)])
        if not target or f"{folder}/".startswith(f"{target}/"):
            raise bad_link_error(name, entry, "points to a folder that contains the skill")
        if problem := path_problem(target):
            raise bad_link_error(name, entry, f"points to a path that {problem}")
        links[entry] = target
    return links


def follow_links(
    repository: Repository, pins: Mapping[SkillName, GitPin], entries: Mapping[FolderKey, Sequence[TreeEntry]]
) -> dict[SkillName, GitPin]:
    """Return pins with what the commit has where links among their entries lead to. Raises `RefusedError`."""
    followed: dict[SkillName, GitPin] = {}
    for name, pin in pins.items():
        listed = [entry for entry in entries[pin.tree, pin.files] if entry.mode == LINK]
        with concerning(name):
            links = [*read_entries(repository, listed, name, lambda _: None)]
            _refuse_links_to_root(repository, pin, links, name)
            followed[name] = pin.replace(links=_find_targets(repository, pin, links, name))
    return followed


def _find_targets(
    repository: Repository, pin: GitPin, entries: Sequence[SourceEntry], name: str
) -> tuple[tuple[str, str], ...]:
    """Return what the commit of a pin has where these links lead to, as pins record it.

    Raises `RefusedError` for a link to nothing, to or through another link, and into a submodule.
    """
    targets: dict[str, str] = {}
    for link, target in _find_outside_links(entries, pin.path, name).items():
        if target not in targets:
            parts = target.split("/")
            for depth in range(1, len(parts) + 1):
                path = "/".join(parts[:depth])
                if (found := read_entry(repository, pin.commit, path)) is None:
                    raise CacheDamaged("trees of a fetched commit are missing")
                mode, oid = found
                if mode & KIND_MASK == LINK:
                    raise bad_link_error(name, link, f"leads to another link, '{sanitize(path)}'")
                if mode & KIND_MASK == GITLINK:
                    raise bad_link_error(name, link, f"leads into the submodule '{sanitize(path)}'")
                if not mode or (mode & KIND_MASK != TREE and depth < len(parts)):
                    raise bad_link_error(name, link, "points to a missing file")
            targets[target] = format_entry(mode, oid)
    return tuple(sorted(targets.items()))


def read_outside(
    repository: Repository,
    pin: GitPin,
    entries: Sequence[SourceEntry],
    fetched: Mapping[str, Sequence[TreeEntry]],
    name: str,
    warn: Callable[[str], None],
) -> dict[str, Sequence[SourceEntry]]:
    """Return the files that links lead to, by the path of the link, for `check_tree`.

    `fetched` has the entries of what the pin records. Raises `RefusedError` for a folder that contains a link, and
    `DigestMismatch` if the links of the skill have other targets than the pin.
    """
    links = _find_outside_links(entries, pin.path, name)
    targets = dict(pin.links)
    if targets.keys() != {*links.values()}:
        raise DigestMismatch(
            name,
            locked=_describe(targets),
            actual=_describe(links.values()),
            origin=pin.summarize(),
            key="source.links",
            advice=EDITED_LOCK_HINT,
        )
    files: dict[str, Sequence[SourceEntry]] = {}
    for link, target in links.items():
        if target not in files:
            listed = fetched[targets[target]]
            if chained := next((each.path for each in listed if each.mode == LINK), ""):
                raise bad_link_error(name, link, f"leads to a folder with another link, '{sanitize(chained)}'")
            files[target] = [*read_entries(repository, listed, name, warn)]
    return {link.path: files[target] for link, target in links.items()}


def _describe(targets: Iterable[str]) -> str:
    names = sorted({*targets})
    return f"links to {', '.join(sanitize(path, 80) for path in names[:3])}" if names else "no links"


def choose_files(repository: Repository, source: GitSource, tree: str) -> GitSource:
    """Return the source of a skill that is a whole repository, with `files` for all but its links to itself.

    Those are in folders of hosts. Unchanged if there are none, if patterns cannot say it, or if it has `files`.
    """
    if source.path != "." or source.files:
        return source
    listed = [entry.id for entry in _walk(repository, tree) if entry.mode == LINK]
    missing = [oid for oid, size in repository.reader.read_sizes(listed[:MAX_LINKS]).items() if size is None]
    if missing and not repository.context.settings.offline:
        try:
            repository.fetch_blobs(missing)
        except GitFailed as failed:
            raise translate_error(failed, repository.url) from failed
    paths = find_links_to_root(repository, tree)
    is_plain = all(not {*path} & {*"*?[\\"} and path == path.strip() for path in paths)
    if not paths or not is_plain or len(paths) >= MAX_FILE_PATTERNS:
        return source
    return source.replace(files=("*", *(f"!/{path}" for path in paths)))


def left_out_warnings(repository: Repository, pin: GitPin, listed: Sequence[TreeEntry], name: str) -> list[str]:
    """Return a warning for each link of a repository to itself that `files` leave out."""
    paths = find_links_to_root(repository, pin.tree) if pin.path == "." and pin.files else []
    selected = {entry.path for entry in listed}
    return [
        f"{name}: left out the link `{sanitize(path, 80)}`, which leads to the skill itself"
        for path in paths
        if path not in selected
    ]


def _refuse_links_to_root(repository: Repository, pin: GitPin, links: Sequence[SourceEntry], name: str) -> None:
    paths = {*find_links_to_root(repository, pin.tree)} if pin.path == "." and links else set()
    if link := next((link for link in links if link.path in paths), None):
        error = bad_link_error(name, link, "points to the skill itself")
        patterns = json.dumps([*(pin.files or ["*"]), *(f"!/{path}" for path in sorted(paths))])
        error.hint = f'leave it out in skills.json: "files": {sanitize(patterns, 300)}'
        raise error


def _walk(repository: Repository, tree: str) -> Sequence[TreeEntry]:
    try:
        return walk_tree(repository.reader, tree).entries
    except TreeTooLarge:
        return ()


def find_links_to_root(repository: Repository, tree: str) -> list[str]:
    """Return the links of a repository that lead to its root, and those to folders with nothing but such links.

    Only links that are cached are found.
    """
    everything = _read_links(repository, tree)
    links = [entry for entry in everything.values() if entry.kind == "link"]
    resolver = LinkResolver(everything, repository.url)
    left_out: dict[str, None] = {}
    for _ in range(MAX_LEFT_OUT_LEVELS if links else 0):
        rest = LinkResolver({path: entry for path, entry in everything.items() if path not in left_out}, repository.url)
        found = [link.path for link in links if link.path not in left_out and _is_empty(link, resolver, rest)]
        if not found:
            break
        left_out |= dict.fromkeys(found)
    return [*left_out]


def _read_links(repository: Repository, tree: str) -> dict[str, SourceEntry]:
    """Return the entries of a tree by path, without those links that are not cached, and of files only the paths."""
    listed = _walk(repository, tree)
    blobs = repository.reader.read((entry.id for entry in listed if entry.mode == LINK), max_size=MAX_TARGET_LENGTH)
    everything: dict[str, SourceEntry] = {}
    for entry in listed:
        if entry.mode != LINK:
            everything[entry.path] = SourceEntry(path=entry.path)
        elif (blob := blobs[entry.id]) is not None:
            everything[entry.path] = SourceEntry(path=entry.path, kind="link", data=blob.data)
    return everything


def find_bad_link(repository: Repository, commit: str, location: SkillLocation) -> str:
    """Return what is wrong with a link of a skill; empty if nothing is, and for a repository that is one skill.

    Of that, `choose_files` leaves links out.
    """
    if not location.link_ids or location.path == ".":
        return ""
    pin = GitPin(url=repository.url, commit=commit, tree=location.tree, path=location.path)
    name, everything = location.path, _read_links(repository, location.tree)
    links = [entry for entry in everything.values() if entry.kind == "link"]
    try:
        outside = _find_outside_links(links, pin.path, name)
        _find_targets(repository, pin, links, name)
        resolver = LinkResolver(everything, name, {link.path: () for link in outside})
        for link in links:
            if link not in outside:
                target = "/".join(resolver.resolve(link)[0])
                if target not in everything and not resolver.entries_below(target):
                    raise bad_link_error(name, link, "points to a missing file")
    except RefusedError as error:
        return error.message.removeprefix(f"skill {sanitize(name)}: ")
    return ""


def _is_empty(link: SourceEntry, resolver: LinkResolver, rest: LinkResolver) -> bool:
    """Return whether a link leads to the skill itself, or to a folder of which `rest` has nothing left."""
    try:
        target = "/".join(resolver.resolve(link)[0])
    except RefusedError:  # which `check_tree` reports
        return False
    is_there = target in resolver.entries or bool(resolver.entries_below(target))
    return not target or (is_there and target not in rest.entries and not rest.entries_below(target))
