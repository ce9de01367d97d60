//! Many seeds, and the proof that a broken part would be noticed.

mod real;
#[path = "../../../engine/tests/engine/real_plan.rs"]
mod real_plan;

use stoker_sim::{Sabotage, Story, simulate};

const N_SEEDS: u64 = 4000;

#[test]
fn nothing_breaks() {
    for seed in 0..N_SEEDS {
        let story = simulate(seed, Sabotage::None);
        assert!(story.broken.is_empty(), "replay with `cargo xtask sim --seed {seed}`: {story:#?}");
    }
}

fn is_noticed(sabotage: Sabotage, in_words: &str) {
    let is_said = |story: Story| story.broken.iter().any(|broken| broken.contains(in_words));
    assert!((0..N_SEEDS).any(|seed| is_said(simulate(seed, sabotage))), "nobody says {in_words:?}");
}

#[test]
fn a_forgotten_journal_is_noticed() {
    is_noticed(Sabotage::ForgottenJournal, "twice");
}

#[test]
fn an_early_acknowledgement_is_noticed() {
    is_noticed(Sabotage::EarlyAcknowledgement, "and history says");
}

#[test]
fn a_missing_fence_is_noticed() {
    is_noticed(Sabotage::NoFence, "ended twice");
}

#[test]
fn an_early_start_is_noticed() {
    is_noticed(Sabotage::EarlyStart, "twice");
}

#[test]
fn a_promise_that_a_loss_of_power_takes_away_is_noticed() {
    is_noticed(Sabotage::UnsafePromise, "has forgotten");
}

#[test]
fn a_host_that_says_nothing_twice_is_noticed() {
    is_noticed(Sabotage::MuteHost, "does not end");
}

#[test]
fn the_same_seed_is_the_same_story() {
    for seed in 0..20 {
        let (first, second) = (simulate(seed, Sabotage::None), simulate(seed, Sabotage::None));
        assert_eq!((first.n_steps, first.n_events), (second.n_steps, second.n_events));
    }
}
