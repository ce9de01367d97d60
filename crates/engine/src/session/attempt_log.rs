//! Log of the attempts sent to an agent and of their results over the current connection.
//!
//! The server that is connected to the agent relays messages between the agent and the server that drives
//! the run. Messages between servers may be lost; this log allows them to be resent, because the agent
//! reports its state only when it connects.

use std::collections::BTreeMap;

use stoker_model::{Micros, RunId};

use super::server::Input;
use super::{AttemptKey, AttemptResult, FromAgent};

/// Interval in seconds after which an unrecorded result is resent.
const RESEND_AFTER_SECONDS: i64 = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AttemptLog {
    attempts: BTreeMap<AttemptKey, Entry>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Entry {
    is_sent: bool,
    started_at: Option<Micros>,
    /// The result, and the time of its next resend.
    finished: Option<(AttemptResult, Micros)>,
}

impl AttemptLog {
    pub(super) fn record(&mut self, input: &Input, now: Micros) {
        match input {
            Input::Message(FromAgent::Hello(hello)) => {
                self.attempts.clear();
                for key in &hello.running {
                    self.mark_sent(*key);
                }
                for finished in &hello.finished {
                    self.add_result(finished, now);
                }
            }
            Input::Message(FromAgent::Started { key, at }) => {
                self.attempts.entry(*key).or_default().started_at = Some(*at);
            }
            Input::Message(FromAgent::Finished(finished)) => self.add_result(finished, now),
            Input::Recorded { keys } => {
                for key in keys {
                    self.attempts.remove(key);
                }
            }
            Input::RunStatus { run, generation: None } => self.drop_run(*run),
            Input::Disconnected => self.attempts.clear(),
            _ => {}
        }
    }

    pub(super) fn mark_sent(&mut self, key: AttemptKey) {
        self.attempts.entry(key).or_default().is_sent = true;
    }

    pub(super) fn is_sent(&self, key: AttemptKey) -> bool {
        self.attempts.get(&key).is_some_and(|entry| entry.is_sent)
    }

    pub(super) fn started_at(&self, key: AttemptKey) -> Option<Micros> {
        self.attempts.get(&key)?.started_at
    }

    pub(super) fn result(&self, key: AttemptKey) -> Option<&AttemptResult> {
        self.attempts.get(&key)?.finished.as_ref().map(|(finished, _)| finished)
    }

    /// Returns the results whose resend is due.
    pub(super) fn due_resends(&mut self, now: Micros) -> impl Iterator<Item = AttemptResult> {
        self.attempts.values_mut().filter_map(move |entry| {
            let (finished, resend_at) = entry.finished.as_mut().filter(|(_, resend_at)| *resend_at <= now)?;
            *resend_at = now.plus_seconds(RESEND_AFTER_SECONDS);
            Some(finished.clone())
        })
    }

    fn add_result(&mut self, finished: &AttemptResult, now: Micros) {
        let entry = self.attempts.entry(finished.key).or_default();
        entry.is_sent = true;
        entry.finished = Some((finished.clone(), now.plus_seconds(RESEND_AFTER_SECONDS)));
    }

    /// Drops the attempts of a run that is over, except results: the agent keeps them until they are
    /// acknowledged.
    fn drop_run(&mut self, run: RunId) {
        self.attempts.retain(|key, entry| key.run != run || entry.finished.is_some());
    }
}

#[cfg(test)]
mod tests {
    use stoker_model::{InstanceIdx, TaskReport};

    use super::super::ResultKind;
    use super::*;

    const NOW: Micros = Micros(1);
    const KEY: AttemptKey = AttemptKey { run: RunId(1), instance: InstanceIdx::new(2), attempt: 1 };

    fn finished() -> AttemptResult {
        AttemptResult { key: KEY, at: NOW, end: ResultKind::Succeeded, report: TaskReport::default() }
    }

    #[test]
    fn result_is_resent_until_recorded() {
        let mut log = AttemptLog::default();
        log.record(&Input::Message(FromAgent::Finished(finished())), NOW);
        assert_eq!(log.due_resends(NOW).count(), 0, "it was just reported");
        let later = NOW.plus_seconds(RESEND_AFTER_SECONDS);
        assert_eq!(log.due_resends(later).collect::<Vec<_>>(), [finished()]);
        assert_eq!(log.due_resends(later).count(), 0);
        assert_eq!(log.result(KEY), Some(&finished()));
        log.record(&Input::Recorded { keys: vec![KEY] }, later);
        assert_eq!(log.due_resends(later.plus_seconds(60)).count(), 0);
    }

    #[test]
    fn attempts_of_ended_runs_are_dropped() {
        let mut log = AttemptLog::default();
        log.mark_sent(KEY);
        log.record(&Input::Message(FromAgent::Started { key: KEY, at: NOW }), NOW);
        assert_eq!((log.is_sent(KEY), log.started_at(KEY)), (true, Some(NOW)));
        log.record(&Input::RunStatus { run: RunId(2), generation: None }, NOW);
        assert!(log.is_sent(KEY));
        log.record(&Input::RunStatus { run: RunId(1), generation: None }, NOW);
        assert!(!log.is_sent(KEY));
    }

    #[test]
    fn unacknowledged_result_outlives_its_run() {
        let mut log = AttemptLog::default();
        log.record(&Input::Message(FromAgent::Finished(finished())), NOW);
        log.record(&Input::RunStatus { run: RunId(1), generation: None }, NOW);
        assert_eq!(
            log.due_resends(NOW.plus_seconds(60)).count(),
            1,
            "the agent keeps it until it is acknowledged"
        );
    }
}
