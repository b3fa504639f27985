"""`config`: settings are listed with their origin, and set without losing comments."""

import json
import os
import stat

import pytest
from commands.scene import CommandSandbox, expected_output, manifest_text

FILE = ".config/skillpm/config.toml"
COMMENTED = """\
# my settings
agents = ["claude-code"]  # at home

# the company's
[[indexes]]
name = "acme"
url = "https://skills.acme.example/"

[permissions]
"*" = "allow"
"""


def configure(scene: CommandSandbox, config: str) -> None:
    file = scene.home / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(config)


def config(scene: CommandSandbox) -> str:
    return (scene.home / FILE).read_text()


def test_list_shows_the_origin_of_each_setting(scene: CommandSandbox) -> None:
    configure(scene, COMMENTED)
    scene.create_project(
        json.dumps({"skills": {}, "indexes": [{"name": "mine", "url": "./index"}], "permissions": {"x-*": "ask"}})
    )

    output = scene.output(
        "config", "list", "--show-origin", "--exclude-newer", "3 days", env={"SKILLPM_OFFLINE": "1"}
    ).splitlines()

    assert [" ".join(line.split()) for line in output] == [
        'agents = ["claude-code"] user config (HOME/.config/skillpm/config.toml)',
        'audit.block = ["high"] default',
        "audit.trust-project = false default",
        'audit.warn = ["high", "medium"] default',
        'cache-dir = "ROOT/cache" environment (SKILLPM_CACHE_DIR)',
        'config-dir = "HOME/.config/skillpm" default',
        "discovery.additional-paths = [] default",
        "discovery.disable-claude-paths = false default",
        'exclude-newer = "3 days" command line (--exclude-newer)',
        'home = "HOME/.agent-skills" default',
        "idle-timeout = 20 default",
        'indexes.acme.url = "https://skills.acme.example/" user config (HOME/.config/skillpm/config.toml)',
        'indexes.mine.url = "./index/" project manifest (WORK/skills.json)',
        "link-mode = (not set) default",
        "lock-timeout = 60 default",
        "network-timeout = 300 default",
        "offline = true environment (SKILLPM_OFFLINE)",
        'permissions.* = "allow" user config (HOME/.config/skillpm/config.toml)',
        'permissions.x-* = "ask" project manifest (WORK/skills.json)',
        "replace = (not set) default",
        "serving.max-length = 50000 default",
        "serving.mode = (not set) default",
        "skills.enabled = true default",
    ]


@pytest.mark.parametrize(
    ("manifest", "config", "env", "words", "value", "origin", "where"),
    [
        (None, None, {}, [], None, "default", ""),
        (None, "1 day", {}, [], "1 day", "user config", f"HOME/{FILE}"),
        ("2 days", "1 day", {}, [], "2 days", "project manifest", "WORK/skills.json"),
        ("1 day", "2 days", {}, [], "2 days", "user config", f"HOME/{FILE}"),
        ("0 days", None, {}, [], "0 days", "project manifest", "WORK/skills.json"),
        ("2 days", "1 day", {"SKILLPM_EXCLUDE_NEWER": "1h"}, [], "1h", "environment", "SKILLPM_EXCLUDE_NEWER"),
        ("2 days", "1 day", {"SKILLPM_EXCLUDE_NEWER": "1h"}, ["2h"], "2h", "command line", "--exclude-newer"),
    ],
)
def test_the_precedence_of_origins(
    scene: CommandSandbox,
    manifest: str | None,
    config: str | None,
    env: dict[str, str],
    words: list[str],
    value: str | None,
    origin: str,
    where: str,
) -> None:
    scene.create_project(json.dumps({"skills": {}} | ({"exclude-newer": manifest} if manifest else {})))
    if config:
        configure(scene, f'exclude-newer = "{config}"\n')

    found = scene.json_output(
        "config", "get", "exclude-newer", *(["--exclude-newer", *words] if words else []), env=env
    )

    assert found == {"key": "exclude-newer", "value": value, "origin": origin, "where": where}


def test_set_keeps_comments_and_order(scene: CommandSandbox) -> None:
    configure(scene, COMMENTED)

    for words in (
        ["exclude-newer", "7 days"],
        ["agents", "claude-code", "opencode"],
        ["indexes.house.url", "/srv/index"],
        ["indexes.acme", "https://other.example"],
        ["permissions.deploy-*", "ask"],
        ["permissions-for.build.*", "deny"],
        ["discovery.disable-claude-paths", "yes"],
        ["discovery.additional-paths", '["/shared"]'],
    ):
        scene.run("config", "set", *words, check=True)

    assert config(scene) == expected_output("""\
# my settings
agents = ["claude-code", "opencode"]  # at home
exclude-newer = "7 days"

# the company's
[[indexes]]
name = "acme"
url = "https://other.example/"

[[indexes]]
name = "house"
url = "/srv/index/"

[permissions]
"*" = "allow"
"deploy-*" = "ask"

[permissions-for.build]
"*" = "deny"

[discovery]
disable-claude-paths = true
additional-paths = ["/shared"]
""")
    assert scene.json_output("config", "get", "indexes")["settings"][0]["value"] == "https://other.example/"


def test_unset_undoes_set(scene: CommandSandbox) -> None:
    configure(scene, COMMENTED)

    assert scene.output("config", "set", "exclude-newer", "7 days") == (
        f'! exclude-newer is now "7 days", in HOME/{FILE}\n'
    )
    assert scene.output("config", "set", "exclude-newer", "7 days") == (
        f'! exclude-newer was already "7 days", in HOME/{FILE}\n'
    )
    assert scene.output("config", "unset", "exclude-newer") == f"! exclude-newer is no longer set in HOME/{FILE}\n"
    assert config(scene) == COMMENTED
    assert scene.output("config", "unset", "exclude-newer") == expected_output(f"""\
! error: `exclude-newer` is not set in config.toml
!   where: HOME/{FILE}
[1]
""")


def test_the_first_setting_creates_the_file(scene: CommandSandbox) -> None:
    assert scene.json_output("config", "set", "indexes.acme.url", "https://skills.acme.example") == {
        "changed": True,
        "key": "indexes.acme.url",
        "value": "https://skills.acme.example/",
        "file": f"HOME/{FILE}",
        "warnings": [],
    }
    assert config(scene) == '[[indexes]]\nname = "acme"\nurl = "https://skills.acme.example/"\n'
    assert scene.output("config", "unset", "indexes.acme") == f"! indexes.acme.url is no longer set in HOME/{FILE}\n"
    assert config(scene) == ""


def test_a_link_into_dotfiles_and_the_mode_are_kept(scene: CommandSandbox) -> None:
    dotfile = scene.write("dotfiles/config.toml", COMMENTED)
    dotfile.chmod(0o600)
    file = scene.home / FILE
    file.parent.mkdir(parents=True)
    file.symlink_to(dotfile)

    scene.run("config", "set", "exclude-newer", "1d", check=True)

    assert file.is_symlink()
    assert (stat.S_IMODE(os.stat(dotfile).st_mode), "exclude-newer" in dotfile.read_text()) == (0o600, True)


@pytest.mark.parametrize(
    ("words", "expected", "hint"),
    [
        (["set", "exclude-newr", "1d"], "`exclude-newr` is not a setting", "did you mean `exclude-newer`?"),
        (
            ["set", "permisions.x", "ask"],
            "`permisions.x` is not a setting",
            "did you mean `permissions.x`?",
        ),
        (["set", "permissions", "ask"], "`permissions` is a table", "name one of its keys: permissions.PATTERN"),
        (["set", "profiles.mine", "x"], "a profile is a table", "edit config.toml by hand"),
        (
            ["set", "offline", "1"],
            "`offline` is not a setting of config.toml",
            "set SKILLPM_OFFLINE=1 in the environment",
        ),
        (["set", "skills.enabled", "maybe"], "`skills.enabled` must be true or false, not `maybe`", ""),
        (
            ["set", "serving.max-length", "0"],
            "`serving.max-length` must be a number of characters above 0, not `0`",
            "",
        ),
        (["set", "serving.mode", "short"], "`serving.mode` must be full, compact or toon, not `short`", ""),
        (["set", "permissions.x", "perhaps"], "`permissions.x` must be allow, ask or deny, not `perhaps`", ""),
        (["set", "exclude-newer", "soon"], "`soon` is not an age, a date or a timestamp", ""),
        (["set", "exclude-newer", "1d", "2d"], "`exclude-newer` takes one value, got 2", ""),
        (["set", "agents", "[1]"], "`agents`: expected a string, got 1", ""),
        (["set", "agents", "["], "`agents`: invalid TOML: Invalid value (at end of document)", ""),
        (["set", "indexes.acme.url", "ftp://x"], "invalid web address `ftp://x`", ""),
        (["set", "indexes.Acme.url", "https://x"], "`indexes.Acme.url` is not a setting", ""),
        (["set", "permissions.\udcff", "deny"], r"a key is not UTF-8: `permissions.\udcff`", ""),
        (["unset", "permissions.\udcff"], r"a key is not UTF-8: `permissions.\udcff`", ""),
        (
            ["set", "discovery.additional-paths", "/\udcff"],
            r"a value of `discovery.additional-paths` is not UTF-8: `/\udcff`",
            "",
        ),
        (["get", "nothing"], "`nothing` is not a setting", ""),
    ],
)
def test_invalid_keys_and_values_are_refused(scene: CommandSandbox, words: list[str], expected: str, hint: str) -> None:
    configure(scene, COMMENTED)
    before = scene.full_snapshot

    result = scene.run("config", *words)

    assert (result.code, result.stderr.splitlines()[0]) == (2, f"error: {expected}")
    assert hint in result.stderr
    assert scene.full_snapshot == before


@pytest.mark.parametrize(("typed", "folder"), [("./x", "WORK/x/"), (".", "WORK/"), ("../skills/", "ROOT/skills/")])
def test_the_folder_of_an_index_is_recorded_as_an_absolute_path(scene: CommandSandbox, typed: str, folder: str) -> None:
    scene.run("config", "set", "indexes.acme.url", typed, check=True)

    assert scene.json_output("config", "get", "indexes.acme.url")["value"] == folder


def test_an_unknown_agent_is_reported_with_a_suggestion(scene: CommandSandbox) -> None:
    assert (
        scene.output("config", "set", "agents", "claude-cod").splitlines()[0] == "! error: unknown agent `claude-cod`"
    )
    assert not (scene.home / FILE).exists()


@pytest.mark.parametrize("words", [["list"], ["get", "agents"], ["set", "exclude-newer", "1d"], ["unset", "agents"]])
def test_an_invalid_file_is_reported_with_its_line_and_not_rewritten(scene: CommandSandbox, words: list[str]) -> None:
    broken = 'agents = ["claude-code"]\nexclude-newer = = "7 days"\n'
    configure(scene, broken)

    assert scene.output("config", *words) == expected_output(f"""\
! error: invalid TOML: Invalid value
!   where: HOME/{FILE}:2:17
!   hint: fix the file by hand, or restore it from version control
[1]
""")
    assert config(scene) == broken


@pytest.mark.parametrize(
    "rows", ["indexes = 5\n", 'indexes = ["a"]\n', "indexes = [[1]]\n", '[indexes]\nname = "acme"\n']
)
@pytest.mark.parametrize("words", [["set", "indexes.acme.url", "https://z/"], ["unset", "indexes.acme.url"]])
def test_indexes_of_a_wrong_type_are_reported_and_not_rewritten(
    scene: CommandSandbox, words: list[str], rows: str
) -> None:
    configure(scene, rows)

    assert scene.output("config", *words) == expected_output(f"""\
! error: expected an array of tables
!   where: HOME/{FILE}:1:1: indexes
!   hint: write it as [[indexes]]
[1]
""")
    assert config(scene) == rows


def test_a_duplicate_index_is_reported_with_its_lines_and_unset_as_a_whole(scene: CommandSandbox) -> None:
    rows = '[[indexes]]\nname = "a"\nurl = "https://x/"\n\n[[indexes]]\nname = "b"\nurl = "https://y/"\n'
    configure(scene, rows + '\n[[indexes]]\nname = "a"\nurl = "https://z/"\n')
    before = config(scene)

    assert scene.output("config", "set", "indexes.a.url", "https://n/") == expected_output(f"""\
! error: duplicate name `a` in indexes, lines 2 and 10
!   where: HOME/{FILE}:10
!   hint: remove one of them by hand, or all with `skillpm config unset indexes.a`
[1]
""")
    assert config(scene) == before
    scene.run("config", "unset", "indexes.a", check=True)
    assert config(scene).strip() == '[[indexes]]\nname = "b"\nurl = "https://y/"'


@pytest.mark.parametrize("key", ["permissions.x", "permissions-for.mine.x"])
def test_unset_in_a_value_that_is_not_a_table_is_reported(scene: CommandSandbox, key: str) -> None:
    table = key.partition(".")[0]
    configure(scene, f"{table} = 5\n")

    output = scene.output("config", "unset", key)

    assert output.splitlines()[0] == "! error: expected a table"
    assert output.endswith("[1]\n")
    assert config(scene) == f"{table} = 5\n"


def test_a_setting_of_the_wrong_type_can_be_replaced(scene: CommandSandbox) -> None:
    configure(scene, "agents = 3 # oops\n[skills]\nenabled = 7\n")
    assert scene.run("config", "list").code == 1

    scene.run("config", "set", "agents", "claude-code", check=True)
    scene.run("config", "set", "skills.enabled", "true", check=True)

    assert config(scene) == 'agents = ["claude-code"] # oops\n[skills]\nenabled = true\n'
    scene.run("config", "list", check=True)


def test_an_unknown_key_is_reported(scene: CommandSandbox) -> None:
    configure(scene, 'exclude-newr = "7 days"\n')

    assert scene.run("config").stderr.endswith("exclude-newr: unknown setting; did you mean `exclude-newer`?\n")


def test_no_secret_is_shown_or_stored(scene: CommandSandbox) -> None:
    secrets = {"SKILLPM_INDEX_ACME_TOKEN": "hunter2", "GITHUB_TOKEN": "hunter3"}
    output = scene.output("config", "set", "indexes.acme.url", "https://me:hunter4@skills.acme.example", env=secrets)
    assert output.splitlines()[0] == (
        "! warning: the credentials in the URL are not kept; use SKILLPM_INDEX_ACME_TOKEN or ~/.netrc"
    )
    configure(scene, config(scene).replace("https://", "https://me:hunter5@"))

    output += scene.output("config", "list", "--show-origin", env=secrets)
    output += scene.output("config", "list", "--json", env=secrets) + scene.output(
        "config", "get", "indexes", env=secrets
    )

    assert "hunter" not in output


def test_settings_of_user_scope_ignore_the_manifest_of_the_project(scene: CommandSandbox) -> None:
    scene.create_project(json.dumps({"skills": {}, "agents": ["codex"]}))
    (scene.home / ".config/skillpm").mkdir(parents=True)
    (scene.home / ".config/skillpm/skills.json").write_text(manifest_text())

    assert scene.json_output("config", "get", "agents")["origin"] == "project manifest"
    assert scene.json_output("config", "get", "agents", "-g") == {
        "key": "agents",
        "value": [],
        "origin": "default",
        "where": "",
    }
