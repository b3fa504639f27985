"""The least that each scenario of `bench/run.py` can take: what only reads, copies or fetches the same files.

Git's floors need no more requests than its protocol: a shallow commit with its trees but without files, then all files
in one batch. The second one begins with the commit of a lockfile, so that the trees are known to belong to it.
"""

import shlex
import sys
from collections.abc import Mapping, Sequence

PYTHON = (sys.executable, "-c", "pass")
CLICK = (sys.executable, "-c", "import click")
FETCH = (
    "git -C $g -c fetch.negotiationAlgorithm=noop fetch -q --no-tags --no-write-fetch-head --no-auto-maintenance"
    " --filter=blob:none"
)

LIST = """
import json, os, sys
with open(".agent-skills/skills.json") as file:
    entries = json.load(file)["skills"]
for entry in entries:
    os.stat(".agent-skills/" + entry["filePath"])
sys.stdout.write("".join(f"{entry['name']}  {entry['description']}\\n" for entry in entries))
"""
STAT = """
import os
def walk(folder):
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                walk(entry.path)
            else:
                entry.stat()
walk(".agent-skills")
"""
HASH = """
import os
from hashlib import sha256
for folder, _, names in os.walk(".agent-skills"):
    for name in names:
        with open(f"{folder}/{name}", "rb") as file:
            sha256(file.read()).hexdigest()
"""
# `sync FILE` flushes a file or folder; the folders alone are flushed, as after an install.
COPY = "cp -r ../ready .agent-skills && find .agent-skills -type d -exec sync {} +"


def run_python(code: str) -> Sequence[str]:
    """Return the command that runs a program without the user's site-packages."""
    return sys.executable, "-I", "-S", "-c", code


def fetch_with_git(paths_by_url: Mapping[str, Sequence[str]], commits: Mapping[str, str]) -> Sequence[str]:
    """Return the command that fetches folders of repositories; of a given commit, or else of HEAD."""
    jobs = []
    for number, (url, paths) in enumerate(paths_by_url.items()):
        folders = shlex.join(paths)
        jobs.append(f"""(g=$HOME/store/{number}; git init -q --bare --template= $g
git -C $g config remote.origin.url {url}; git -C $g config remote.origin.promisor true
{FETCH} --depth 1 origin {commits.get(url, "HEAD")}:refs/heads/it
git -C $g ls-tree -r --format='%(objectname)' it {folders} | {FETCH} --stdin origin
for p in {folders}; do d=.agent-skills/${{p##*/}}; mkdir -p $d; git -C $g archive it:$p | tar x -C $d; done) &""")
    return (
        "sh",
        "-ec",
        "rm -rf $HOME/store .agent-skills; mkdir -p $HOME/store .agent-skills\n" + "\n".join(jobs) + "\nwait",
    )
