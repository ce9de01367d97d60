//! Recovery at startup: replays the journal and kills processes that a previous agent left running.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use stoker_engine::session::agent::Record;
use stoker_engine::session::{AttemptKey, AttemptResult, ResultKind};
use stoker_model::{JsonMap, TaskReport};
use stoker_tasks::StopSender;
use stoker_tasks::host::real::{Machine, ProcessId, ProcessTree, terminate_process_tree};
use stoker_wire::record::JournalEntry;
use tokio::task::JoinSet;

use super::attempt::{Ended, process_marker};
use super::{Driver, Event};
use crate::journal::JournalFile;
use crate::{AgentError, StateFolder};

pub(super) struct Recovered {
    pub(super) file: JournalFile,
    pub(super) records: Vec<Record>,
    /// Journal entries of attempts that this agent takes over.
    pub(super) notes: BTreeMap<AttemptKey, Vec<JournalEntry>>,
    /// Attempts that reboot the machine, with the boot ID from before the reboot.
    pub(super) rebooting: BTreeMap<AttemptKey, String>,
}

impl Recovered {
    /// Returns the results without an acknowledgement in the journal.
    pub(super) fn unacknowledged(&self) -> impl Iterator<Item = AttemptResult> {
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

/// Replays the journal and kills orphaned processes of the previous agent, because their results can no
/// longer be collected.
pub(super) async fn recover(folder: &StateFolder, machine: &Machine) -> Result<Recovered, AgentError> {
    let opened = JournalFile::open(&folder.journal_path())?;
    if opened.n_bytes_dropped > 0 {
        tracing::warn!(
            bytes = opened.n_bytes_dropped,
            "dropped an incomplete record at the end of the journal"
        );
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
            JournalEntry::Session(record) => {
                match record {
                    Record::Accepted { key, .. } => _ = open.insert(*key),
                    Record::Ended(finished) => _ = open.remove(&finished.key),
                    Record::Acknowledged { key } => _ = open.remove(key),
                    Record::RunEnded { run } => open.retain(|key| key.run != *run),
                }
                recovered.records.push(record.clone());
            }
            JournalEntry::Process { key, pid, started } => {
                leaders.entry(*key).or_default().push(ProcessId { pid: *pid, started: *started });
            }
            JournalEntry::Rebooting { key, boot_id } => {
                recovered.rebooting.insert(*key, boot_id.clone());
                recovered.notes.entry(*key).or_default().push(entry);
            }
        }
    }
    recovered.rebooting.retain(|key, _| open.contains(key));
    recovered.notes.retain(|key, _| open.contains(key));
    let orphans = open.iter().filter(|key| !recovered.rebooting.contains_key(key));
    let families = orphans.map(|key| ProcessTree {
        leaders: leaders.remove(key).unwrap_or_default(),
        marker: process_marker(*key, folder.path()),
    });
    end_families(families.collect(), machine.grace).await;
    Ok(recovered)
}

async fn end_families(families: Vec<ProcessTree>, grace: Duration) {
    let mut tasks = JoinSet::new();
    for family in families {
        tasks.spawn(async move {
            let mark = family.marker.clone();
            let n_remaining = terminate_process_tree(family, grace).await;
            if n_remaining > 0 {
                tracing::error!(n_remaining, mark, "cannot end processes of an interrupted attempt");
            }
        });
    }
    while tasks.join_next().await.is_some() {}
}

/// Maximum time that an agent that starts before the requested reboot waits for the reboot. Normally the
/// reboot ends the agent first.
const REBOOT_MAX: Duration = Duration::from_mins(1);

/// Interval at which the boot ID is read.
const REBOOT_POLL: Duration = Duration::from_millis(200);

impl Driver {
    /// Waits for the reboot and reports the result of the attempt that requested it.
    pub(super) fn await_reboot(&mut self, key: AttemptKey, previous_boot_id: String) {
        let (stopper, stop) = StopSender::new();
        let (machine, events) = (self.machine.clone(), self.events.clone());
        self.running.insert(key, stopper);
        self.tasks.spawn(async move {
            let rebooted = async {
                while machine.read_boot_id().is_ok_and(|boot_id| boot_id == previous_boot_id) {
                    tokio::time::sleep(REBOOT_POLL).await;
                }
            };
            let end = tokio::select! {
                done = tokio::time::timeout(REBOOT_MAX, rebooted) => match done {
                    Ok(()) => ResultKind::Succeeded,
                    Err(_) => ResultKind::Failed { message: "the agent restarted without a reboot of the node".to_owned() },
                },
                reason = stop.wait() => match reason {
                    stoker_tasks::StopReason::AgentShutdown => return,
                    _ => ResultKind::Cancelled,
                },
            };
            let message = if end == ResultKind::Succeeded { "node rebooted" } else { "node not rebooted" };
            let report = TaskReport::of_summary(JsonMap::from_iter([("message".to_owned(), message.into())]));
            _ = events.send(Event::Ended(Box::new(Ended { key, end, report }))).await;
        });
    }
}
