//! Simulates the real plan with all kinds of faults.

use stoker_engine::blueprint::{Draft, FailurePolicy, ExecutionOptions, Executor, TypeDefaults};
use stoker_orchestrator::runs::draft_from_plan;
use stoker_sim::{Rng, Sabotage, simulate_draft};

use crate::real_plan::first_run;

fn draft(on_failure: FailurePolicy) -> Option<Draft> {
    let timing = |task_type: &str| {
        let runs_on = if task_type == "master_shell" { Executor::Master } else { Executor::Node };
        Some(TypeDefaults { runs_on, timeout_s: 300, n_retries: 3, interval_s: 1, is_idempotent: true })
    };
    let options = ExecutionOptions { on_failure, ..ExecutionOptions::default() };
    let (mut draft, defects) = draft_from_plan(&first_run()?, options, &[], timing);
    assert_eq!(defects, []);
    // With the real tolerances almost every failure ends the run early.
    for group in &mut draft.groups {
        group.tolerated = 3;
    }
    Some(draft)
}

#[test]
fn real_plan_survives_faults() {
    for on_failure in [FailurePolicy::NodeStops, FailurePolicy::NodeContinues] {
        let Some(draft) = draft(on_failure) else { return };
        for seed in 0..12 {
            let report = simulate_draft(Rng::new(seed), &draft, Sabotage::None, false);
            assert_eq!(report.violations, Vec::<String>::new(), "seed {seed}, {on_failure:?}");
        }
    }
}
