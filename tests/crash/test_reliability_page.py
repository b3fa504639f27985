"""Every sentence of docs/reliability.md has a test, or a benchmark where it is a measurement: this table says which.

Whether a sentence is true is for its test to say; what can be compared here is: figures, and the names of commands.
"""

import re

import pytest
from crash.stories import STORIES
from crash.test_kill_sweep import KILLS
from kit.page_sentences import find_missing_tests, find_unmatched, read_sentences

from skillpm.fetchers.common.retry import MAX_ATTEMPTS, RETRYABLE_STATUSES
from skillpm.fetchers.git.program.limits import memory_limit
from skillpm.settings import read_settings

SWEEP = "crash/test_kill_sweep.py::test_a_command_killed_at_any_change"
FLUSHED = "crash/test_flushing.py::test_everything_is_flushed_before"
CROWD = "crash/test_crowd.py::test_concurrent_commands"
FLIPPED = "crash/test_bit_flips.py::test_no_corrupt_byte_is_installed"
EDITED = "commands/test_edited_skills.py::test_an_edited_skill_stops"
LOST = "commands/test_sync.py::test_sync_brings_back_whatever_was_lost"
DAMAGED = "fetchers/test_damaged_cache.py::test_any_damage_is_repaired_by_the_next_install"
QUIET = "commands/test_quiet_sync.py::test_no_file_is_touched_and_no_request_is_made"
FAULTS = "network/test_faults.py::test_a_fault_is_an_error_and_changes_nothing"
FLOODS = "network/test_floods.py::test_an_endless_response_ends_at_the_limit"
BESIDE = "crash/test_beside.py::test_no_install_fails_while_the_cache_is_emptied"
WORKSPACES = "commands/test_workspaces.py::test_"
AFTER = "crash/test_after_a_crash.py::test_"
# How each sentence begins, and the tests of it.
TESTS = {
    "Everything that is needed is fetched": [FLUSHED, EDITED],
    "Conflicts with existing files are found here": [EDITED],
    "So are folders that the system will not let": ["crash/test_unmovable.py::test_a_mount_point_in_a_skill_stops"],
    "`.skillpm/journal.json` is written": [FLUSHED],
    "Before this moment nothing visible": ["commands/test_interrupted.py::test_before_the_journal_nothing", SWEEP],
    "If the system refuses the very first move": ["crash/test_refused_writes.py::test_a_change_whose_first_move"],
    "New folders take the place of old ones": [SWEEP],
    "If a directory cannot be renamed": [
        "crash/test_unmovable.py::test_a_skill_from_a_container_image",
        "crash/test_unmovable.py::test_a_skill_that_was_made_read_only",
    ],
    "Old folders go to the trash": ["commands/test_edited_skills.py::test_force_backs_it_up", SWEEP],
    "Copies of skills in agents' folders": [f"{AFTER}an_edit_saved_in_a_copy", f"{AFTER}a_copy_moved_away"],
    "They are checked once more": [
        f"{AFTER}an_edit_becomes_a_backup",
        f"{AFTER}an_edit_saved_during_the_final_check",
    ],
    "Links of agent hosts, and backups": [SWEEP],
    "A manifest or lockfile that was changed": [f"{AFTER}a_manifest_that_was_edited_is_left"],
    "After a migration, the flat files": ["crash/test_killed_migrating.py::test_an_edit_between_a_crash", SWEEP],
    "The journal is removed, then the trash": [FLUSHED, SWEEP],
    "Every step can be repeated": [SWEEP],
    "Executing a change and recovering": [SWEEP],
    "[ADR 4](adr/0004": ["test_docs.py::test_every_link_has_a_target"],
    "Output is not part of a change": [
        "commands/test_unwritable_output.py::test_a_change_is_completed_if_its_warnings_cannot_be_written"
    ],
    "The next command that writes finishes": ["commands/test_interrupted.py::test_readers_see_a_whole_state", SWEEP],
    "Commands that read change nothing": ["commands/test_interrupted.py::test_readers_see_a_whole_state", SWEEP],
    "Files skillpm may not delete": ["crash/test_unmovable.py::test_root_owned_files_from_a_container"],
    "A journal counts only in the folder": [f"{AFTER}the_journal_of_a_checkout_is_never_executed"],
    "If a skills directory was copied or restored": [f"{AFTER}a_copy_of_an_interrupted_directory_continues"],
    "The same applies to a journal that came": [f"{AFTER}the_journal_of_a_checkout_is_never_executed"],
    "Under `--frozen` and `--locked`, a change": [f"{AFTER}an_interrupted_change_that_has_to_write_the_manifest"],
    "If a staged folder is missing": [f"{AFTER}a_change_without_its_staged_folder"],
    "Edits in folders that had been moved away": [f"{AFTER}an_edit_moved_away"],
    "A command that was killed before the journal": [SWEEP],
    "This works also if the next command": [f"{AFTER}a_process_with_the_pid_of_a_killed_one"],
    "To survive a power loss": [FLUSHED],
    "`SKILLPM_FSYNC=0` turns that off": ["crash/test_flushing.py::test_nothing_is_flushed"],
    "Commands that have something to change hold": [
        f"{AFTER}waiting_longer_than_a_second",
        "commands/test_bad_input.py::test_a_locked_skills_directory_is_reported",
    ],
    "Documents are read again under the lock": ["crash/test_many_at_once.py::test_twelve_installs", CROWD],
    "Each cache repository has a lock": ["fetchers/test_network_faults.py::test_a_locked_cache_is_waited_for", CROWD],
    "The operating system releases the locks": [f"{AFTER}a_lock_is_released", CROWD],
    "At the root of a [workspace]": [f"{WORKSPACES}a_blocked_skill_of_a_member_stops"],
    "Then the lockfile is written, and each skills directory": [f"{WORKSPACES}a_member_that_fails_is_named"],
    "If that fails for one of them": [f"{WORKSPACES}a_member_that_fails_is_named"],
    "An editor takes no lock": ["commands/test_concurrent_edits.py::test_a_commands_edits_are_merged"],
    "If `skills.json` or `skills.lock` was saved": [
        "commands/test_concurrent_edits.py::test_a_manifest_saved_while_an_update",
        "commands/test_concurrent_edits.py::test_a_lockfile_replaced_by_a_checkout",
        "commands/test_concurrent_edits.py::test_a_manifest_that_is_saved_again_and_again",
    ],
    "The same check is repeated": ["commands/test_concurrent_edits.py::test_a_manifest_saved_while_ours"],
    "Readers take no locks": ["commands/test_inspect.py::test_reading_commands_take_no_lock", CROWD],
    "A `sync` with nothing to do determines": [QUIET, "commands/test_quiet_sync.py::test_there_is_no_child_process"],
    "A file counts as unchanged": [
        "commands/test_quiet_sync.py::test_the_files_of_skills_are_not_read",
        "commands/test_inspect.py::test_verify_detects_a_change_with_the_same_size_and_time",
    ],
    "`verify` always reads everything": [
        "commands/test_inspect.py::test_verify_detects_a_change_with_the_same_size_and_time"
    ],
    "`install`, `sync`, `update` and `uninstall` do": [SWEEP, "commands/test_sync.py::test_a_fetch_that_fails"],
    "One skill that cannot be fetched": ["commands/test_sync.py::test_a_fetch_that_fails", EDITED],
    "`--keep NAME` excludes one": ["commands/test_edited_skills.py::test_keep_leaves_it_as_it_is"],
    "`update` and `lock --upgrade` make one": [
        "commands/test_vanished_skills.py::test_the_others_are_updated",
        "commands/test_vanished_skills.py::test_lock_and_json_say_the_same",
        "commands/test_vanished_skills.py::test_a_skill_that_cannot_be_loaded_any_more",
    ],
    "The error names it, and where": ["commands/test_vanished_skills.py::test_the_others_are_updated"],
    "Transient failures are tried": ["network/test_faults.py::test_the_third_attempt_succeeds", FAULTS],
    "A server that asks for a pause": [FAULTS],
    "One request takes at most": [FAULTS],
    "A pack that never ends": [FLOODS],
    "A skill of twenty thousand files": [
        "network/test_wide.py::test_a_skill_of_twenty_thousand_files",
        "network/test_wide.py::test_twenty_thousand_files_beside_a_skill",
    ],
    "An archive that unpacks": ["network/test_bombs.py::test_a_bomb_from_an_index"],
    "A disk, a quota": [
        "network/test_leftovers.py::test_the_disk_is_full_while_a_pack_arrives",
        "network/test_leftovers.py::test_the_file_size_limit_is_reached",
    ],
    "An entry of the store": ["fetchers/test_damaged_cache.py::test_a_damaged_store_entry_is_fetched_again"],
    "Any file of the cache is cut off": ["fetchers/test_cache_faults.py::test_every_fault_is_healed_or_named"],
    "A cache repository cannot be read": [
        "fetchers/test_damaged_cache.py::test_an_unreadable_cache_is_fetched_again_with_a_warning",
        DAMAGED,
    ],
    "The cache is emptied": [
        "commands/test_cache.py::test_a_repository_in_use_stays",
        "fetchers/test_emptied_cache.py::test_content_removed_before_it_is_read_is_fetched_again",
        BESIDE,
    ],
    "The cache is deleted": ["fetchers/test_emptied_cache.py::test_a_cache_deleted_during_a_fetch_is_created_again"],
    "The cache cannot be written": ["commands/test_unprivileged.py::test_an_unwritable_cache"],
    "git was killed": [
        "fetchers/test_damaged_cache.py::test_leftovers_of_a_killed_git_are_removed",
        "network/test_leftovers.py::test_a_git_killed_while_receiving_a_pack_blocks_nothing",
        "network/test_leftovers.py::test_a_git_killed_while_renaming_a_file_blocks_nothing",
        "network/test_leftovers.py::test_the_lock_of_a_running_git_of_another_skillpm_is_kept",
        SWEEP,
    ],
    "A staged file has a wrong byte": ["commands/test_wrong_bytes.py::test_a_staged_skill_with_a_wrong_byte"],
    "The journal has a wrong byte": ["commands/test_wrong_bytes.py::test_a_journal_with_a_wrong_byte"],
    "The disk is full, at any moment": [
        "commands/test_full_disk.py::test_an_install_on_a_full_disk_is_whole_or_nothing"
    ],
    "The registry is wrong": [LOST, "commands/test_registry_build.py::test_a_deleted_registry_is_rebuilt"],
    "The stat cache is wrong": [LOST],
    "The receipt is missing": [LOST, "commands/test_edited_skills.py::test_a_fresh_clone_of_a_skill_that_was_edited"],
    "The receipt cannot be read": ["commands/test_bad_input.py::test_the_error_is_complete_and_nothing_is_changed"],
    "[`skillpm doctor`]": ["commands/test_doctor.py::test_fix_reports_and_repairs_the_damage"],
    "Each of these commands is run": [SWEEP],
    "At that moment, each skill": [SWEEP],
    "Then `sync` produces": [SWEEP],
    "There are some": [SWEEP],
    "The order of flushes is checked": [FLUSHED],
    "A `sync` with nothing to do flushes nothing": [
        "bench/flushing.py",
        "commands/test_quiet_sync.py::test_there_is_no_child_process",
    ],
    "Many processes install": [CROWD],
    "No command fails": [CROWD],
    "Installs also run next to": [
        BESIDE,
        "commands/test_full_disk.py::test_an_install_on_a_full_disk_is_whole_or_nothing",
        "crash/test_refused_writes.py::test_an_install_that_is_refused_a_change",
        FLIPPED,
    ],
    "The reader of `SKILL.md` is fuzzed": ["skillmd/test_slow_input.py::test_a_malicious_file_is_parsed_quickly"],
}


# The figures of sentences, as the code and the tests have them: 20 and 1,000 are written as figures, others as words.
WORDS = {3: "three", 8: "eight", 11: "eleven", 12: "twelve", 20: "twenty", 30: "thirty"}
SETTINGS = read_settings({"HOME": "/home/ada"})
FIGURES: dict[str, list[float]] = {
    "Commands that have something to change hold": [SETTINGS.lock_timeout],
    "Transient failures are tried": [MAX_ATTEMPTS, *(RETRYABLE_STATUSES - {502, 503})],
    "One request takes at most": [SETTINGS.network_timeout, SETTINGS.idle_timeout],
    "A pack that never ends": [memory_limit(0) / 1_000_000],
    "There are some": [int(KILLS)],
}


def page_sentences() -> list[str]:
    return read_sentences("docs/reliability.md")


def test_every_sentence_has_a_test() -> None:
    assert find_unmatched(page_sentences(), TESTS) == ([], [])


@pytest.mark.parametrize("start", FIGURES)
def test_figures_are_those_of_the_code(start: str) -> None:
    (sentence,) = [line for line in page_sentences() if line.startswith(start)]
    found = {word.replace(",", "") for word in re.findall(r"[\w,]*\w", sentence)}

    assert [figure for figure in FIGURES[start] if not {f"{figure:g}", WORDS.get(int(figure))} & found] == []


def test_the_commands_that_are_killed_are_the_ones_that_are_named() -> None:
    (sentence,) = [line for line in page_sentences() if line.startswith("Each of these commands is run")]
    groups = {"backup", "cache", "config", "index", "registry"}
    killed = {" ".join(story.words[: 2 if story.words[0] in groups else 1]) for story in STORIES.values()}

    assert {code.partition(" --")[0] for code in re.findall(r"`([^`]+)`", sentence)} == killed


def test_every_named_test_exists() -> None:
    assert find_missing_tests({name for names in TESTS.values() for name in names}) == []
