//! The real plan, with everything that can go wrong.

use stoker_engine::blueprint::{Draft, OnFailure, Options, RunsOn, Timing, draft_of_plan};
use stoker_sim::{Dice, Sabotage, simulate_draft};

use crate::real_plan::first_run;

fn draft(on_failure: OnFailure) -> Option<Draft> {
    let timing = |task_type: &str| {
        let runs_on = if task_type == "master_shell" { RunsOn::Master } else { RunsOn::Node };
        Some(Timing { runs_on, timeout_s: 300, n_retries: 3, interval_s: 1, is_idempotent: true })
    };
    let options = Options { on_failure, ..Options::default() };
    let (mut draft, defects) = draft_of_plan(&first_run()?, options, &[], timing);
    assert_eq!(defects, []);
    // As written, nearly every failure ends the run; here it has to come far.
    for group in &mut draft.groups {
        group.tolerated = 3;
    }
    Some(draft)
}

#[test]
fn the_real_plan_is_carried_out_whatever_happens() {
    for on_failure in [OnFailure::NodeStops, OnFailure::NodeContinues] {
        let Some(draft) = draft(on_failure) else { return };
        for seed in 0..12 {
            let story = simulate_draft(Dice::new(seed), &draft, Sabotage::None, false);
            assert_eq!(story.broken, Vec::<String>::new(), "seed {seed}, {on_failure:?}");
        }
    }
}
