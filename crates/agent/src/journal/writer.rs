//! Journal writer: appends records in order and groups syncs (group commit).

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use stoker_engine::session::agent::Durability;
use stoker_model::ErrorChain;
use stoker_wire::record::JournalEntry;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use super::file::JournalFile;

/// Journal operation.
#[derive(Debug)]
pub(crate) enum Job {
    /// `Safe::First` syncs before the reply. `Safe::Soon` replies after the write and is synced with the next
    /// synced write or within [`SYNC_DELAY`].
    Append {
        entry: JournalEntry,
        safe: Durability,
        reply: ReplyTo,
    },
    Rewrite {
        entries: Vec<JournalEntry>,
        reply: ReplyTo,
    },
}

impl Job {
    /// Reports whether the job needs no sync before the reply. Such jobs are executed inline: a blocking task
    /// would cost more than the write.
    fn is_quick(&self) -> bool {
        matches!(self, Self::Append { safe: Durability::Deferred | Durability::NotRequired, .. })
    }

    fn is_soon(&self) -> bool {
        matches!(self, Self::Append { safe: Durability::Deferred, .. })
    }
}

/// Recipient of the result of a write.
#[derive(Debug)]
pub(crate) enum ReplyTo {
    None,
    /// The session, with the sequence number of the write.
    Session(u64),
    Waiter(oneshot::Sender<Result<(), WriteError>>),
}

/// Error of a record that could not be written to the journal. All writes of a batch share the error of the
/// system call that failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot write the journal")]
pub(crate) struct WriteError(#[source] Arc<io::Error>);

impl WriteError {
    /// Returns the failed system call.
    pub(crate) fn cause(&self) -> &io::Error {
        &self.0
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self(Arc::new(error))
    }
}

/// Result of a write of the session.
#[derive(Debug)]
pub(crate) struct WriteOutcome {
    pub(crate) seq: u64,
    pub(crate) result: Result<(), WriteError>,
}

/// Handle to the writer task. The task ends when the handle is dropped and everything is written and synced.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
    /// Jobs that found the channel full, in order.
    pending: VecDeque<Job>,
}

impl Writer {
    /// Starts the writer task and returns the receiver of write results. The writer blocks while the result channel is
    /// full, so the caller must drain it even while it waits for the writer; otherwise both deadlock. Writers that share
    /// `syncs` share a limit on concurrent fsyncs.
    pub(crate) fn start(
        file: JournalFile,
        syncs: &'static Semaphore,
    ) -> (Self, mpsc::Receiver<WriteOutcome>, tokio::task::JoinHandle<()>) {
        let (jobs, received) = mpsc::channel(BATCH_MAX);
        let (done, written) = mpsc::channel(BATCH_MAX);
        let writing = tokio::spawn(write_all(file, received, done, syncs));
        (Self { jobs, pending: VecDeque::new() }, written, writing)
    }

    /// Queues a job. No job is lost, but the caller must not accept new work until [`Writer::has_room`].
    pub(crate) fn write(&mut self, job: Job) {
        let job = if self.has_room() { self.jobs.try_send(job) } else { Err(TrySendError::Full(job)) };
        // If the writer task has ended, dropping the job drops its reply channel, which its receiver notices.
        if let Err(TrySendError::Full(job)) = job {
            self.pending.push_back(job);
        }
    }

    /// Reports whether no job waits for the channel. Otherwise [`Writer::flush`] makes room.
    pub(crate) fn has_room(&self) -> bool {
        self.pending.is_empty()
    }

    /// Passes pending jobs to the writer task as it takes them. Cancel-safe.
    pub(crate) async fn flush(&mut self) {
        while !self.pending.is_empty() {
            let Ok(permit) = self.jobs.reserve().await else {
                self.pending.clear();
                return;
            };
            if let Some(job) = self.pending.pop_front() {
                permit.send(job);
            }
        }
    }
}

/// Maximum number of jobs per batch, so that many later jobs do not delay the first jobs of a batch. It is
/// also the capacity of the channels between session and writer: one channel holds the next batch while the
/// current batch is written, the other holds the results of a batch. A full job channel applies
/// back-pressure to the driver. A full result channel blocks the writer; this cannot deadlock, because the driver
/// drains results even while it waits to send.
const BATCH_MAX: usize = 1024;

/// Maximum delay until a `Safe::Soon` write is synced.
const SYNC_DELAY: Duration = Duration::from_millis(100);

/// Delay before a failed sync is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Limits concurrent syncs in a process with many agents. They usually share one disk, so more blocked
/// threads would not increase throughput.
pub(crate) static SYNCS: Semaphore = Semaphore::const_new(8);

async fn write_all(
    mut file: JournalFile,
    mut jobs: mpsc::Receiver<Job>,
    done: mpsc::Sender<WriteOutcome>,
    syncs: &'static Semaphore,
) {
    let mut batch = Vec::new();
    // Deadline of the pending sync.
    let mut sync_deadline: Option<Instant> = None;
    loop {
        let next_jobs = jobs.recv_many(&mut batch, BATCH_MAX);
        let n_jobs = match sync_deadline {
            None => next_jobs.await,
            Some(at) => tokio::time::timeout_at(at, next_jobs).await.unwrap_or_default(),
        };
        if n_jobs == 0 && sync_deadline.is_none() {
            return;
        }
        let work = std::mem::take(&mut batch);
        let is_due = sync_deadline.is_some_and(|at| at <= Instant::now());
        let results = if n_jobs > 0 && !is_due && work.iter().all(Job::is_quick) {
            if work.iter().any(Job::is_soon) {
                sync_deadline.get_or_insert_with(|| Instant::now() + SYNC_DELAY);
            }
            write_batch(&mut file, work, false)
        } else {
            let is_sync_pending = sync_deadline.take().is_some();
            // The semaphore is never closed, so this cannot fail.
            let _permit = syncs.acquire().await;
            let written = tokio::task::spawn_blocking(move || {
                let results = write_batch(&mut file, work, true);
                let is_safe = !is_sync_pending || sync(&mut file);
                (file, results, is_safe)
            });
            // Fails only on runtime shutdown or a panic.
            let Ok((returned, results, is_safe)) = written.await else { return };
            file = returned;
            let is_last = jobs.is_closed() && jobs.is_empty();
            if !is_safe && !is_last {
                sync_deadline = Some(Instant::now() + RETRY_DELAY);
            }
            results
        };
        for (reply, result) in results {
            match reply {
                ReplyTo::None => {}
                // If the receiver is closed, the agent is exiting; the record has been written nevertheless.
                ReplyTo::Session(seq) => _ = done.send(WriteOutcome { seq, result }).await,
                ReplyTo::Waiter(waiter) => _ = waiter.send(result),
            }
        }
    }
}

/// Syncs earlier writes and reports whether that succeeded. Errors are logged only, because no caller waits
/// for this sync.
fn sync(file: &mut JournalFile) -> bool {
    let synced = file.sync();
    if let Err(error) = &synced {
        tracing::error!(error = %ErrorChain(error), "cannot sync the journal");
    }
    synced.is_ok()
}

type Results = Vec<(ReplyTo, Result<(), WriteError>)>;

/// Executes a batch. With `may_wait`, `Safe::Soon` entries are synced immediately.
fn write_batch(file: &mut JournalFile, jobs: Vec<Job>, may_wait: bool) -> Results {
    let mut results = Results::new();
    let mut entries = Vec::new();
    let mut waiting = Vec::new();
    let mut needs_sync = false;
    for job in jobs {
        match job {
            Job::Append { entry, safe, reply } => {
                entries.push(entry);
                waiting.push(reply);
                needs_sync |= may_wait && safe != Durability::NotRequired;
            }
            Job::Rewrite { entries: replacement, reply } => {
                // Earlier appends are included in the rewrite; later appends follow it.
                append(file, &mut entries, &mut waiting, needs_sync, &mut results);
                needs_sync = false;
                results.push((reply, file.rewrite(&replacement).map_err(WriteError::from)));
            }
        }
    }
    append(file, &mut entries, &mut waiting, needs_sync, &mut results);
    results
}

fn append(
    file: &mut JournalFile,
    entries: &mut Vec<JournalEntry>,
    waiting: &mut Vec<ReplyTo>,
    is_synced: bool,
    results: &mut Results,
) {
    if entries.is_empty() {
        return;
    }
    let result = file.append(entries, is_synced).map_err(WriteError::from);
    entries.clear();
    results.extend(waiting.drain(..).map(|reply| (reply, result.clone())));
}

#[cfg(test)]
mod tests {
    use stoker_engine::session::AttemptKey;
    use stoker_engine::session::agent::Record;
    use stoker_model::{InstanceIdx, RunId};
    use stoker_testkit::TempFolder;

    use super::*;

    struct Setup {
        folder: TempFolder,
        syncs: &'static Semaphore,
        writer: Writer,
        writing: tokio::task::JoinHandle<()>,
        done: mpsc::Receiver<WriteOutcome>,
    }

    impl Setup {
        fn new() -> Self {
            let folder = TempFolder::new();
            // A separate semaphore, so that other tests do not wait for permits this test holds.
            let syncs = Box::leak(Box::new(Semaphore::new(1)));
            let (writer, done, writing) = Writer::start(open(&folder).file, syncs);
            Self { folder, syncs, writer, writing, done }
        }

        fn write(&mut self, seq: u64, safe: Durability) {
            self.writer.write(Job::Append { entry: entry(seq), safe, reply: ReplyTo::Session(seq) });
        }

        /// Returns the sequence number of the next completed write.
        async fn next(&mut self) -> u64 {
            let WriteOutcome { seq, result } = self.done.recv().await.unwrap();
            result.unwrap();
            seq
        }

        /// Asserts that no write completes for a while.
        async fn assert_idle(&mut self) {
            assert!(tokio::time::timeout(5 * SYNC_DELAY, self.done.recv()).await.is_err());
        }

        async fn block_syncs(&self) -> tokio::sync::SemaphorePermit<'static> {
            self.syncs.acquire().await.unwrap()
        }
    }

    fn open(folder: &TempFolder) -> super::super::file::Opened {
        JournalFile::open(&folder.file("journal")).unwrap()
    }

    fn entry(seq: u64) -> JournalEntry {
        let key = AttemptKey { run: RunId(1), instance: InstanceIdx::new(seq as u32), attempt: 1 };
        JournalEntry::Session(Record::Acknowledged { key })
    }

    #[tokio::test]
    async fn only_safe_first_waits_for_a_sync() {
        let mut setup = Setup::new();
        let sync_permit = setup.block_syncs().await;
        setup.write(1, Durability::NotRequired);
        setup.write(2, Durability::Deferred);
        assert_eq!((setup.next().await, setup.next().await), (1, 2));
        setup.write(3, Durability::BeforeAck);
        setup.assert_idle().await;
        drop(sync_permit);
        assert_eq!(setup.next().await, 3);
        drop(setup.writer);
        setup.writing.await.unwrap();
        assert_eq!(open(&setup.folder).entries, [entry(1), entry(2), entry(3)]);
    }

    #[tokio::test]
    async fn safe_soon_is_synced_without_further_writes() {
        let mut setup = Setup::new();
        let sync_permit = setup.block_syncs().await;
        setup.write(1, Durability::NotRequired);
        assert_eq!(setup.next().await, 1);
        tokio::time::sleep(2 * SYNC_DELAY).await;
        setup.write(2, Durability::Deferred);
        assert_eq!(setup.next().await, 2, "entry 1 needs no sync");
        tokio::time::sleep(2 * SYNC_DELAY).await;
        setup.write(3, Durability::NotRequired);
        // The append waits for the overdue sync of entry 2.
        setup.assert_idle().await;
        drop(sync_permit);
        assert_eq!(setup.next().await, 3);
    }

    #[tokio::test]
    async fn pending_sync_completes_before_the_writer_ends() {
        let mut setup = Setup::new();
        let sync_permit = setup.block_syncs().await;
        setup.write(1, Durability::Deferred);
        assert_eq!(setup.next().await, 1);
        drop(setup.writer);
        assert!(
            tokio::time::timeout(2 * SYNC_DELAY, &mut setup.writing).await.is_err(),
            "it waits for the sync"
        );
        drop(sync_permit);
        setup.writing.await.unwrap();
    }

    /// The writer holds one batch and the channel another; later jobs wait in the handle.
    #[tokio::test]
    async fn full_queue_keeps_jobs_in_order() {
        let n_jobs = 3 * BATCH_MAX as u64;
        let mut setup = Setup::new();
        let sync_permit = setup.block_syncs().await;
        setup.write(0, Durability::BeforeAck);
        tokio::time::sleep(SYNC_DELAY).await;
        for seq in 1..n_jobs {
            setup.write(seq, Durability::NotRequired);
        }
        assert!(!setup.writer.has_room());
        let flushed = tokio::time::timeout(SYNC_DELAY, setup.writer.flush()).await;
        assert!(flushed.is_err(), "the disk is blocked");
        drop(sync_permit);
        // The results of the first batches fill the second channel: the writer waits until they are received.
        let mut seqs = Vec::new();
        while seqs.len() < n_jobs as usize {
            tokio::select! {
                () = setup.writer.flush(), if !setup.writer.has_room() => {}
                written = setup.done.recv() => seqs.push(written.unwrap().seq),
            }
        }
        assert!(seqs.is_sorted() && setup.writer.has_room());
        drop(setup.writer);
        setup.writing.await.unwrap();
        assert_eq!(open(&setup.folder).entries, (0..n_jobs).map(entry).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn writer_waits_for_the_receiver_of_results() {
        // A batch in each channel, and one in the writer.
        let n_jobs = 4 * BATCH_MAX as u64;
        let mut setup = Setup::new();
        for seq in 0..n_jobs {
            setup.write(seq, Durability::NotRequired);
        }
        let flushed = tokio::time::timeout(5 * SYNC_DELAY, setup.writer.flush()).await;
        assert!(flushed.is_err(), "the writer waits");
        assert_eq!(setup.done.len(), BATCH_MAX);
        // A driver that ends drops the receiver and still gets everything written.
        setup.done.close();
        while setup.done.recv().await.is_some() {}
        setup.writer.flush().await;
        drop(setup.writer);
        setup.writing.await.unwrap();
        assert_eq!(open(&setup.folder).entries.len(), n_jobs as usize);
    }
}
