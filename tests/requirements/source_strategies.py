"""Hypothesis strategies for sources: everything that a manifest can require of a skill `pdf`."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from skillpm.kinds.archive import UrlSource
from skillpm.kinds.base import Source
from skillpm.kinds.bundled import BundledSource
from skillpm.kinds.git import GitSource
from skillpm.kinds.index import IndexSource
from skillpm.kinds.local import PathSource
from skillpm.kinds.package import PackageSource

words = st.from_regex(r"[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}", fullmatch=True)
refs = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_+-]{0,4}(/[A-Za-z0-9_][A-Za-z0-9_+-]{0,4}){0,2}", fullmatch=True)
ranges = st.sampled_from(["*", "^1.2", "~1", ">=1,<2", "==1.*", "1.2.0", "v2", "^1.0b1", "1.0.0-beta.1"])
# Not the names that Windows reserves: no folder of a skill may have them.
folders = st.lists(words.map("x{}".format), min_size=1, max_size=3).map("/".join)
urls = st.sampled_from(
    ["https://github.com/o/r", "https://h.example/x.git", "ssh://git@h.example/x", "git@h:o/r", "file:///srv/x.git"]
)
ref_fields = st.one_of(
    st.just({}),
    st.text("0123456789abcdef", min_size=40, max_size=40).map(lambda ref: {"kind": "rev", "ref": ref}),
    st.builds(lambda kind, ref: {"kind": kind, "ref": ref}, st.sampled_from(["tag", "branch"]), refs),
    ranges.map(lambda ref: {"kind": "version", "ref": ref}),
)
patterns = st.just(()) | st.lists(folders | st.sampled_from(["*.md", "!tests/", "a b/**"]), min_size=1).map(tuple)
git_sources = st.builds(
    lambda url, path, skill, ref, files: GitSource(url=url, path=path, skill=skill, files=files, **ref),
    *(urls, st.sampled_from(["", "."]) | folders, st.just("") | words, ref_fields, patterns),
)
local_paths = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1, max_size=8)
digests = st.text("0123456789abcdef", min_size=64, max_size=64).map("sha256:{}".format)
sources: SearchStrategy[Source] = st.one_of(
    git_sources,
    st.builds(PathSource, path=local_paths, link=st.booleans()),
    st.just(BundledSource(name="pdf")),
    st.builds(IndexSource, name=st.just("pdf"), version=ranges, index=st.just("") | words),
    st.builds(UrlSource, url=words.map("https://h.example/{}.zip".format), digest=st.just("") | digests),
    st.builds(PackageSource, kind=st.just("env"), package=words, skill=st.just("") | words),
    st.builds(
        PackageSource, kind=st.just("npm"), package=words | words.map("@{}/ui".format), skill=st.just("") | words
    ),
)
