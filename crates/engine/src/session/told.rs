//! What an agent was sent and has said over its present connection, as far as it may have to be said again.
//!
//! Between servers a message can be lost. What was lost is asked for, or said again, and this is what remembers it; the
//! agent itself says everything again only when it connects.

use std::collections::BTreeMap;

use stoker_model::{Micros, RunId};

use super::server::Input;
use super::{AttemptKey, Finished, FromAgent};

/// An end that nobody has taken for so long is told again.
const AGAIN_AFTER_SECONDS: i64 = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    attempts: BTreeMap<AttemptKey, Word>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Word {
    is_sent: bool,
    started_at: Option<Micros>,
    /// And when it is told again.
    finished: Option<(Finished, Micros)>,
}

impl Told {
    pub(super) fn note(&mut self, input: &Input, now: Micros) {
        match input {
            Input::Message(FromAgent::Hello(hello)) => {
                self.attempts.clear();
                for key in &hello.running {
                    self.sent(*key);
                }
                for finished in &hello.finished {
                    self.ended(finished, now);
                }
            }
            Input::Message(FromAgent::Started { key, at }) => {
                self.attempts.entry(*key).or_default().started_at = Some(*at);
            }
            Input::Message(FromAgent::Finished(finished)) => self.ended(finished, now),
            Input::Recorded { keys } => {
                for key in keys {
                    self.attempts.remove(key);
                }
            }
            Input::RunIs { run, generation: None } => self.forget(*run),
            Input::Disconnected => self.attempts.clear(),
            _ => {}
        }
    }

    pub(super) fn sent(&mut self, key: AttemptKey) {
        self.attempts.entry(key).or_default().is_sent = true;
    }

    pub(super) fn is_sent(&self, key: AttemptKey) -> bool {
        self.attempts.get(&key).is_some_and(|word| word.is_sent)
    }

    pub(super) fn started(&self, key: AttemptKey) -> Option<Micros> {
        self.attempts.get(&key)?.started_at
    }

    pub(super) fn finished(&self, key: AttemptKey) -> Option<&Finished> {
        self.attempts.get(&key)?.finished.as_ref().map(|(finished, _)| finished)
    }

    /// Ends that nobody has taken for a while.
    pub(super) fn owed(&mut self, now: Micros) -> impl Iterator<Item = Finished> {
        self.attempts.values_mut().filter_map(move |word| {
            let (finished, again_at) = word.finished.as_mut().filter(|(_, again_at)| *again_at <= now)?;
            *again_at = now.plus_seconds(AGAIN_AFTER_SECONDS);
            Some(finished.clone())
        })
    }

    fn ended(&mut self, finished: &Finished, now: Micros) {
        let word = self.attempts.entry(finished.key).or_default();
        word.is_sent = true;
        word.finished = Some((finished.clone(), now.plus_seconds(AGAIN_AFTER_SECONDS)));
    }

    /// A run is over. Its ends are still owed to the agent's journal.
    fn forget(&mut self, run: RunId) {
        self.attempts.retain(|key, word| key.run != run || word.finished.is_some());
    }
}

#[cfg(test)]
mod tests {
    use stoker_model::JsonMap;

    use super::super::End;
    use super::*;

    const NOW: Micros = Micros(1);
    const KEY: AttemptKey = AttemptKey { run: RunId(1), instance: 2, attempt: 1 };

    fn finished() -> Finished {
        Finished { key: KEY, at: NOW, end: End::Succeeded, summary: JsonMap::new() }
    }

    #[test]
    fn an_end_is_told_again_until_it_is_recorded() {
        let mut told = Told::default();
        told.note(&Input::Message(FromAgent::Finished(finished())), NOW);
        assert_eq!(told.owed(NOW).count(), 0, "it was told just now");
        let later = NOW.plus_seconds(AGAIN_AFTER_SECONDS);
        assert_eq!(told.owed(later).collect::<Vec<_>>(), [finished()]);
        assert_eq!(told.owed(later).count(), 0);
        assert_eq!(told.finished(KEY), Some(&finished()));
        told.note(&Input::Recorded { keys: vec![KEY] }, later);
        assert_eq!(told.owed(later.plus_seconds(60)).count(), 0);
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let mut told = Told::default();
        told.sent(KEY);
        told.note(&Input::Message(FromAgent::Started { key: KEY, at: NOW }), NOW);
        assert_eq!((told.is_sent(KEY), told.started(KEY)), (true, Some(NOW)));
        told.note(&Input::RunIs { run: RunId(2), generation: None }, NOW);
        assert!(told.is_sent(KEY));
        told.note(&Input::RunIs { run: RunId(1), generation: None }, NOW);
        assert!(!told.is_sent(KEY));
    }

    #[test]
    fn an_end_outlives_its_run() {
        let mut told = Told::default();
        told.note(&Input::Message(FromAgent::Finished(finished())), NOW);
        told.note(&Input::RunIs { run: RunId(1), generation: None }, NOW);
        assert_eq!(told.owed(NOW.plus_seconds(60)).count(), 1, "the agent keeps it until it is acknowledged");
    }
}
