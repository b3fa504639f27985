"""What of a list of skills reaches the model, as it was measured with the hosts (see `sources` in their profiles)."""

from skillpm.agent_hosts.profiles import load_profile
from skillpm.formats.host_profile import ListingBudget
from skillpm.operations.host_listing import apply_listing_budget


def shown(agent: str, *lengths: int) -> list[int]:
    budget = load_profile(agent).listing
    assert budget is not None
    skills = [(f"s{number:03}", "x" * length) for number, length in enumerate(lengths)]
    return [skill.shown for skill in apply_listing_budget(skills, budget)]


def test_claude_code_keeps_the_descriptions_that_fit() -> None:
    # Three of 900, one of 1,500 and ten of 200 characters, as sent to a recording server.
    assert shown("claude-code", *[900] * 3, 1500, *[200] * 10) == [*[900] * 3, 0, *[200] * 4, *[0] * 6]
    for count, whole in ((40, 11), (80, 10), (200, 7), (400, 3)):
        assert shown("claude-code", *[300] * count) == [*[300] * whole, *[0] * (count - whole)]
    assert shown("claude-code", 3000) == [1536]
    assert shown("claude-code") == []


def test_codex_shortens_all_alike() -> None:
    assert shown("codex", *[300] * 50) == [300] * 50
    many = shown("codex", *[300] * 300)
    assert len(set(many)) == 1
    assert 30 <= many[0] <= 40
    assert shown("codex", 10, *[300] * 300)[0] == 10


def test_names_are_never_dropped() -> None:
    tiny = ListingBudget(total=5)
    assert [skill.shown for skill in apply_listing_budget([("a", "xx"), ("b", "yy")], tiny)] == [0, 0]
