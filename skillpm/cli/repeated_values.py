"""Options that take several values, as other tools read them: `--agent claude-code codex`."""

from collections.abc import Iterator, Sequence

import click

from skillpm.core.names import is_skill_name

AGENT_OPTIONS, SKILL_OPTIONS = ("-a", "--agent"), ("-s", "--skill")


class RepeatedValues(click.Command):
    """A command whose `--agent` and `--skill` take all agent IDs and skill names that follow."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its values, which is what click can parse."""
        return super().parse_args(ctx, [*_repeat_options(args)])


def split_values(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of an option without duplicates; one value may be several, separated by commas."""
    return tuple(dict.fromkeys(part for value in values for part in value.split(",") if part))


def _repeat_options(words: Sequence[str]) -> Iterator[str]:
    option, is_value = "", False
    for index, word in enumerate(words):
        if word == "--":
            yield from words[index:]
            return
        if is_value:
            is_value = False
        elif word in {*AGENT_OPTIONS, *SKILL_OPTIONS}:
            option, is_value = word, True
        elif option and _can_be_value(option, word):
            yield option
        else:
            option = ""
        yield word


def _can_be_value(option: str, word: str) -> bool:
    """Return whether a word is a value of an option and not a SPEC: no SPEC with several skills is a plain name."""
    if option in SKILL_OPTIONS:
        return is_skill_name(word)
    from skillpm.agent_hosts.known_agents import load_agents  # noqa: PLC0415  (only after --agent)

    return word in load_agents()
