//! The truth: what tasks have written to machines, and how attempts end.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use stoker_model::TaintCause;

use super::model::Key;
use crate::rng::Rng;

/// What each task wrote last, by machine.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    contents: BTreeMap<Key, Content>,
}

/// What a task wrote.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// The task completed.
    Whole { definition: String, inputs: Json },
    /// The attempt was interrupted before it ended.
    Broken,
}

impl Machines {
    pub(crate) fn write(&mut self, key: Key, content: Content) {
        self.contents.insert(key, content);
    }

    pub(crate) fn content(&self, key: &Key) -> Option<&Content> {
        self.contents.get(key)
    }

    /// Empties the machine of a node.
    pub(crate) fn empty(&mut self, uid: &str) {
        self.contents.retain(|(_, _, node), _| node != uid);
    }
}

/// How an attempt ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Succeeded,
    /// The attempt was not sent, because the run ended before.
    NotStarted,
    NotSucceeded {
        cause: TaintCause,
        effect: Effect,
    },
}

/// What an attempt that does not succeed does to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    None,
    Whole,
    Broken,
}

const CAUSES: &[TaintCause] = &[
    TaintCause::Failed,
    TaintCause::TimedOut,
    TaintCause::Cancelled,
    TaintCause::Interrupted,
    TaintCause::Unknown,
    // The server crashed, and the run was deleted before its driver came back.
    TaintCause::InFlight,
];

impl End {
    /// The end of an attempt in a run with some luck. It depends on the instance and not on the order of instances, so that a
    /// shrunk history ends as before.
    pub(crate) fn random(luck: u64, failing: u64, task: &str, uid: &str) -> Self {
        let name = task.bytes().chain(uid.bytes());
        let mut rng = Rng::new(name.fold(luck, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())));
        if failing == 0 || !rng.one_in(failing) {
            return Self::Succeeded;
        }
        if rng.one_in(4) {
            return Self::NotStarted;
        }
        let effect =
            rng.pick(&[Effect::None, Effect::Whole, Effect::Broken]).copied().unwrap_or(Effect::None);
        Self::NotSucceeded { cause: rng.pick(CAUSES).copied().unwrap_or(TaintCause::Failed), effect }
    }
}
