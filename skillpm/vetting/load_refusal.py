"""Check the folder of a skill that is about to be loaded."""

from skillpm.core.shell import shell_word
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import Scope
from skillpm.settings import Settings
from skillpm.vetting.acceptance import PresentSkill
from skillpm.vetting.installed_check import find_refused
from skillpm.vetting.problems import refusal
from skillpm.vetting.validation_options import ValidationOptions


def refuse_content(scope: Scope, settings: Settings, skill: PresentSkill) -> None:
    """Raise `NotTrusted` if a rule refuses a skill as its files are now.

    What the lockfile says of it is proved by `sync`, with a network connection; here it must have been.
    """
    problems = find_refused(Project(scope, Session(settings=settings)), [skill], ValidationOptions(), may_fetch=False)
    if reasons := problems.get(skill.name):
        look = f"`skillpm audit {shell_word(skill.folder)}` shows what it contains"
        allow = f"{look}; to load it all the same, make an exception for {{}} in config.toml"
        shown = [each.replace(hint=allow.format(each.digest)) if each.kind == "audit" else each for each in reasons]
        raise refusal(shown, outcome="it was not loaded")
