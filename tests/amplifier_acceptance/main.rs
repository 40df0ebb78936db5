//! The acceptance criteria of "Shell hooks module for Amplifier", each as a test of its name, through the built command with real
//! scripts: one process per event, as a host of the module starts them.
//!
//! | criterion | test |
//! |---|---|
//! | **Phase 1, acceptance criteria** | |
//! | Can load hooks from `.amplifier/hooks/` | `phase_1::can_load_hooks_from_amplifier_hooks` |
//! | Can execute bash command hooks | `phase_1::can_execute_bash_command_hooks` |
//! | Can parse exit codes and JSON responses | `phase_1::can_parse_exit_codes_and_json_responses` |
//! | Can translate to HookResult correctly; Event-specific decision control | `phase_1::can_translate_to_hook_result_correctly` |
//! | Example hooks work end-to-end | `phase_1::example_hooks_work_end_to_end` |
//! | **Phase 1, scope and the sections it rests on** | |
//! | Basic events; Data translation, input | `phase_1::the_basic_events_reach_their_hooks_with_the_documented_input` |
//! | Configuration merging | `phase_1::configuration_loading_and_merging` |
//! | Standalone: no configuration is needed | `phase_1::a_project_without_hooks_goes_on` |
//! | Configuration loader, broken files | `phase_1::a_broken_file_takes_nothing_with_it_and_is_told` |
//! | Optimization strategies: the first result other than continue is returned | `phase_1::an_answer_that_acts_ends_the_run` |
//! | `decision: "approve"` → `user_message` if present; other codes "continue with warning" | `phase_1::messages_of_hooks_that_go_on_all_reach_the_user` |
//! | Manual installation | `phase_1::manual_hook_installation` |
//! | Installation from a Claude Code plugin | `phase_1::installation_from_a_claude_code_plugin` |
//! | Matcher system | `phase_1::matchers_filter_which_tools_trigger_hooks` |
//! | Environment variables | `phase_1::environment_variables_of_a_hook` |
//! | Timeout enforcement | `phase_1::timeouts_are_enforced` |
//! | User controls: `default_timeout`, `max_timeout` | `phase_1::default_and_maximal_timeout` |
//! | User controls: `enabled`, `allow_user_hooks`, `allow_project_hooks` | `phase_1::user_controls` |
//! | **Phase 1.5, acceptance criteria** | |
//! | Skills with `hooks:` frontmatter are discovered correctly | `phase_1_5::skills_with_hooks_frontmatter_are_discovered_correctly` |
//! | … and count once, wherever they were read | `phase_1_5::a_skill_that_is_discovered_and_loaded_runs_its_hooks_once` |
//! | Loading a skill registers its hooks dynamically | `phase_1_5::loading_a_skill_registers_its_hooks_dynamically` |
//! | Skill hooks execute alongside directory-based hooks | `phase_1_5::skill_hooks_execute_alongside_directory_based_hooks` |
//! | Hooks are cleaned up when skill is unloaded | `phase_1_5::hooks_are_cleaned_up_when_the_skill_is_unloaded` |
//! | … (session end) | `phase_1_5::hooks_are_cleaned_up_at_the_end_of_the_session` |
//! | Relative paths in hook commands resolve to skill directory | `phase_1_5::relative_paths_in_hook_commands_resolve_to_the_skill_directory` |
//! | **Phase 1.5, lifecycle scoping** | |
//! | Only run when the component is active | `phase_1_5::component_scoped_hooks_only_run_when_the_component_is_active` |
//! | … in whatever process the event is fired | `phase_1_5::a_load_is_seen_by_processes_that_run_beside` |
//! | Support `once: true` to run only once per session | `phase_1_5::once_true_runs_only_once_per_session` |
//! | Appendix C: `once` is for skills only | `phase_1_5::once_counts_in_skills_only` |
//! | Frontmatter hook parser | `phase_1_5::hooks_of_a_skill_that_cannot_run_are_told` |
//! | Event listeners for skill events | `phase_1_5::skill_events_answer_continue_whatever_they_hold` |
//! | **Phase 2** | |
//! | Stop event | `phase_2::stop_event` |
//! | … named differently in the table and in the list of the phase | `phase_2::stop_runs_once_per_turn_under_either_of_its_names` |
//! | … supports block (prevent stop), `stop_hook_active` | `phase_2::a_blocked_stop_keeps_the_agent_going_and_the_next_one_knows` |
//! | SubagentStop (`tool:post` with the Task tool) | `phase_2::subagent_stop_is_tool_post_of_the_task_tool` |
//! | PreCompact | `phase_2::pre_compact` |
//! | PermissionRequest | `phase_2::permission_request` |
//! | Notification | `phase_2::notification` |
//! | SessionStart matchers (startup/resume/clear/compact) | `phase_2::session_start_matchers` |
//! | Environment variable persistence | `phase_2::environment_variable_persistence` |
//! | … "for the session" | `phase_2::variables_belong_to_their_session_and_end_with_it` |
//! | … in the same event | `phase_2::a_later_hook_of_the_same_event_sees_the_variables_too` |
//! | `AMPLIFIER_ENV_FILE` and `CLAUDE_ENV_FILE` support | `phase_2::amplifier_env_file_and_claude_env_file_are_one_file` |
//! | … beside the variables of the module | `phase_2::a_variable_of_the_module_cannot_be_taken_over` |
//! | **Phase 3, parallel** | |
//! | Parallel hook execution (`parallel: true` in matcher groups) | `parallel::hooks_of_a_parallel_group_run_concurrently` |
//! | Short-circuit on first blocking result in parallel mode | `parallel::short_circuit_on_first_blocking_result` |
//! | … which an injection is not | `parallel::a_deny_counts_beside_an_injection_that_is_listed_before_it` |
//! | `return_exceptions=True` | `parallel::a_hook_that_fails_leaves_the_others_of_its_group_alone` |
//! | Backward compatible (sequential by default) | `parallel::sequential_by_default` |
//! | Groups one after the other, each as it says | `parallel::a_parallel_group_and_a_sequential_one_in_a_row` |
//! | Timeout of one hook in a group | `parallel::a_timeout_in_a_parallel_group_stops_that_hook_only` |
//! | **Appendices, testing strategy, performance** | |
//! | Appendix A: complete event mapping | `appendices::appendix_a_complete_event_mapping` |
//! | Appendix B: complete example plugin | `appendices::appendix_b_complete_example_plugin` |
//! | Appendix C: hook registry schema | `appendices::appendix_c_hook_registry_schema` |
//! | Example hook tests: bash command logger | `appendices::bash_command_logger` |
//! | Example hook tests: file format validator | `appendices::file_format_validator` |
//! | Example hook tests: production file protector | `appendices::production_file_protector` |
//! | Example hook tests: context injection hook | `appendices::context_injection_hook` |
//! | Directory structure: auto-formatter | `appendices::auto_formatter` |
//! | Skip on pattern mismatch: don't spawn if matcher doesn't match | `appendices::hooks_that_do_not_match_start_no_process` |
//! | Standalone: no dependency on an installed agent | `appendices::hooks_of_the_directory_run_for_other_agents_too` |
//!
//! Phase 2.5 (hooks that ask a model) and the deferred items of phase 3 are no part of this.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests: what fails here fails the test, and the tests look at real files"
)]

mod appendices;
mod host;
mod parallel;
mod phase_1;
mod phase_1_5;
mod phase_2;

/// The table above is what people read; it names every test, and no other.
#[test]
fn the_table_names_every_test() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("amplifier_acceptance");
    let read = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.rs"))).unwrap();
    let mut written = Vec::new();
    for module in ["appendices", "parallel", "phase_1", "phase_1_5", "phase_2"] {
        for test in read(module).split("#[test]\n").skip(1) {
            let name = test.split_once("fn ").unwrap().1.split_once('(').unwrap().0;
            written.push(format!("{module}::{name}"));
        }
    }
    let main = read("main");
    let rows = main.lines().filter_map(|line| line.strip_prefix("//! | ")?.strip_suffix("` |"));
    let mut named: Vec<String> = rows.map(|row| row.rsplit_once('`').unwrap().1.to_owned()).collect();
    written.sort();
    named.sort();
    assert_eq!(named, written);
}
