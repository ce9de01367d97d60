//! What an agent finds when it starts: its journal, and perhaps processes of the one before.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use stoker_engine::session::agent::Record;
use stoker_engine::session::{AttemptKey, End, Finished};
use stoker_model::JsonMap;
use stoker_tasks::Stopper;
use stoker_tasks::host::real::{Family, Machine, ProcessId, end_family};
use stoker_wire::record::Entry;
use tokio::task::JoinSet;

use super::attempt::{Ended, mark};
use super::{Driver, Event};
use crate::journal::JournalFile;
use crate::{AgentError, StateFolder};

pub(super) struct Recovered {
    pub(super) file: JournalFile,
    pub(super) records: Vec<Record>,
    /// Of attempts whose end this agent will see.
    pub(super) notes: BTreeMap<AttemptKey, Vec<Entry>>,
    /// Attempts to restart the machine, and the boot they began in.
    pub(super) rebooting: BTreeMap<AttemptKey, String>,
}

impl Recovered {
    /// Results that no server has, as far as the journal knows.
    pub(super) fn unsettled(&self) -> impl Iterator<Item = Finished> {
        let mut ended = BTreeMap::new();
        for record in &self.records {
            match record {
                Record::Ended(finished) => _ = ended.insert(finished.key, finished.clone()),
                Record::Acknowledged { key } => _ = ended.remove(key),
                Record::RunEnded { run } => ended.retain(|key: &AttemptKey, _| key.run != *run),
                Record::Accepted { .. } => {}
            }
        }
        ended.into_values()
    }
}

/// Reads the journal and ends what the former agent left running: nobody would hear of it.
pub(super) async fn recover(folder: &StateFolder, machine: &Machine) -> Result<Recovered, AgentError> {
    let opened = JournalFile::open(&folder.journal())?;
    if opened.n_bytes_dropped > 0 {
        tracing::warn!(bytes = opened.n_bytes_dropped, "the last record of the journal was not whole");
    }
    let mut recovered = Recovered {
        file: opened.file,
        records: Vec::new(),
        notes: BTreeMap::new(),
        rebooting: BTreeMap::new(),
    };
    let mut open: BTreeSet<AttemptKey> = BTreeSet::new();
    let mut leaders: BTreeMap<AttemptKey, Vec<ProcessId>> = BTreeMap::new();
    for entry in opened.entries {
        match &entry {
            Entry::Session(record) => {
                match record {
                    Record::Accepted { key, .. } => _ = open.insert(*key),
                    Record::Ended(finished) => _ = open.remove(&finished.key),
                    Record::Acknowledged { key } => _ = open.remove(key),
                    Record::RunEnded { run } => open.retain(|key| key.run != *run),
                }
                recovered.records.push(record.clone());
            }
            Entry::Process { key, pid, started } => {
                leaders.entry(*key).or_default().push(ProcessId { pid: *pid, started: *started });
            }
            Entry::Rebooting { key, boot_id } => {
                recovered.rebooting.insert(*key, boot_id.clone());
                recovered.notes.entry(*key).or_default().push(entry);
            }
        }
    }
    recovered.rebooting.retain(|key, _| open.contains(key));
    recovered.notes.retain(|key, _| open.contains(key));
    let orphans = open.iter().filter(|key| !recovered.rebooting.contains_key(key));
    let families = orphans.map(|key| Family {
        leaders: leaders.remove(key).unwrap_or_default(),
        mark: mark(*key, folder.path()),
    });
    end_all(families.collect(), machine.grace).await;
    Ok(recovered)
}

async fn end_all(families: Vec<Family>, grace: Duration) {
    let mut ending = JoinSet::new();
    for family in families {
        ending.spawn(async move {
            let mark = family.mark.clone();
            let n_left = end_family(family, grace).await;
            if n_left > 0 {
                tracing::error!(n_left, mark, "processes of an interrupted attempt cannot be ended");
            }
        });
    }
    while ending.join_next().await.is_some() {}
}

/// An agent that finds itself in the boot it wanted to leave is probably about to be ended; longer than this it is not.
const REBOOT_MAX: Duration = Duration::from_mins(1);

/// How often it looks.
const REBOOT_POLL: Duration = Duration::from_millis(200);

impl Driver {
    /// Reports the end of an attempt to restart the machine, once it is known.
    pub(super) fn await_reboot(&mut self, key: AttemptKey, before: String) {
        let (stopper, stop) = Stopper::new();
        let (machine, events) = (self.machine.clone(), self.events.clone());
        self.running.insert(key, stopper);
        self.tasks.spawn(async move {
            let another = async {
                while machine.read_boot_id().is_ok_and(|now| now == before) {
                    tokio::time::sleep(REBOOT_POLL).await;
                }
            };
            let end = tokio::select! {
                done = tokio::time::timeout(REBOOT_MAX, another) => match done {
                    Ok(()) => End::Succeeded,
                    Err(_) => End::Failed { message: "the agent was restarted, and the node was not".to_owned() },
                },
                reason = stop.wait() => match reason {
                    stoker_tasks::StopReason::AgentEnds => return,
                    _ => End::Cancelled,
                },
            };
            let message = if end == End::Succeeded { "the node was rebooted" } else { "the node was not rebooted" };
            let summary = JsonMap::from_iter([("message".to_owned(), message.into())]);
            _ = events.send(Event::Ended(Box::new(Ended { key, end, summary })));
        });
    }
}
