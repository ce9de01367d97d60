//! Defects of the predecessor and of similar tools, each with the regression test that covers it. A test that is renamed
//! or deleted fails this suite until its entry is updated.

use std::fs;
use std::path::PathBuf;

/// Defect, file of the test, name of the test.
type Lesson = (&'static str, &'static str, &'static str);

const PLANNER: &str = "crates/planner/tests/regressions.rs";
const ENGINE: &str = "crates/engine/tests/engine/weak_points.rs";

/// Bugs by their number in the predecessor's tracker.
const BUGS: &[Lesson] = &[
    ("1622650", PLANNER, "node_filter_without_matches_selects_no_nodes"),
    ("1563016", PLANNER, "computed_conditions_are_evaluated"),
    ("1541309", PLANNER, "skipped_tasks_keep_computed_dependencies"),
    ("1582269", PLANNER, "old_state_is_per_task_and_node"),
    ("1581015", PLANNER, "old_common_document_is_per_node"),
    ("1572226", PLANNER, "old_state_is_per_task_and_node"),
    ("1644871", PLANNER, "rerun_tasks_keep_their_order"),
    ("1606823", PLANNER, "new_node_runs_changed_tasks"),
    ("1547889", PLANNER, "self_relation_excludes_only_the_instance_itself"),
    ("1559968", "crates/graph/src/check/tests.rs", "relation_to_own_name_is_reported"),
    ("1477258", PLANNER, "unknown_names_are_reported_with_location"),
    ("1630556", PLANNER, "tasks_without_shared_nodes_form_no_cycle"),
    (
        "1558117",
        "crates/registry/tests/stage_layers.rs",
        "stage_tasks_run_after_their_stage_and_before_the_next",
    ),
    ("1530351", "crates/registry/src/scripts.rs", "scripts_are_copied_before_the_tasks_of_the_plugin"),
    ("1572276", "crates/registry/tests/stage_graph.rs", "graph_preserves_the_order_on_all_nodes"),
    (
        "1526353",
        "crates/registry/tests/components/laws.rs",
        "compatibility_is_symmetric_and_matches_listing_and_matrix",
    ),
    ("1526969", "crates/registry/tests/components/main.rs", "design_samples_of_provides"),
    ("1527384", "crates/server/tests/api/wizard.rs", "incompatible_choice_is_dropped"),
    ("1611651", "crates/server/tests/api/wizard.rs", "bound_values_are_not_overwritten"),
    ("1626067", "crates/orchestrator/tests/blueprint/of_plan.rs", "dry_run_failures_do_not_fail_nodes"),
    ("1617993", "crates/tasks/src/suite/laws.rs", "noop_changes_nothing"),
    ("1590002", "crates/stoker/tests/serve/runs.rs", "noop_run_changes_nothing"),
    ("1590872", "crates/server/tests/api/runs.rs", "dry_run_plans_without_executing"),
    ("1594736", "crates/server/tests/api/transactions.rs", "history_contains_task_outcomes"),
    ("1605666", PLANNER, "plans_do_not_depend_on_the_number_of_threads"),
    ("1578974", PLANNER, "force_ignores_old_states"),
    ("1571713", ENGINE, "p03_node_outcome_is_final"),
    ("1543611", "crates/server/tests/api/runs.rs", "busy_cluster_refuses_second_run_and_stop_ends_the_first"),
];

/// Design weaknesses of the predecessor's orchestrator, counted from 1.
const WEAK_POINTS: &[Lesson] = &[
    (
        "exceeded tolerance was reported as success",
        ENGINE,
        "p01_exceeded_tolerance_is_an_error_with_the_group_name",
    ),
    ("fail_on_error was evaluated at the start only", ENGINE, "p02_fail_on_error_false_covers_all_failures"),
    ("finished nodes became stopped", ENGINE, "p03_node_outcome_is_final"),
    ("blocked counted as failed", ENGINE, "p04_blocked_node_does_not_count_as_failed"),
    ("nodes and instances without a final state", ENGINE, "p05_every_instance_and_every_node_ends"),
    ("one failure cancelled all work of the node", ENGINE, "p06_on_failure_policy_decides_remaining_tasks"),
    ("stages swallowed failures", ENGINE, "p07_stages_are_passed_or_held"),
    ("an empty selection meant all tasks", PLANNER, "instances_outside_subgraph_are_skipped"),
    ("limits depended on load order", ENGINE, "p09_smallest_limit_applies_despite_skips"),
    (
        "task fields were dropped between components",
        "crates/orchestrator/tests/blueprint/makespan.rs",
        "real_plan_has_limits_groups_and_executors",
    ),
    (
        "unknown task types failed in the middle of a run",
        ENGINE,
        "p11_all_defects_are_reported_before_the_run",
    ),
    ("stopping a pending run removed nodes", ENGINE, "p12_run_stopped_before_start_executes_nothing"),
    ("a crash lost the run", ENGINE, "p13_run_is_restored_from_history"),
    ("attempts had no identity", ENGINE, "p14_attempts_have_unique_keys"),
    ("timeouts did not cancel tasks", ENGINE, "p15_timed_out_attempt_is_cancelled"),
    ("dispatched tasks counted as started", ENGINE, "p16_dispatched_is_not_started"),
    (
        "background processes could not be cancelled",
        "crates/agent/tests/agent/work.rs",
        "timeout_and_cancel_end_all_processes",
    ),
    (
        "lost nodes were detected at the start only",
        ENGINE,
        "p18_lost_node_is_detected_and_tolerated_for_a_while",
    ),
    (
        "reports had no sequence numbers",
        "crates/server/tests/api/runs.rs",
        "events_are_numbered_and_output_is_searchable",
    ),
    ("a slow node delayed all others", ENGINE, "p20_slow_node_does_not_delay_others"),
    (
        "the scheduler polled all instances",
        "crates/engine/tests/engine/size.rs",
        "million_instances_run_without_recursion_or_scans",
    ),
    (
        "cycle detection took quadratic time",
        "crates/engine/tests/engine/size.rs",
        "p22_long_chains_and_cycles_need_no_recursion",
    ),
    (
        "the journal grew without bound",
        "crates/engine/tests/engine/agent_session.rs",
        "journal_size_is_bounded",
    ),
    ("weights grew exponentially", ENGINE, "p24_weights_stay_small"),
    (
        "one run at a time",
        "crates/engine/tests/engine/agent_session.rs",
        "p25_agent_serves_several_runs_concurrently",
    ),
];

/// Common complaints about deployment tools that concern execution.
const PAINS: &[Lesson] = &[
    ("one slow host delays the fleet", ENGINE, "p20_slow_node_does_not_delay_others"),
    ("failure budgets are surprising", ENGINE, "p01_ungrouped_nodes_must_not_fail"),
    (
        "no resume after a failure",
        "crates/server/tests/api/runs.rs",
        "retry_reruns_failed_tasks_of_the_same_plan",
    ),
    (
        "success although no node answered",
        "crates/stoker/tests/serve/runs.rs",
        "node_offline_for_too_long_fails",
    ),
    (
        "success although a node was offline",
        "crates/server/tests/api/run_course.rs",
        "offline_nodes_are_named_in_the_run_message",
    ),
    (
        "a stop did not prevent the next graph",
        "crates/server/tests/api/run_course.rs",
        "stop_during_last_task_prevents_the_next_graph",
    ),
    (
        "no failure budget per run",
        "crates/server/tests/api/run_course.rs",
        "run_fault_tolerance_is_configurable",
    ),
    (
        "no restart from a task",
        "crates/server/tests/api/run_course.rs",
        "retry_from_task_reruns_its_dependents",
    ),
    (
        "seconds between two steps",
        "crates/orchestrator/tests/blueprint/makespan.rs",
        "unit_durations_reach_the_lower_bound",
    ),
    ("guessed timeouts", "crates/agent/tests/agent/work.rs", "heartbeat_interval_is_set_by_the_server"),
    (
        "a restart aborts, strands or duplicates runs",
        "crates/stoker/tests/serve/kills.rs",
        "run_survives_fifty_server_kills",
    ),
    ("a kill test that cannot fail", "crates/stoker/tests/serve/evidence.rs", "each_corruption_is_detected"),
];

#[test]
fn every_lesson_has_its_test() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut missing = Vec::new();
    for (defect, file, test) in BUGS.iter().chain(WEAK_POINTS).chain(PAINS) {
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        let is_test = text.lines().any(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("async ").unwrap_or(line);
            line.strip_prefix("fn ")
                .is_some_and(|rest| rest.strip_prefix(test).is_some_and(|rest| rest.starts_with('(')))
        });
        if !is_test {
            missing.push(format!("{defect}: no test `{test}` in {file}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn lists_are_complete() {
    assert_eq!(WEAK_POINTS.len(), 25);
    let mut numbers: Vec<&str> = BUGS.iter().map(|(number, ..)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), BUGS.len(), "each bug is listed once");
}
