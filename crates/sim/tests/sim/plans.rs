//! Histories of plans, and injected defects.

use stoker_sim::{PlanSabotage, PlansReport, describe_shrunk, simulate_plans};

/// Replayed in the test command; `cargo xtask sim plans` replays more.
const N_HISTORIES: u64 = 100;
/// Enough for each defect to be detected.
const N_SABOTAGED: u64 = 400;

#[test]
fn planner_agrees_with_the_oracle() {
    let mut total = PlansReport::default();
    for seed in 0..N_HISTORIES {
        let report = simulate_plans(seed, PlanSabotage::None);
        let shrunk = report
            .violations
            .first()
            .and_then(|violation| describe_shrunk(seed, violation.check, PlanSabotage::None));
        assert_eq!(shrunk, None, "replay with `cargo xtask sim plans --seed {seed}`");
        total.add(&report);
    }
    assert!(total.n_running > 1000 && total.n_unaffected > 500, "{total:?}");
    assert!(total.n_unaffected_skipped * 1000 >= total.n_unaffected * 999, "{total:?}");
}

/// The first seed whose history violates a check because of a defect.
fn detecting_seed(sabotage: PlanSabotage, check: &str) -> u64 {
    let violates = |seed: &u64| {
        simulate_plans(*seed, sabotage).violations.iter().any(|violation| violation.check == check)
    };
    (0..N_SABOTAGED).find(violates).unwrap_or_else(|| panic!("no history violates {check:?}"))
}

fn assert_detected(sabotage: PlanSabotage, check: &str) {
    detecting_seed(sabotage, check);
}

#[test]
fn shrunk_histories_violate_the_same_check() {
    let (sabotage, check) = (PlanSabotage::PreRunStatuses, "decision");
    let seed = detecting_seed(sabotage, check);
    let shrunk = describe_shrunk(seed, check, sabotage).unwrap_or_default();
    assert!(shrunk.contains(&format!("\n{check}: ")), "{shrunk}");
    assert!(shrunk.lines().count() < 30, "{shrunk}");
    assert_eq!(describe_shrunk(seed, "no such check", sabotage), None);
}

#[test]
fn ignored_taints_are_detected() {
    assert_detected(PlanSabotage::NoTaint, "decision");
    assert_detected(PlanSabotage::NoTaint, "truth");
}

#[test]
fn shared_graph_types_are_detected() {
    assert_detected(PlanSabotage::GraphTypeIgnored, "decision");
    assert_detected(PlanSabotage::GraphTypeIgnored, "truth");
}

#[test]
fn statuses_before_the_run_are_detected() {
    assert_detected(PlanSabotage::PreRunStatuses, "decision");
    let mut total = PlansReport::default();
    (0..50).for_each(|seed| total.add(&simulate_plans(seed, PlanSabotage::PreRunStatuses)));
    assert!(total.n_unaffected_skipped * 1000 < total.n_unaffected * 999, "{total:?}");
}

#[test]
fn shared_states_are_detected() {
    assert_detected(PlanSabotage::SharedState, "decision");
    assert_detected(PlanSabotage::SharedState, "parameters");
}

#[test]
fn lost_states_are_detected() {
    assert_detected(PlanSabotage::NoSecondLook, "decision");
}

#[test]
fn ignored_definitions_are_detected() {
    assert_detected(PlanSabotage::DefinitionsIgnored, "decision");
}

#[test]
fn status_during_the_run_is_detected() {
    assert_detected(PlanSabotage::StatusDuringRun, "dry run equals real run");
}

#[test]
fn missing_fence_is_detected() {
    assert_detected(PlanSabotage::NoFence, "decision");
}

#[test]
fn unsettled_inputs_are_detected() {
    assert_detected(PlanSabotage::UnsettledInputs, "decision");
}

#[test]
fn forgotten_triggers_are_detected() {
    assert_detected(PlanSabotage::TriggersForgotten, "decision");
    assert_detected(PlanSabotage::TriggersForgotten, "truth");
}

#[test]
fn ignored_group_conditions_are_detected() {
    assert_detected(PlanSabotage::GroupConditionsIgnored, "decision");
}

/// A second implementation that calls the first one would agree with its mistakes.
#[test]
fn oracle_is_independent_of_the_planner() {
    for source in [
        include_str!("../../src/plans/expression.rs"),
        include_str!("../../src/plans/history.rs"),
        include_str!("../../src/plans/model.rs"),
        include_str!("../../src/plans/site.rs"),
        include_str!("../../src/plans/view.rs"),
    ] {
        let uses = source.lines().find(|line| line.contains("stoker_") || line.contains("super::world"));
        assert_eq!(uses, None);
    }
}
