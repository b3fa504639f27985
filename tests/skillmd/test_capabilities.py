"""What the files of a skill let it do, and what a new version adds to that."""

import json
import time

import pytest
from kit import Files, make_skill
from kit.skills import to_bytes

from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.text import estimate_tokens
from skillpm.skillmd.capabilities import (
    MAX_VALUES,
    Capabilities,
    compare_capabilities,
    find_capabilities,
    summarize_findings,
)


def make_tree(files: Files, *executables: str) -> FileTree:
    return FileTree(
        files=tuple(
            TreeFile(path=path, data=to_bytes(content), executable=path in executables)
            for path, content in sorted(files.items())
        )
    )


def may_now(old: Files | None, new: Files) -> list[tuple[str, str]]:
    before = None if old is None else find_capabilities(make_tree(old))
    return [(change.code, change.message) for change in compare_capabilities(before, find_capabilities(make_tree(new)))]


HOOKS = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}]}


def test_what_a_skill_may_do_is_found_in_all_its_files() -> None:
    body = "See https://docs.acme.example/x, not https://…, set $ACME_TOKEN; now is !`date`; $ARGUMENTS are given.\n"
    skill = make_skill("pdf", body=body, allowed_tools=["Read", "Bash(git:*)"], hooks=HOOKS, mcp={"db": "npx db"})
    files: Files = {
        **skill,
        "run.sh": "curl http://user:x@Api.acme.example:8080/ -H $KEY_ID",
        "bin/tool": "",
        "lib.py": 'os.environ["HOME_DIR"], os.getenv("API_KEY"), os.environ.get("OTHER_KEY")',
        "lib.js": "process.env.NODE_KEY; process.env['SECOND_KEY']",
        "hooks/hooks.json": json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "stop.sh"}]}]}}),
        ".mcp.json": json.dumps({"mcpServers": {"web": {"url": "https://mcp.example/"}}}),
        "picture.png": b"\x89PNG\xff http://ns.adobe.example/",
    }

    assert find_capabilities(make_tree(files, "bin/tool")) == Capabilities(
        tools=("Bash(git:*)", "Read"),
        hooks=("PreToolUse: ./check.sh", "Stop: stop.sh"),
        commands=("date",),
        executables=("bin/tool", "lib.js", "lib.py", "run.sh"),
        mcp_servers=("db: npx db", "web: https://mcp.example/"),
        hosts=("api.acme.example", "docs.acme.example", "mcp.example"),
        variables=("ACME_TOKEN", "API_KEY", "HOME_DIR", "KEY_ID", "NODE_KEY", "OTHER_KEY", "SECOND_KEY"),
        tokens=estimate_tokens(body),
    )


def test_what_is_new_is_listed_and_what_is_gone_is_not() -> None:
    old = make_skill("pdf", allowed_tools="Read") | {"old.sh": ""}
    new = make_skill("pdf", allowed_tools="Read Bash(*)", hooks=HOOKS) | {"new.sh": "curl https://evil.example"}

    assert may_now(old, new) == [
        ("tool-added", "use tools without asking: Bash(*)"),
        ("hook-added", "run hooks: PreToolUse: ./check.sh"),
        ("executable-added", "run programs of its own: new.sh"),
        ("host-added", "contact hosts: evil.example"),
    ]
    assert may_now(new, old) == [("executable-added", "run programs of its own: old.sh")]
    assert may_now(new, new) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Bash(git:*)", "Bash(*)", "use more of a tool without asking: Bash(*)"),
        ("Bash(git:*)", "Bash", "use more of a tool without asking: Bash"),
        ("Read", "Bash(*) Read", "use tools without asking: Bash(*)"),
        ("Bash(*)", "Bash(git:*)", ""),
        ("Bash", "Bash(rm *)", ""),
        ("Read Write", "Read", ""),
        ("Read", None, "use any tool that the user permits: `allowed-tools` was removed"),
        (None, "Read", "use tools without asking: Read"),
        (None, None, ""),
    ],
)
def test_tools_are_compared_with_their_arguments(old: str | None, new: str | None, message: str) -> None:
    before, after = (make_skill("pdf", **{"allowed-tools": tools} if tools else {}) for tools in (old, new))

    assert "; ".join(message for _, message in may_now(before, after)) == message


def test_a_new_skill_is_compared_with_nothing() -> None:
    assert may_now(None, make_skill("pdf", allowed_tools="Read", body="x " * 2000)) == [
        ("tool-added", "use tools without asking: Read")
    ]


def test_growth_is_reported_if_it_is_large() -> None:
    assert may_now(make_skill("pdf", body="word " * 1000), make_skill("pdf", body="word " * 1150)) == []
    assert may_now(make_skill("pdf", body="word " * 1000), make_skill("pdf", body="word " * 2000)) == [
        ("tokens-grown", "take 800 more tokens (800 → 1600)")
    ]


def test_a_skill_that_models_may_load_now_is_reported() -> None:
    hidden = make_skill("pdf", **{"disable-model-invocation": "true"})

    assert may_now(hidden, make_skill("pdf")) == [("models-allowed", "be loaded by models without the user")]


def test_a_crowd_of_hosts_does_not_hide_a_new_one() -> None:
    crowd = make_skill("pdf") | {"hosts.txt": "".join(f"https://a{number}.example/\n" for number in range(MAX_VALUES))}
    more = crowd | {"more.txt": "https://evil.example/"}

    message = "contact hosts: more than 1000, so that new ones cannot be identified"
    assert may_now(crowd, more) == [("host-added", message)]
    assert may_now(more, more) == [("host-added", message)]


def test_hostile_text_is_sanitized_and_long_lists_are_cut() -> None:
    skill = make_skill("pdf", allowed_tools=["Bash(\u001b[2J\u202e)", *(f"T{number}" for number in range(10))])

    (change,) = compare_capabilities(None, find_capabilities(make_tree(skill)))

    assert summarize_findings([change]) == (
        "use tools without asking: Bash(\\x1b[2J\\u202e), T0, T1, T2, T3, T4, T5, T6 and 3 more"
    )
    assert len(change.values) == 11


@pytest.mark.parametrize("text", ["---\n: [\n---\nx", "no frontmatter", "\ud800".encode("utf-8", "surrogatepass"), ""])
def test_an_unreadable_skill_file_counts_as_text(text: str | bytes) -> None:
    assert find_capabilities(make_tree({"SKILL.md": text})).tools is None


@pytest.mark.parametrize(
    "hooks", ["x", ["x"], {"a": {"b": {"command": "x"}}}, [[[[[[[[[[[[[["x"]]]]]]]]]]]]]], 1, None]
)
def test_odd_hooks_and_servers_do_not_stop_the_search(hooks: object) -> None:
    documents = {"hooks.json": json.dumps({"hooks": hooks}), "mcp.json": json.dumps({"mcpServers": hooks})}
    files = make_skill("pdf") | documents | {"hooks/broken.json": "{"}

    found = find_capabilities(make_tree(files))

    assert {"hooks.json", "a: x", "x"} & {*found.hooks}
    assert "hooks/broken.json" in found.hooks


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["http://", "http://a", "http://@", "https://a@", "$A", "${A_", "getenv('", "!`", "environ[ "]
)
def test_megabytes_of_one_pattern_take_linear_time(unit: str) -> None:
    tree = make_tree({"SKILL.md": unit * (1_000_000 // len(unit))})
    start = time.process_time()

    find_capabilities(tree)

    assert time.process_time() - start < 3
