//! What the predecessor and its kin did wrong, and which test keeps it from coming back. A test that is renamed or taken
//! away has to be named here anew.

use std::fs;
use std::path::PathBuf;

/// What went wrong; the file of the test; its name.
type Lesson = (&'static str, &'static str, &'static str);

const PLANNER: &str = "crates/planner/tests/lessons.rs";
const ENGINE: &str = "crates/engine/tests/engine/weak_points.rs";

/// Bugs by their numbers in the tracker of the predecessor.
const BUGS: &[Lesson] = &[
    ("1622650", PLANNER, "an_empty_result_of_a_node_filter_selects_nothing"),
    ("1563016", PLANNER, "conditions_are_evaluated_before_they_are_judged"),
    ("1541309", PLANNER, "skipping_keeps_computed_dependencies"),
    ("1582269", PLANNER, "the_old_state_is_one_of_each_task_and_node"),
    ("1581015", PLANNER, "each_node_has_its_own_past_of_the_cluster"),
    ("1572226", PLANNER, "the_old_state_is_one_of_each_task_and_node"),
    ("1644871", PLANNER, "what_runs_again_keeps_its_place_in_the_order"),
    ("1606823", PLANNER, "a_new_node_runs_what_depends_on_it"),
    ("1547889", PLANNER, "a_relation_to_the_own_name_excludes_only_the_instance_itself"),
    ("1559968", "crates/graph/src/check/tests.rs", "a_task_that_waits_for_itself_elsewhere"),
    ("1477258", PLANNER, "unknown_names_are_told_with_their_place"),
    ("1630556", PLANNER, "tasks_that_never_meet_make_no_cycle"),
    (
        "1558117",
        "crates/registry/tests/stage_layers.rs",
        "stage_tasks_are_anchored_behind_their_stage_and_before_the_next",
    ),
    ("1530351", "crates/registry/src/scripts.rs", "scripts_are_there_before_every_task_of_the_plugin"),
    ("1572276", "crates/registry/tests/stage_graph.rs", "the_graph_keeps_the_order_on_all_nodes"),
    (
        "1526353",
        "crates/registry/tests/components/laws.rs",
        "compatibility_is_symmetric_and_seen_in_listing_and_matrix",
    ),
    (
        "1526969",
        "crates/registry/tests/components/main.rs",
        "two_closed_components_and_the_samples_of_the_design",
    ),
    ("1527384", "crates/server/tests/api/wizard.rs", "a_choice_that_became_incompatible_is_dropped"),
    ("1611651", "crates/server/tests/api/wizard.rs", "bound_values_are_not_overwritten"),
    ("1626067", "crates/engine/tests/engine/blueprint.rs", "nothing_is_fatal_in_a_run_that_touches_nothing"),
    ("1617993", "crates/tasks/src/suite/laws.rs", "a_noop_touches_nothing"),
    ("1590002", "crates/stoker/tests/serve/runs.rs", "a_run_without_deeds_touches_nothing"),
    ("1590872", "crates/server/tests/api/runs.rs", "a_dry_run_plans_and_touches_nothing"),
    ("1594736", "crates/server/tests/api/transactions.rs", "history_tells_what_became_of_each_task"),
    ("1605666", PLANNER, "plans_do_not_depend_on_the_number_of_threads"),
    ("1578974", PLANNER, "force_forgets_the_past"),
    ("1571713", ENGINE, "p03_nodes_that_are_done_stay_done"),
    (
        "1543611",
        "crates/server/tests/api/runs.rs",
        "a_busy_cluster_refuses_another_run_and_a_stop_ends_the_one_it_has",
    ),
];

/// Weak points of its orchestrator, counted from 1.
const WEAK_POINTS: &[Lesson] = &[
    (
        "exceeding the tolerance ended well",
        ENGINE,
        "p01_exceeding_the_tolerance_is_an_error_that_names_its_group",
    ),
    (
        "fail_on_error counted at the start only",
        ENGINE,
        "p02_fail_on_error_false_holds_for_every_kind_of_failure",
    ),
    ("nodes that were done became stopped", ENGINE, "p03_nodes_that_are_done_stay_done"),
    ("blocked counted as failed", ENGINE, "p04_a_blocked_node_has_not_failed"),
    ("nodes and instances without an end", ENGINE, "p05_every_instance_and_every_node_ends"),
    ("a failure cost all work of its node", ENGINE, "p06_what_a_failure_costs_the_node_is_a_policy"),
    ("stages swallowed failures", ENGINE, "p07_stages_are_passed_or_held"),
    (
        "a part that named nothing was everything",
        PLANNER,
        "what_lies_outside_of_a_subgraph_is_skipped_in_order",
    ),
    ("limits depended on the order of loading", ENGINE, "p09_the_smallest_limit_holds_whatever_is_skipped"),
    (
        "parts of tasks were dropped on the way",
        "crates/engine/tests/engine/real.rs",
        "a_plan_of_the_real_graph_has_its_limits_groups_and_places",
    ),
    (
        "unknown types showed up in the middle",
        ENGINE,
        "p11_defects_are_found_before_anything_runs_and_all_at_once",
    ),
    ("stopping what waited removed nodes", ENGINE, "p12_a_run_that_is_stopped_before_it_begins_does_nothing"),
    ("a crash lost the run", ENGINE, "p13_a_run_is_read_again_from_its_history"),
    (
        "work on nodes had no identity",
        ENGINE,
        "p14_each_attempt_has_a_name_and_an_old_one_is_not_taken_for_a_new_one",
    ),
    ("timeouts ended nothing", ENGINE, "p15_what_is_timed_out_is_cancelled"),
    ("nobody asked whether a task had begun", ENGINE, "p16_what_is_sent_has_not_begun"),
    (
        "work in the background could not be ended",
        "crates/agent/tests/agent/work.rs",
        "timeouts_and_cancels_end_everything",
    ),
    (
        "silence was noticed at the start only",
        ENGINE,
        "p18_silence_is_noticed_at_any_time_and_forgiven_for_a_while",
    ),
    (
        "reports had no numbers",
        "crates/server/tests/api/runs.rs",
        "what_happened_is_told_with_numbers_and_what_was_printed_is_found",
    ),
    ("a slow node held up all", ENGINE, "p20_a_node_that_is_slow_holds_up_nobody_else"),
    (
        "everything was looked at again and again",
        "crates/engine/tests/engine/size.rs",
        "a_million_instances_are_run_without_recursion_or_scans",
    ),
    (
        "looking for loops took squares",
        "crates/engine/tests/engine/size.rs",
        "p22_chains_and_cycles_of_any_length_are_walked_without_recursion",
    ),
    (
        "what was sent was remembered for ever",
        "crates/engine/tests/engine/agent_session.rs",
        "the_journal_stays_small",
    ),
    ("weights grew exponentially", ENGINE, "p24_weights_do_not_explode"),
    (
        "one run at a time",
        "crates/engine/tests/engine/agent_session.rs",
        "p25_an_agent_works_for_several_runs_at_once",
    ),
];

/// What users of such tools suffer from, as far as it is about carrying plans out.
const PAINS: &[Lesson] = &[
    ("one slow host holds the fleet", ENGINE, "p20_a_node_that_is_slow_holds_up_nobody_else"),
    ("budgets of failures surprise", ENGINE, "p01_nodes_in_no_group_may_not_fail"),
    (
        "no way to go on after a failure",
        "crates/server/tests/api/runs.rs",
        "what_did_not_succeed_is_done_again_with_the_same_plan",
    ),
    (
        "success where nobody answered",
        "crates/stoker/tests/serve/runs.rs",
        "a_node_that_is_away_for_too_long_is_given_up_by_name",
    ),
    (
        "success where somebody was away",
        "crates/server/tests/api/run_course.rs",
        "a_run_says_which_nodes_were_not_there",
    ),
    (
        "a stop let the next graph begin",
        "crates/server/tests/api/run_course.rs",
        "a_stop_that_comes_with_the_last_task_of_a_graph_holds_for_the_graphs_behind_it",
    ),
    (
        "no budget of failures for a whole run",
        "crates/server/tests/api/run_course.rs",
        "a_run_has_a_budget_of_failures_of_its_own",
    ),
    (
        "no way to begin again in the middle",
        "crates/server/tests/api/run_course.rs",
        "a_run_is_done_again_from_a_task_on",
    ),
    (
        "seconds between two steps",
        "crates/engine/tests/engine/real.rs",
        "unit_durations_reach_the_least_number_of_rounds",
    ),
    ("guessed timeouts", "crates/agent/tests/agent/work.rs", "heartbeats_come_as_often_as_the_server_wants"),
    (
        "a restart kills, strands or doubles runs",
        "crates/stoker/tests/serve/kills.rs",
        "a_server_that_is_killed_fifty_times_loses_nothing",
    ),
    (
        "a test of kills that cannot fail",
        "crates/stoker/tests/serve/evidence.rs",
        "everything_that_is_not_raises_its_doubt",
    ),
];

#[test]
fn every_lesson_has_its_test() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut missing = Vec::new();
    for (what, file, test) in BUGS.iter().chain(WEAK_POINTS).chain(PAINS) {
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        let is_test = text.lines().any(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("async ").unwrap_or(line);
            line.strip_prefix("fn ")
                .is_some_and(|rest| rest.strip_prefix(test).is_some_and(|rest| rest.starts_with('(')))
        });
        if !is_test {
            missing.push(format!("{what}: there is no `{test}` in {file}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn all_weak_points_are_there() {
    assert_eq!(WEAK_POINTS.len(), 25);
    let mut numbers: Vec<&str> = BUGS.iter().map(|(number, ..)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), BUGS.len(), "a bug is named once");
}
