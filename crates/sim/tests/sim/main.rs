//! Many seeds, and the proof that a broken part would be noticed.

mod real;
#[path = "../../../engine/tests/engine/real_plan.rs"]
mod real_plan;

use stoker_sim::{Sabotage, Story, simulate};

const N_SEEDS: u64 = 4000;

fn first_broken(sabotage: Sabotage, n_seeds: u64) -> Option<(u64, Story)> {
    (0..n_seeds).map(|seed| (seed, simulate(seed, sabotage))).find(|(_, story)| !story.broken.is_empty())
}

#[test]
fn nothing_breaks() {
    if let Some((seed, story)) = first_broken(Sabotage::None, N_SEEDS) {
        panic!("replay with `cargo xtask sim --seed {seed}`: {story:#?}");
    }
}

fn is_noticed(sabotage: Sabotage, in_words: &str) {
    let (_, story) = first_broken(sabotage, N_SEEDS).expect("a broken rule");
    assert!(story.broken.iter().any(|broken| broken.contains(in_words)), "{:?}", story.broken);
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
