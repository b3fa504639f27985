"""The folder of an index in a project's skills.json: it is relative to that file, and any other value is reported."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill


def index_at(url: str) -> str:
    return json.dumps({"skills": {}, "indexes": [{"name": "acme", "url": url}]})


def test_a_folder_starts_beside_the_manifest_wherever_one_is(scene: CommandSandbox) -> None:
    scene.write_files({f"src/chart/{path}": words for path, words in make_skill("chart").items()})
    scene.run("index", "build", "./src/chart", "--out", "public", "--default-version", "1.0.0", check=True)
    scene.write("skills.json", index_at("./public"))
    (scene.work / "deep/down").mkdir(parents=True)

    scene.run("install", "chart", "--project", "../..", cwd=scene.work / "deep/down", check=True)

    assert scene.read_json("skills.lock")["skills"]["chart"]["version"] == "1.0.0"


@pytest.mark.parametrize("url", ["public", ".", "skills.acme.example"])
def test_a_value_that_is_neither_folder_nor_url_is_reported(scene: CommandSandbox, url: str) -> None:
    scene.write("skills.json", index_at(url))

    assert scene.output("install", "chart") == expected_output(f"""\
! error: invalid index URL `{url}`
!   where: WORK/skills.json:1:45: indexes.0.url
!   hint: use a URL like https://host.example/, or a folder that begins with /, ~/, or in skills.json ./ or ../
[1]
""")
