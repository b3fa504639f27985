"""Every sentence of docs/reliability.md has a test, or a benchmark where it is a figure: this table says which."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SWEEP = "crash/test_kill_sweep.py::test_a_command_killed_at_any_change"
FLUSHED = "crash/test_flushing.py::test_everything_is_flushed_before"
CROWD = "crash/test_crowd.py::test_many_at_once"
FLIPPED = "crash/test_bit_flips.py::test_no_wrong_byte_is_installed"
EDITED = "commands/test_edited_skills.py::test_an_edited_skill_stops"
LOST = "commands/test_sync.py::test_sync_brings_back_whatever_was_lost"
DAMAGED = "fetchers/test_damaged_cache.py::test_whatever_is_damaged"
QUIET = "commands/test_quiet_sync.py::test_no_file_is_touched_and_nobody_is_asked"
FAULTS = "network/test_faults.py::test_a_fault_is_told_and_changes_nothing"
FLOODS = "network/test_floods.py::test_an_answer_without_an_end"
BESIDE = "crash/test_beside.py::test_no_install_fails_while_the_cache_is_emptied"
AFTER = "crash/test_after_a_crash.py::test_"
# How each sentence begins, and the tests of it.
TESTS = {
    "Everything needed is fetched, checked": [FLUSHED, EDITED],
    "What is already in the way is found here": [EDITED],
    "So is what the system will not let us move": [
        "crash/test_unmovable.py::test_a_skill_that_something_is_mounted_on"
    ],
    "`.skillpm/journal.json` is written": [FLUSHED],
    "Before this moment nothing visible": ["commands/test_interrupted.py::test_before_the_journal_nothing", SWEEP],
    "Where the system refuses the very first move": ["crash/test_refused_writes.py::test_a_change_whose_first_move"],
    "New folders take the place of old ones": [SWEEP],
    "Where a folder cannot be renamed": ["crash/test_unmovable.py"],
    "Old folders go to the trash": ["commands/test_edited_skills.py::test_force_sets_it_aside", SWEEP],
    "So are the copies of skills": [f"{AFTER}what_is_saved_in_a_copy", f"{AFTER}a_copy_that_left_its_place"],
    "They are looked at once more": [
        f"{AFTER}an_edit_becomes_a_backup",
        f"{AFTER}what_is_saved_while_a_folder_is_looked_at_once_more",
    ],
    "Links of agent hosts, and backups": [SWEEP],
    "A manifest or lockfile that a person": [f"{AFTER}a_manifest_that_was_edited_is_left"],
    "Of a migration, the flat files": ["crash/test_killed_migrating.py::test_an_edit_between_a_crash", SWEEP],
    "The journal goes, then the trash": [FLUSHED, SWEEP],
    "Each step can be done twice": [SWEEP],
    "Carrying out and recovering": [SWEEP],
    "[0004](adr/0004": ["test_docs.py::test_every_link_leads_somewhere"],
    "What a command says is no part": ["commands/test_unwritable_output.py"],
    "The next command that writes finishes": ["commands/test_interrupted.py::test_readers_see_a_whole_state", SWEEP],
    "Commands that read change nothing": ["commands/test_interrupted.py::test_readers_see_a_whole_state", SWEEP],
    "What in a replaced skill belongs to somebody else": ["crash/test_unmovable.py::test_what_a_container_left"],
    "If a staged folder is gone": [f"{AFTER}a_change_that_lacks_what_was_staged"],
    "Edits in folders that had left their place": [f"{AFTER}an_edit_that_left_its_place"],
    "What was killed before the journal": [SWEEP],
    "Also one that happens to have the number": [f"{AFTER}whoever_has_the_number_of_one_that_was_killed"],
    "For a power loss, files and folders": [FLUSHED],
    "`SKILLPM_FSYNC=0` switches that off": ["crash/test_flushing.py::test_nothing_is_flushed"],
    "Commands that have something to change hold": [
        f"{AFTER}whoever_waits_longer",
        "commands/test_bad_input.py::test_another_skillpm_that_works_here",
    ],
    "Documents are read again under the lock": ["crash/test_many_at_once.py::test_twelve_installs", CROWD],
    "Each cache repository has a lock": ["fetchers/test_network_faults.py::test_a_cache_in_use_is_waited_for", CROWD],
    "The locks are the system's": [f"{AFTER}a_lock_goes_with_its_process", CROWD],
    "An editor knows no lock": ["commands/test_concurrent_edits.py"],
    "Where `skills.json` or `skills.lock` was saved": ["commands/test_concurrent_edits.py"],
    "The same is asked once more": ["commands/test_concurrent_edits.py::test_a_manifest_saved_while_ours"],
    "Reading takes no lock": ["commands/test_inspect.py::test_reading_commands_take_no_lock", CROWD],
    "A `sync` with nothing to do finds": [QUIET, "commands/test_quiet_sync.py::test_there_is_no_child_process"],
    "A file counts as unchanged": [
        "commands/test_quiet_sync.py::test_the_files_of_skills_are_not_read",
        "commands/test_inspect.py::test_verify_sees_a_change_that_left_size_and_time",
    ],
    "`verify` reads everything": ["commands/test_inspect.py::test_verify_sees_a_change_that_left_size_and_time"],
    "`install`, `sync`, `update` and `uninstall` do": [SWEEP, "commands/test_sync.py::test_a_fetch_that_fails"],
    "One skill that cannot be fetched": ["commands/test_sync.py::test_a_fetch_that_fails", EDITED],
    "`--keep NAME` takes one": ["commands/test_edited_skills.py::test_keep_goes_on_without_it"],
    "What passes by itself is asked": ["network/test_faults.py::test_the_third_try_works", FAULTS],
    "A server that asks for a pause": [FAULTS],
    "One question takes": [FAULTS],
    "A pack that never ends": [FLOODS],
    "A skill of twenty thousand files": [
        "network/test_wide.py::test_a_skill_of_twenty_thousand_files",
        "network/test_wide.py::test_twenty_thousand_files_beside_a_skill",
    ],
    "An archive that unfolds": ["network/test_bombs.py::test_a_bomb_from_an_index"],
    "a disk, a quota": [
        "network/test_leftovers.py::test_a_disk_that_is_full_while_git_writes",
        "network/test_leftovers.py::test_a_size_that_no_file_may_exceed",
    ],
    "an entry of the store": ["fetchers/test_damaged_cache.py::test_a_damaged_store_entry_is_fetched_anew"],
    "a cache repository cannot be read": ["fetchers/test_damaged_cache.py::test_a_cache_that_cannot_be_read", DAMAGED],
    "the cache is emptied": [
        "commands/test_cache.py::test_a_repository_in_use_stays",
        "fetchers/test_emptied_cache.py::test_what_was_taken_out_of_the_store",
        BESIDE,
    ],
    "the cache is deleted": ["fetchers/test_emptied_cache.py::test_a_cache_that_is_deleted_in_the_midst"],
    "the cache cannot be written": ["commands/test_unprivileged.py::test_a_cache_that_cannot_be_written"],
    "git was killed": [
        "fetchers/test_damaged_cache.py::test_what_a_killed_git_left_behind",
        "network/test_leftovers.py::test_a_git_killed_while_a_pack_comes",
        "network/test_leftovers.py::test_a_git_killed_as_it_puts_a_file_in_place",
        "network/test_leftovers.py::test_a_lock_of_a_git_that_still_works",
        SWEEP,
    ],
    "what waits in staging has a wrong byte": ["commands/test_wrong_bytes.py::test_a_staged_skill_with_a_wrong_byte"],
    "the journal has a wrong byte": ["commands/test_wrong_bytes.py::test_a_journal_with_a_wrong_byte"],
    "the disk is full, at any moment": [
        "commands/test_full_disk.py::test_an_install_on_a_full_disk_is_whole_or_nothing"
    ],
    "the registry is wrong": [LOST, "commands/test_registry_build.py::test_a_deleted_registry"],
    "the stat cache is wrong": [LOST],
    "the receipt is gone": [LOST, "commands/test_edited_skills.py::test_a_fresh_clone_of_a_skill_that_was_edited"],
    "the receipt cannot be read": ["commands/test_bad_input.py::test_it_is_told_with_a_way_on"],
    "[`skillpm doctor`]": ["commands/test_doctor.py::test_what_can_be_repaired_is_named"],
    "Every command that changes something": [SWEEP],
    "Right then every skill": [SWEEP],
    "Then `sync` comes": [SWEEP],
    "There are some": [SWEEP],
    "The order of flushes is followed": [FLUSHED],
    "Flushing costs an install": ["bench/flushing.py", "commands/test_quiet_sync.py::test_there_is_no_child_process"],
    "Crowds of processes": [CROWD],
    "No command fails": [CROWD],
    "Installs also run beside": [BESIDE],
    "Each moment at which that": [
        "fetchers/test_emptied_cache.py::test_what_was_learnt_of_a_repository",
        "fetchers/test_emptied_cache.py::test_what_another_process_put_into_its_place",
        "fetchers/test_emptied_cache.py::test_what_goes_again_and_again",
        "fetchers/test_emptied_cache.py::test_the_folder_that_git_is_run_in",
        "commands/test_cache.py::test_a_repository_that_comes_while_the_cache_is_cleaned",
        "commands/test_cache.py::test_what_is_freed",
        "commands/test_cache.py::test_a_cache_that_is_being_made",
    ],
    "Installs run on disks that are filled": [
        "commands/test_full_disk.py::test_an_install_on_a_full_disk_is_whole_or_nothing",
        "crash/test_refused_writes.py::test_an_install_that_is_refused_a_change",
    ],
    "Where something had moved already": ["crash/test_refused_writes.py::test_an_install_that_is_refused_a_change"],
    "Single bytes are spoilt": [FLIPPED],
    "Each is detected, repaired": [FLIPPED],
    "Whatever reads a `SKILL.md`": ["skillmd/test_slow_input.py::test_a_file_made_to_take_long", "bench/corpus.py"],
    "A coverage-guided fuzzer": ["skillmd/test_autofix.py::test_mending_changes_nothing", "bench/fuzz.py"],
    "Its last run of ten minutes": ["bench/fuzz.py"],
}


def sentences(page: str) -> list[str]:
    """Give the sentences of a page and the rows of its tables, without headings and consoles."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", page, flags=re.DOTALL)
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=\d+\. |\| )", text)]
    found = []
    for block in blocks:
        if block.startswith("| "):
            found.append(block.strip("| "))
        elif block and not block.startswith(("#", "|---")):
            found += re.split(r"(?<=\.)\s+(?=[A-Z`\[])", re.sub(r"^\d+\. ", "", block))
    return [sentence.partition(" |---")[0] for sentence in found if not sentence.startswith("what | then")]


def test_every_sentence_has_a_test() -> None:
    said = sentences((ROOT / "docs/reliability.md").read_text())

    assert [line for line in said if not line.startswith(tuple(TESTS))] == []
    assert [start for start in TESTS if not any(line.startswith(start) for line in said)] == []


@pytest.mark.parametrize("named", sorted({name for names in TESTS.values() for name in names}))
def test_every_test_that_is_named_is_there(named: str) -> None:
    path, _, name = named.partition("::")
    file = ROOT / (path if path.startswith("bench/") else f"tests/{path}")

    assert f"def {name}" in file.read_text()
