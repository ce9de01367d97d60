//! Simulates many seeds, and checks that injected defects are detected.

mod plans;

use stoker_sim::{Sabotage, SimReport, simulate};

const N_SEEDS: u64 = 4000;

#[test]
fn no_seed_violates_invariants() {
    for seed in 0..N_SEEDS {
        let report = simulate(seed, Sabotage::None);
        assert!(report.violations.is_empty(), "replay with `cargo xtask sim --seed {seed}`: {report:#?}");
    }
}

fn assert_detected(sabotage: Sabotage, message: &str) {
    let is_reported =
        |report: SimReport| report.violations.iter().any(|violation| violation.contains(message));
    assert!((0..N_SEEDS).any(|seed| is_reported(simulate(seed, sabotage))), "no seed reports {message:?}");
}

#[test]
fn lost_journal_is_detected() {
    assert_detected(Sabotage::LostJournal, "twice");
}

#[test]
fn early_ack_is_detected() {
    assert_detected(Sabotage::EarlyAck, "but the history says");
}

#[test]
fn missing_fence_is_detected() {
    assert_detected(Sabotage::NoFence, "ended twice");
}

#[test]
fn early_start_is_detected() {
    assert_detected(Sabotage::EarlyStart, "twice");
}

#[test]
fn unsynced_acceptance_is_detected() {
    assert_detected(Sabotage::UnsyncedAcceptance, "lost the acceptance");
}

#[test]
fn missing_resend_is_detected() {
    assert_detected(Sabotage::NoResend, "does not end");
}

#[test]
fn simulation_is_deterministic() {
    for seed in 0..20 {
        let (first, second) = (simulate(seed, Sabotage::None), simulate(seed, Sabotage::None));
        assert_eq!((first.n_steps, first.n_events), (second.n_steps, second.n_events));
    }
}
