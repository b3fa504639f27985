"""The content hashes of other tools, compared with git and with JavaScript's sort order."""

import json
import random
import shutil
import subprocess

import pytest
from kit import Repository

from skillpm.foreign_formats.content_hashes import HashedFile, git_tree_id, vercel_hash

LETTERS = "abcXYZ0189 _-,;!.'()[]{}@&#%`^+~$="
HASH = """
const { createHash } = require("crypto");
const paths = JSON.parse(require("fs").readFileSync(0));
paths.sort((a, b) => a.localeCompare(b));
const hash = createHash("sha256");
for (const path of paths) { hash.update(path); hash.update(path.length.toString()); }
console.log(hash.digest("hex"));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node, which CI has")
def test_vercels_hash_uses_the_order_of_javascript() -> None:
    chance = random.Random(7)
    paths = {
        "/".join("".join(chance.choices(LETTERS, k=chance.randint(1, 6))) for _ in range(chance.randint(1, 3)))
        for _ in range(3000)
    }
    files = [HashedFile(path=path, data=str(len(path)).encode()) for path in sorted(paths)]
    result = subprocess.run(
        ["node", "-e", HASH], input=json.dumps(sorted(paths)), capture_output=True, text=True, check=True
    )
    assert vercel_hash(files) == result.stdout.strip()


def test_the_tree_id_is_that_of_git(tmp_path_factory: pytest.TempPathFactory) -> None:
    repository = Repository.create(tmp_path_factory.mktemp("tree") / "r")
    files = {"a.md": b"1", "a/b.md": b"2", "a-b/c/d.sh": b"3", "Z": b"", "ü": b"4"}
    repository.write(files, executable=["a-b/c/d.sh"], symlinks={"link": "a/b.md"}).commit()
    mine = [HashedFile(path=path, data=data, executable=path.endswith(".sh")) for path, data in files.items()]
    assert git_tree_id([*mine, HashedFile(path="link", data=b"a/b.md", is_link=True)]) == repository.tree_id()
