"""A policy with sixty thousand blocked names: it is parsed once, and then read from a copy in the cache."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from kit.growth import calls_of, growth_of_calls

from skillpm.errors import DocumentError
from skillpm.formats.trust.policy import Policy, read_policy
from skillpm.scope.scope import find_scope
from skillpm.scope.scope_policy import load_scope_policies, parse_policy
from skillpm.settings import Settings
from skillpm.trust.policy import Policies

NUMBER = 60_000
FETCH = '[fetch]\nurl = "https://acme.example/p.toml"\nkey = "ed25519:{}="\nmax-age = "9 days"\n'.format("A" * 43)


def blocked_names(number: int) -> str:
    return "version = 1\n" + "".join(
        f'[[blocked]]\nname = "evil-{each}"\nreason = "steals keys"\n' for each in range(number)
    )


LARGE = blocked_names(NUMBER)


def read_again(text: str, cache_dir: Path) -> Policy:
    """Read a policy as another process does."""
    parse_policy.cache_clear()
    read_policy.cache_clear()
    return parse_policy(text, "policy.toml", str(cache_dir))


def find_entry(cache_dir: Path) -> Path:
    (entry,) = (cache_dir / "verdicts").iterdir()
    return entry


def test_a_copy_is_read_with_a_tenth_of_the_calls(tmp_path: Path) -> None:
    first = calls_of(lambda: read_again(LARGE, tmp_path))
    second = calls_of(lambda: read_again(LARGE, tmp_path))

    assert second * 10 < first
    assert read_again(LARGE, tmp_path) == read_policy(LARGE, "policy.toml")


@pytest.mark.parametrize(
    "rules",
    [
        '[sources]\nallow = ["path"]\n[require]\nreviews = 2\nmin-age = "7 days"\n'
        '[require.signers]\n"github.com/acme/*" = "keys/acme.pem"\n',
        '[limits]\nexecutables = false\nmax-size = "5 MB"\n[audit]\nblock = ["pipe-to-shell"]\ntrust-project = false\n',
        '[licenses]\nallow = ["MIT"]\n[indexes]\nallow = []\n[oci]\nallow = ["ghcr.io/acme/*"]\n',
        FETCH,
        f'[[blocked]]\ndigest = "sha256:{"0" * 64}"\nreason = "é\\u202e"\n',
    ],
)
def test_a_copy_has_all_rules(rules: str, tmp_path: Path) -> None:
    text = f"issued = 2026-01-01T00:00:00Z\n{blocked_names(2_500)}{rules}"
    parsed = read_again(text, tmp_path)

    assert find_entry(tmp_path).exists()
    assert read_again(text, tmp_path) == parsed == read_policy(text, "policy.toml")


def test_a_small_policy_has_no_copy(tmp_path: Path) -> None:
    read_again(blocked_names(10), tmp_path)

    assert not [*tmp_path.iterdir()]


def copy(entry: Path) -> None:
    shutil.copy2(entry, entry.with_suffix(".other"))
    entry.with_suffix(".other").replace(entry)


def link(entry: Path) -> None:
    entry.rename(entry.with_suffix(".other"))
    entry.symlink_to(entry.with_suffix(".other"))


def damage(entry: Path) -> None:
    entry.write_bytes(entry.read_bytes()[:-10])


def replace_fields(entry: Path) -> None:
    value = json.loads(entry.read_bytes())
    value["policy"]["unknown"] = value["policy"].pop("blocked")
    entry.write_text(json.dumps(value), encoding="utf-8")


def give_away(entry: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(entry, 65_534, 65_534)


@pytest.mark.parametrize("forge", [copy, link, damage, replace_fields, give_away])
def test_a_copy_that_was_not_written_here_is_not_read(forge: Callable[[Path], None], tmp_path: Path) -> None:
    """Each says that nothing is blocked, as a cache that a CI service restores may."""
    text = blocked_names(2_500)
    read_again(text, tmp_path)
    entry = find_entry(tmp_path)
    value = json.loads(entry.read_bytes())
    value["policy"]["blocked"] = []
    entry.write_text(json.dumps(value), encoding="utf-8")
    assert not read_again(text, tmp_path).blocked  # an entry is believed, so it matters who wrote it

    forge(entry)

    assert len(read_again(text, tmp_path).blocked) == 2_500


def test_an_invalid_policy_has_no_copy(tmp_path: Path) -> None:
    with pytest.raises(DocumentError):
        read_again(f"{blocked_names(2_500)}unknown = 1\n", tmp_path)

    assert not [*tmp_path.iterdir()]


def test_a_name_is_looked_up() -> None:
    policies = Policies(layers=(read_policy(LARGE, "policy.toml"),))
    policies.find_blocked(["none"], "")

    assert policies.find_blocked(["EVIL-59999"], "") == policies.layers[0].blocked[-1]
    assert calls_of(lambda: policies.find_blocked(["evil", "none"], "")) < 50


def test_twice_the_names_take_twice_the_calls() -> None:
    def work(number: int) -> None:
        policy = read_policy(blocked_names(number), f"{number}.toml")
        Policies(layers=(policy,)).find_blocked(["none"], "")

    assert growth_of_calls(work, 100) < 2.3


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the settings of a user with a large policy, in a project."""
    project, config = tmp_path / "project", tmp_path / "config"
    for folder in (project, config):
        folder.mkdir()
    (config / "policy.toml").write_text(LARGE, encoding="utf-8")
    (project / "skills.json").write_text('{"skills": {}}', encoding="utf-8")
    return Settings(
        home=str(tmp_path), working_directory=str(project), skills_home=str(tmp_path / ".agent-skills"),
        config_dir=str(config), cache_dir=str(tmp_path / "cache"),
    )  # fmt: skip


def count_blocked(settings: Settings) -> int:
    """Return how many names the policy of the user blocks, as another process reads it."""
    parse_policy.cache_clear()
    read_policy.cache_clear()
    policies = load_scope_policies(find_scope(settings), settings)
    assert policies is not None
    return len(policies.layers[0].blocked)


def test_the_policy_of_a_user_is_read_from_its_copy(settings: Settings) -> None:
    assert count_blocked(settings) == NUMBER
    entry = find_entry(Path(settings.cache_dir))
    value = json.loads(entry.read_bytes())
    value["policy"]["blocked"] = value["policy"]["blocked"][:1]

    entry.write_text(json.dumps(value), encoding="utf-8")

    assert count_blocked(settings) == 1


def test_only_the_policy_of_a_project_is_limited_as_a_checkout_is(settings: Settings) -> None:
    assert count_blocked(settings) == NUMBER

    policy = Path(settings.working_directory, "skills.policy.toml")
    policy.write_text(LARGE, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        load_scope_policies(find_scope(settings), settings)

    size = f"{len(LARGE):,} bytes of TOML; at most 400,000 are allowed"
    assert (caught.value.message, caught.value.where) == (size, str(policy))


@pytest.mark.parametrize(
    ("rules", "where", "message"),
    [
        (
            "[sources]\nallow = [" + '"github.com/a",' * 1_001 + "]",
            "sources.allow",
            "1,001 entries; at most 1,000 are allowed",
        ),
        (
            "[require.signers]\n" + "".join(f'"github.com/{n}" = "k"\n' for n in range(1_001)),
            "require.signers",
            "1,001 entries; at most 1,000 are allowed",
        ),
        (
            "".join(f'[[blocked]]\nname = "e*il-{n}"\nreason = "x"\n' for n in range(1_001)),
            "blocked",
            "1,001 patterns with wildcards in the middle; at most 1,000 are allowed",
        ),
    ],
)
def test_patterns_that_are_tried_one_by_one_are_limited(rules: str, where: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_policy(f"version = 1\n{rules}", "policy.toml")

    assert (caught.value.message, caught.value.where) == (message, f"policy.toml: {where}")
