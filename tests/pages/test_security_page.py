"""Every sentence of docs/security.md that promises something has tests, named in this table.

Whether a sentence is true is for its tests to say. Left out are the sections that promise nothing: what is protected,
against whom, and how to report a vulnerability.
"""

from kit.page_sentences import find_missing_tests, find_unmatched, read_sentences

SECTIONS = [
    "What is proved",
    "What is not proved",
    "Validation",
    "Limits",
    "What is never executed",
    "Folders that a host starts",
    "How git is run",
    "Network",
    "Credentials",
    "Untrusted text",
    "A hostile checkout",
    "What is served to an agent",
]
PROOF = "fetchers/test_tree_proof.py::test_"
AFTER = "crash/test_after_a_crash.py::test_"
SYNC = "commands/test_sync.py::test_"
CLIENT = "indexes/test_index_client.py::test_"
LOST = "indexes/test_lost_releases.py::test_"
TREES = "core/test_tree_checks.py::test_"
HOSTILE_TREES = "fetchers/test_hostile_trees.py::test_"
SIZES = "fetchers/test_hostile_sizes.py::test_"
FOLDERS = "fetchers/test_local_folders.py::test_"
PYTHON = "fetchers/test_python_packages.py::test_"
NPM = "fetchers/test_node_packages.py::test_"
BYTES = "fetchers/test_installed_bytes.py::test_"
ARCHIVES = "fetchers/test_archives.py::test_"
GIT = "fetchers/test_git_environment.py::test_"
URLS = "fetchers/test_git_urls.py::test_"
LARGE = "network/test_large_documents.py::test_"
SERVERS = "fetchers/test_unnamed_servers.py::test_"
REDIRECTS = "fetchers/test_git_redirects.py::test_"
BRANCHES = "fetchers/test_branch_proof.py::test_"
CREDENTIALS = "fetchers/test_credentials.py::test_"
TOKENS = "fetchers/test_tokens_over_https.py::test_"
DAMAGED = "fetchers/test_damaged_cache.py::test_"
LINKS = "commands/test_escaping_links.py::test_"
DOCUMENTS = "commands/test_hostile_documents.py::test_"
TEXT = "commands/test_hostile_text.py::test_"
MANIFESTS = "commands/test_host_manifests.py::test_"
SERVED = "serving/test_hostile_skills.py::test_"
ONLY_GIT = "fetchers/test_only_git_children.py::test_only_git_is_run"
QUIET = "commands/test_quiet_sync.py::test_"
PAGE = "indexes/test_hostile_page.py::test_"
LIMITS = "core/test_tree_checks.py::test_the_limits_are_the_documented_ones"
# How each sentence begins, and the tests of it.
TESTS = {
    # What is proved
    "The lockfile's sources": [
        f"{SYNC}a_frozen_lockfile_may_bring_nothing",
        "commands/test_lock.py::test_a_frozen_lockfile_with_another_ref",
        f"{CLIENT}a_locked_url_that_the_index_does_not_list",
        "indexes/test_resolving.py::test_a_dependency_that_was_added_to_the_lockfile",
    ],
    "A git skill is what its commit": [f"{PROOF}content_of_another_commit", f"{PROOF}a_commit_or_path_that_does_not"],
    "A skill that a repository gets": ["commands/test_include.py::test_a_new_skill_takes_no_name"],
    "What `load SPEC` unpacked in the cache": [
        "commands/test_load_spec.py::test_what_was_changed_in_the_cache_is_corrected",
        "installer/test_unpacked.py::test_a_link_in_a_cache_leads_to_no_folder",
    ],
    "An archive is the one of its URL": [
        "forgery/test_locked_archives.py::test_an_archive_of_another_index",
        "forgery/test_locked_archives.py::test_an_archive_of_another_url",
    ],
    "`rev` in the manifest": ["commands/test_lock.py::test_a_frozen_lockfile_with_another_ref"],
    "A tag or range still leads": ["commands/test_update.py::test_a_tag_that_moved_changes_nothing_for_sync"],
    "The branch that a skill follows": [f"{BRANCHES}a_commit_is_on_the_branch", f"{BRANCHES}update_is_the_way_out"],
    "A file of an index or a URL": [
        f"{CLIENT}an_archive_with_another_checksum",
        "fetchers/test_http_client.py::test_a_changed_file_at_the_locked_url",
        "indexes/test_tampering.py::test_archives_with_a_changed_byte",
    ],
    "The content is the locked one": [
        "commands/test_bad_input.py::test_one_wrong_character_of_a_digest",
        "test_store.py::test_any_wrong_byte_is_detected",
        "commands/test_wrong_bytes.py::test_a_staged_skill_with_a_wrong_byte",
    ],
    "What is installed is what was installed": [
        "commands/test_inspect.py::test_verify_detects_a_change_with_the_same_size_and_time",
        f"{QUIET}the_files_of_skills_are_not_read",
    ],
    "A locked version is that": [
        "forgery/test_locked_archives.py::test_a_version_that_the_content_does_not_have",
        "forgery/test_locked_archives.py::test_an_archive_of_another_index",
    ],
    "A receipt's source and version": [
        "forgery/test_receipt_claims.py::test_a_version_or_source_that_is_not_the_locked_one",
        "forgery/test_receipt_claims.py::test_a_skill_that_is_not_locked",
    ],
    "A skill of a Python package is what": [
        f"{PYTHON}a_file_that_is_not_the_recorded_one",
        f"{PYTHON}files_that_are_not_recorded",
    ],
    "The receipt is honest": ["formats/test_receipt.py::test_an_entry_that_does_not_add_up"],
    "The journal is this machine's": [f"{AFTER}the_journal_of_a_checkout_is_never_executed"],
    "The first install of a skill trusts": [
        "commands/test_install_from_git.py::test_one_skill_of_a_repository_is_locked"
    ],
    "The proof of a tree costs": [
        "fetchers/test_fetch_strategies.py::test_a_locked_install_takes_three_requests",
        f"{PROOF}what_was_proved_once",
    ],
    "With `--offline` and without": [f"{PROOF}content_of_another_commit"],
    "An update never takes a skill": [
        f"{LOST}update_keeps_a_skill",
        f"{LOST}a_new_range_does_not_lead",
        f"{LOST}update_never_goes_back",
    ],
    "To allow it, name": [f"{LOST}naming_the_index", f"{LOST}an_index_that_was_removed"],
    "In CI (`CI` is set)": [f"{SYNC}ci_is_strict_only", f"{SYNC}ci_without_a_project"],
    "Under `--frozen` and `--locked`, manifest": [f"{AFTER}an_interrupted_change_that_has_to_write_the_manifest"],
    # Validation
    "Files from git and from folders": [f"{TREES}an_unsafe_path", f"{HOSTILE_TREES}a_dangerous_name"],
    "Only then are they written": ["crash/test_kill_sweep.py::test_a_command_killed"],
    "A skill is refused if it has": [f"{HOSTILE_TREES}a_dangerous_name"],
    "paths that are absolute": ["core/test_names.py::test_an_unsafe_path", f"{SIZES}folders_nested_too_deeply"],
    "names that Windows reserves": ["core/test_names.py::test_an_unsafe_path"],
    "two names that are the same": [
        f"{HOSTILE_TREES}names_that_collide",
        f"{HOSTILE_TREES}folders_that_collide",
        f"{HOSTILE_TREES}a_file_and_a_folder_with_the_same_name",
    ],
    "links that lead to nothing or out of the skill": [
        f"{HOSTILE_TREES}a_link_that_leaves",
        f"{TREES}any_other_link",
        "fetchers/test_outside_links.py::test_a_link_that_cannot_be_copied_is_refused",
    ],
    "Any other link becomes": [
        f"{BYTES}links_within_the_skill",
        f"{FOLDERS}links_inside_become_copies",
        "fetchers/test_outside_links.py::test_the_targets_are_copied_and_locked",
    ],
    "devices, pipes": [f"{FOLDERS}a_pipe_and_a_socket", "fetchers/test_odd_proxies.py::test_a_socket_in_a_skill"],
    "no `SKILL.md`": [f"{TREES}a_skill_has_a_skill_file", f"{HOSTILE_TREES}a_skill_file_that_is_a_folder"],
    "more than the limits": [f"{TREES}every_limit_is_reported"],
    "Of an installed package, nothing outside": [
        f"{PYTHON}a_folder_that_is_a_link_to_outside",
        f"{NPM}a_folder_that_is_a_link_to_outside",
    ],
    "A path in RECORD that leads out": [
        f"{PYTHON}a_recorded_path_outside_of_site_packages",
        f"{PYTHON}a_file_that_is_a_link",
        f"{NPM}a_package_that_is_a_link_to_outside",
    ],
    "A manifest may name installed packages": [f"{PYTHON}a_skill_may_not_require_an_installed_package"],
    "The rules are the same": [f"{TREES}colliding_names_are_rejected_on_every_platform"],
    "Files get mode 0644": [f"{HOSTILE_TREES}unusual_modes"],
    "Submodules are left out": [f"{BYTES}a_submodule_is_left_out"],
    # Limits
    "They are chosen so that [reading a document": [
        "commands/test_document_costs.py::test_no_document_of_a_checkout_takes_long"
    ],
    "What exceeds a limit is": ["commands/test_document_costs.py::test_an_error_names_the_file"],
    "`skills.json` |": [
        "pages/test_limits_table.py::test_",
        "formats/test_manifest.py::test_a_manifest_beyond_a_limit",
    ],
    "One configuration of an agent": [
        "pages/test_limits_table.py::test_",
        "serving/test_host_rules.py::test_a_large_configuration",
    ],
    "Skills in a lockfile or": [
        "pages/test_limits_table.py::test_",
        "formats/test_manifest.py::test_more_locked_skills",
    ],
    "One TOML document |": ["pages/test_limits_table.py::test_", "core/test_toml_limits.py::test_a_document_beyond"],
    "One policy of the machine": [
        "pages/test_limits_table.py::test_",
        "policy/test_large_policies.py::test_only_the_policy_of_a_project",
    ],
    "Patterns in a list of places": [
        "pages/test_limits_table.py::test_",
        "policy/test_large_policies.py::test_patterns_that_are_tried",
    ],
    "Patterns of names in": [
        "pages/test_limits_table.py::test_",
        "core/test_name_patterns.py::test_too_many_patterns",
        "serving/test_permissions.py::test_more_rules_than",
    ],
    "One file |": [LIMITS, f"{SIZES}a_file_over_the_limit"],
    "A skill |": [LIMITS, f"{SIZES}many_files_that_exceed"],
    "Files of a skill |": [LIMITS, f"{SIZES}six_thousand_files"],
    "Skills that one SPEC adds": ["commands/test_many_skills.py::test_more_skills_than_the_limit"],
    "Dependencies of a skill;": [
        "resolver/test_dependency_limits.py::test_a_longer_chain",
        "resolver/test_dependency_limits.py::test_more_dependencies_are_refused",
        "indexes/test_endless_indexes.py::test_a_skill_that_requires_the_next",
    ],
    "One fetch |": ["network/test_floods.py::test_an_endless_response"],
    "Directory of a `.zip`": ["network/test_bombs.py::test_a_bomb_from_an_index"],
    "One document of an index |": ["network/test_bombs.py::test_a_bomb_from_an_index"],
    "Versions that indexes list": ["indexes/test_endless_indexes.py::test_many_skills_with_many_versions"],
    "One document of a project": [f"{LARGE}a_document_of_gigabytes"],
    "One JSON document": [f"{LARGE}a_document_of_millions", f"{LARGE}an_index_of_millions"],
    "One message to the MCP server": [f"{LARGE}a_long_message"],
    "Lines that `diff` compares": ["commands/test_diff_of_edits.py::test_files_of_too_many_lines"],
    "The catalog of an index": ["formats/test_searched_catalog.py::test_a_malicious_large_catalog"],
    "Time of one request": ["network/test_faults.py::test_a_fault_is_an_error"],
    "Idle timeout": ["network/test_faults.py::test_a_fault_is_an_error"],
    "Path in a skill |": ["core/test_names.py::test_an_unsafe_path", f"{SIZES}folders_nested_too_deeply"],
    "`SKILL.md`, its frontmatter": [f"{SIZES}a_large_skill_file", "skillmd/test_slow_input.py::test_a_malicious_file"],
    "Depth of YAML": ["skillmd/test_frontmatter.py::test_depth_aliases_and_tags"],
    # What is never executed
    "Nothing that comes with a skill": [ONLY_GIT],
    "An installed package is read": [f"{PYTHON}nothing_of_the_package_runs"],
    "The only programs": [ONLY_GIT, f"{URLS}the_users_ssh_command"],
    "No project can name one": ["commands/test_audit_scanners.py::test_a_manifest_cannot_name_a_command"],
    "The commands and MCP servers": [f"{SERVED}no_command_executes"],
    # Folders that a host starts
    "A skill is files that an agent reads, but": ["bench/host_starts.py::main"],
    "New content with the manifest of a host": [
        f"{MANIFESTS}a_folder_with_a_manifest_is_refused",
        f"{MANIFESTS}new_content_is_refused",
        f"{MANIFESTS}what_a_lockfile_names_is_refused",
    ],
    "Names are compared as file systems do": [
        "skillmd/test_host_manifest_names.py::test_a_name_that_some_file_system_takes",
    ],
    "`--allow host-manifest` and exceptions lift": [
        f"{MANIFESTS}an_update_that_brings_a_manifest_is_refused",
        f"{MANIFESTS}an_exception_is_for_one_content",
        f"{MANIFESTS}a_policy_makes_the_rule_final",
    ],
    "A folder in a skills directory that has one": [f"{MANIFESTS}a_folder_with_a_manifest_is_not_linked"],
    "An update that brings a manifest counts": [f"{MANIFESTS}an_update_that_brings_a_manifest_may_do_more"],
    "`audit`, `validate`, `pack`, `index build`": [f"{MANIFESTS}authors_learn_of_it"],
    "`discover` and `doctor` name the folders": [
        f"{MANIFESTS}discover_names",
        f"{MANIFESTS}doctor_names",
    ],
    # How git is run
    "All calls go through one module": ["test_architecture.py::test_imports_only_go_downwards"],
    "Arguments are a list": [f"{URLS}an_invalid_url_is_never_passed", "fetchers/test_refs.py::test_an_invalid_ref"],
    "URLs, refs, commits": ["core/test_git_syntax.py::test_names_that_git_reads_differently"],
    "Nothing is checked out": ["fetchers/test_file_urls.py::test_the_configuration_of_a_local_repository"],
    "Objects are read": [f"{BYTES}bytes_and_executable_bits", f"{DAMAGED}any_damage_is_repaired"],
    "Attributes, filters": [f"{BYTES}bytes_and_executable_bits", ONLY_GIT],
    "The environment is built": [f"{GIT}variables_that_point_git_somewhere"],
    "System and global configuration": [f"{GIT}the_users_configuration_applies", f"{CREDENTIALS}a_token_is_passed"],
    "`https`, `ssh`, `file`": [
        f"{URLS}an_invalid_url_is_never_passed",
        f"{URLS}plain_http_is_refused",
        f"{URLS}an_insteadof_to_a_transport_helper",
        f"{URLS}a_redirect_to_another_scheme",
    ],
    "Submodules are never followed": [f"{HOSTILE_TREES}a_submodule_instead_of_the_skill"],
    "Local reads by git": ["fetchers/test_file_urls.py::test_the_configuration_of_a_local_repository"],
    "Each call has a deadline": ["fetchers/test_interrupted_fetch.py::test_an_interrupt_ends_all_processes"],
    "Incoming data is monitored": [f"{SIZES}a_server_that_sends_more"],
    "It runs in an empty folder": [f"{GIT}a_program_called_git_in_the_project"],
    "A cache repository that is a link": [f"{DAMAGED}a_cache_of_another_user", f"{DAMAGED}injected_configuration"],
    # Network
    "You may name any server": [
        f"{SERVERS}a_dependency_on_a_server_that_the_manifest_names",
        f"{SERVERS}a_dependency_on_a_server_that_the_command_line_names",
        f"{SERVERS}a_dependency_on_a_server_that_insteadof_names",
    ],
    "A lockfile names none": [
        f"{SERVERS}a_locked_dependency_is_fetched_only",
        "commands/test_diff_locked.py::test_a_lockfile_of_a_stranger_makes_skillpm_contact_nobody",
    ],
    "What others wrote": [
        f"{SERVERS}a_dependency_in_the_local_network",
        "network/test_redirects.py::test_a_public_host_must_not_redirect",
    ],
    "Loopback, private": [
        f"{SERVERS}a_dependency_in_the_local_network",
        f"{SERVERS}a_dependency_at_a_name",
        "fetchers/test_private_addresses.py::test_an_address_of_a_local_network",
    ],
    "Naming a server": [f"{SERVERS}another_port_is_another_server"],
    "Over ssh, which": [f"{SERVERS}a_dependency_over_ssh_is_refused"],
    "A name is resolved once": [
        "fetchers/test_resolved_once.py::test_a_name_is_resolved_once",
        "fetchers/test_resolved_once.py::test_a_second_answer_of_dns",
        "fetchers/test_resolved_once.py::test_an_archive_of_an_index",
    ],
    "git follows no redirect": [
        f"{REDIRECTS}a_public_server_must_not_redirect_git",
        f"{REDIRECTS}each_redirect_is_checked",
        f"{REDIRECTS}a_redirect_of_a_later_request",
    ],
    "A redirect never changes": [
        f"{URLS}a_redirect_to_another_scheme",
        "fetchers/test_http_client.py::test_a_redirect_from_https_to_http",
    ],
    "Through a proxy": [f"{SERVERS}a_proxy_is_not_asked", f"{SERVERS}through_a_proxy_a_name_need_not"],
    # Credentials
    "Credentials are never written down": [
        "fetchers/test_private_sources.py::test_no_secret_is_in_a_command_line",
        f"{CREDENTIALS}an_insteadof_with_a_token",
    ],
    "User info is removed": [
        f"{CREDENTIALS}credentials_in_a_url",
        "core/test_git_syntax.py::test_a_credential_in_a_query",
        "core/test_text.py::test_credentials_in_urls",
    ],
    "In an address that is mistyped": [
        "commands/test_mistyped_addresses.py::test_a_mistyped_address_shows",
        "commands/test_mistyped_addresses.py::test_a_mistyped_address_in_a_manifest",
        "core/test_text.py::test_credentials_in_urls",
    ],
    "Use a credential helper": [f"{TOKENS}another_host_never_sees", f"{CREDENTIALS}a_configured_login_takes"],
    "`GITHUB_TOKEN` is for the server": [
        f"{TOKENS}a_token_of_another_forge",
        f"{CREDENTIALS}a_token_is_sent_to_its_host",
    ],
    "`GIT_ASKPASS` is run only": [f"{TOKENS}askpass_is_used_only", f"{TOKENS}askpass_is_not_asked"],
    "To find out whether": [f"{TOKENS}looking_for_a_repository"],
    "A registry on this machine": ["oci/test_logins.py::test_the_login_for_a_registry_on_this_machine"],
    "[No variable is that of two hosts]": [
        "oci/test_login_variables.py::test_ten_thousand_pairs",
        "oci/test_login_variables.py::test_a_password_does_not_go_to_a_host",
    ],
    "The login for an OCI registry": [
        "oci/test_logins.py::test_blobs_on_another_server_cost",
        "oci/test_logins.py::test_a_step_down_to_plain_http",
        "oci/test_pushing.py::test_uploads_on_another_server_get_no_login",
    ],
    "For an index, use": [f"{CLIENT}a_token_is_sent_to_its_index_only"],
    "It is sent to the index's own": [
        "indexes/test_index_tokens.py::test_a_redirect_of_an_index",
        f"{CLIENT}an_index_that_only_the_manifest_declares",
    ],
    # Untrusted text
    "Names, descriptions": [f"{TEXT}a_terminal_sees_only_letters", f"{TEXT}what_a_repository_says"],
    "In `diff` and in JSON": [f"{TEXT}a_terminal_sees_only_letters"],
    "Invisible are all": ["core/test_text.py::test_all_characters_that_unicode_ignores"],
    "What a model gets": [f"{SERVED}characters_visible_only_to_models"],
    "`validate` reports": ["skillmd/test_hidden_text.py::test_hidden_characters"],
    "In `catalog.html`": [f"{PAGE}content_that_no_build_would_accept", f"{PAGE}the_page_is_safe_even"],
    "In addition, a Content": ["indexes/test_page.py::test_the_csp_allows", f"{PAGE}a_published_malicious_skill"],
    # A hostile checkout
    "A repository can contain": [f"{AFTER}the_journal_of_a_checkout_is_never_executed"],
    "Nothing in its `.skillpm`": [
        f"{LINKS}no_reader_trusts_a_committed_receipt",
        f"{AFTER}readers_do_not_see_what_the_journal",
    ],
    "A journal is bound": [f"{AFTER}the_journal_of_a_checkout_is_never_executed"],
    "Any other is ignored": [
        f"{AFTER}readers_do_not_see_what_the_journal",
        f"{AFTER}a_copy_of_an_interrupted_directory",
    ],
    "Even a genuine one": [f"{AFTER}an_interrupted_change_that_has_to_write_the_manifest"],
    "An entry of the receipt": ["formats/test_receipt.py::test_an_entry_that_does_not_add_up"],
    "The stat cache counts": ["commands/test_inspect.py::test_verify_detects_a_change_with_the_same_size_and_time"],
    "The journal names skills": [f"{AFTER}a_journal_names_backups_and_never_paths"],
    "`.agent-skills`, its inner": [
        f"{DOCUMENTS}a_document_that_leads_out",
        f"{AFTER}a_link_in_a_checkout_leads_no_journal",
        "commands/test_agent_links.py::test_a_skills_directory_that_leads_out",
        "commands/test_agent_links.py::test_a_linked_folder_that_was_led_out",
    ],
    "Documents inside": [f"{DOCUMENTS}nothing_is_ever_written_through_a_link"],
    "Files that are not regular": [f"{DOCUMENTS}special_files_neither_block"],
    "When something is removed": ["commands/test_uninstall.py::test_links_are_removed_and_never_followed"],
    "Another user who may write": ["races/test_swapped_folders.py::test_nothing_outside_changes"],
    "So a command opens": [
        "races/test_one_component.py::test_in_a_project",
        "races/test_one_component.py::test_in_user_scope_with_linked_folders",
    ],
    "A folder that becomes a link": [
        "races/test_swapped_folders.py::test_nothing_outside_changes",
        "test_directories.py::test_nothing_is_copied_from_a_folder_that_became_a_link",
    ],
    "Windows has no system calls": ["races/test_swapped_folders.py::test_without_descriptors_commands_work_by_path"],
    "The cache is outside": ["test_directories.py::test_what_is_exempt_or_not_below_a_held_folder"],
    "A skill in a project whose folder": [
        f"{LINKS}a_clone_cannot_have_files_of_its_user_linked",
        f"{LINKS}a_clone_cannot_have_files_of_its_user_served",
    ],
    "So a checkout cannot": [f"{LINKS}a_clone_cannot_have_files_of_its_user_linked"],
    "Links inside a copied skill": [f"{LINKS}a_clone_cannot_have_files_of_its_user_linked"],
    "Only the manifest can": [f"{LINKS}a_live_link_that_was_asked_for", f"{LINKS}a_live_link_that_leads_elsewhere"],
    "A receipt, a registry": [f"{LINKS}no_reader_trusts", f"{LINKS}a_receipt_that_was_sent"],
    "A project in a git repository": [
        f"{LINKS}in_a_repository_of_several_projects",
        f"{LINKS}a_home_directory_that_is_a_repository",
    ],
    "In your own skills directory": [f"{LINKS}links_in_the_users_own_skills_directory"],
    "A `path`, or a local archive": [
        "commands/test_paths_of_checkouts.py::test_a_path_that_a_committed_link_leads_out",
        "commands/test_paths_of_checkouts.py::test_an_archive_behind_a_committed_link",
    ],
    "A manifest that names your folder": ["commands/test_paths_of_checkouts.py::test_a_spec_is_refused"],
    "A host's configuration in a checkout": [
        "agent_hosts/test_host_config.py::test_additional_paths_of_the_project",
        "agent_hosts/test_host_config.py::test_a_project_cannot_name_a_folder_outside",
        "agent_hosts/test_host_config.py::test_a_folder_that_the_user_permits",
    ],
    # What is served to an agent
    "The text of a skill comes": [f"{SERVED}no_skill_breaks_out"],
    "What `load`, `prompt`": [f"{SERVED}no_skill_breaks_out", f"{SERVED}no_body_moves_the_cursor"],
    "Descriptions are one line": [f"{SERVED}catalog_parses_back", f"{SERVED}no_skill_breaks_out"],
    "In the default form": [f"{SERVED}body_cannot_close_the_tag"],
    "Control characters": [f"{SERVED}no_body_moves_the_cursor", f"{SERVED}characters_visible_only_to_models"],
    "Tabs, line breaks": ["core/test_text.py::test_all_characters_that_unicode_ignores"],
    "``!`command` `` is text": [f"{SERVED}escaping_references_are_ignored"],
    "`@file` applies only": ["serving/test_service.py::test_no_reference_escapes", f"{SERVED}escaping_references"],
    "A denied skill is in no answer": [
        "serving/test_service.py::test_denied_skill_is_invisible",
        "serving/test_service.py::test_error_for_a_denied_name",
    ],
    "While a file with rules": [
        "serving/test_live_permissions.py::test_nothing_is_served_while_rules_are_unreadable",
        "commands/test_host_permissions.py::test_a_rule_file_that_cannot_be_read_denies_everything",
    ],
    "With `[skills] enabled": ["commands/test_host_permissions.py::test_skills_that_are_turned_off_are_hidden"],
    "`skillpm mcp --http` listens": [
        "serving/test_mcp_http.py::test_web_pages_of_other_origins",
        "serving/test_mcp_access.py::test_host_and_origin_are_compared_exactly",
        "serving/test_mcp_http.py::test_with_a_token_every_request",
        "serving/test_mcp_http.py::test_what_is_not_served_is_explained",
    ],
    "On loopback without a token": ["serving/test_mcp_access.py::test_it_says_whom_it_serves"],
    "Everywhere it refuses requests": ["serving/test_mcp_access.py::test_host_and_origin_are_compared_exactly"],
    "Over HTTP, no answer": ["serving/test_mcp_access.py::test_no_answer_over_http_names_a_folder"],
    "A skill that needs approval": [
        "serving/test_approval.py::test_anything_but_true_refuses",
        "serving/test_approval.py::test_a_coroutine_that_returns_anything_but_true",
    ],
    "`skillpm mcp` approves none": ["serving/test_mcp_access.py::test_a_server_in_a_terminal_asks_nobody"],
    "`SkillService.read` and": [
        "serving/test_python_api.py::test_no_path_leads_out",
        "serving/test_python_api.py::test_a_link_out_of_the_skill",
    ],
    "See [Permissions]": ["test_docs.py::test_every_link_has_a_target"],
}
# What is said to be unproved needs no proof, unless there is something to see.
UNPROVED = {
    "Whether a skill is good": [],
    "A [signature]": [
        "commands/test_signatures.py::test_the_signer_is_locked",
        "commands/test_signatures.py::test_files_that_were_not_signed_are_refused",
    ],
    "Who wrote a commit": [],
    "Who owns a repository of the": [],
    "Suggestions were not reviewed": [],
    "When a version or a commit": ["commands/test_exclude_newer_commits.py::test_the_newest_commit_that_is_old_enough"],
    "A forge also serves": [f"{BRANCHES}a_commit_is_on_the_branch", f"{BRANCHES}update_is_the_way_out"],
    "The tree of a commit and its branch": [
        f"{PROOF}a_server_without_filters_is_reported_once",
        f"{BRANCHES}a_large_repository_without_filters",
    ],
    "That the server has the commit": [f"{PROOF}a_server_without_filters_does_not_excuse"],
    "The digest applies there": [f"{PROOF}a_server_without_filters_is_reported_once"],
    "The source of a folder that already has": ["forgery/test_moved_projects.py::test_a_clone_that_leaves_out"],
    "With a list of places in a policy": ["paths/test_claimed_places.py::test_a_claimed_place_is_proved"],
    "`lock --check` asks": ["commands/test_lock_proof.py::test_content_of_another_commit"],
    "What an index offers": [f"{CLIENT}installing_by_name_requests_only"],
    "Once a version is locked": [f"{CLIENT}a_locked_version_that_changed"],
    "What a name resolves to": [],
    "That an installed package is": [],
    "The digest in the lockfile applies": [f"{PYTHON}a_frozen_lockfile_refuses_another_version"],
    "Systems other than Linux": [],
}


def test_every_sentence_has_a_test() -> None:
    assert find_unmatched(read_sentences("docs/security.md", SECTIONS), [*TESTS, *UNPROVED]) == ([], [])


def test_every_named_test_exists() -> None:
    assert find_missing_tests({name for names in (TESTS | UNPROVED).values() for name in names}) == []
