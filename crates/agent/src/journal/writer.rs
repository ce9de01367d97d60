//! Journal writer: appends records in order and groups syncs (group commit).

use std::io;
use std::time::Duration;

use stoker_engine::session::agent::Durability;
use stoker_wire::record::JournalEntry;
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
    /// Needs no sync before the reply, so it is done inline: a blocking task would cost more than the write.
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
    Waiter(oneshot::Sender<Result<(), String>>),
}

/// Handle to the writer task. The task ends when the last handle is dropped and everything is written and
/// synced.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    jobs: mpsc::UnboundedSender<Job>,
}

impl Writer {
    /// Starts the writer task. Results of session writes are sent to `done`. Writers that share `syncs` limit
    /// their concurrent disk access.
    pub(crate) fn start(
        file: JournalFile,
        done: mpsc::UnboundedSender<(u64, Result<(), String>)>,
        syncs: &'static Semaphore,
    ) -> (Self, tokio::task::JoinHandle<()>) {
        let (jobs, received) = mpsc::unbounded_channel();
        (Self { jobs }, tokio::spawn(write_all(file, received, done, syncs)))
    }

    pub(crate) fn write(&self, job: Job) {
        // If the writer task has ended, dropping the job drops its reply channel, which its receiver notices.
        _ = self.jobs.send(job);
    }
}

/// Bound on jobs per batch, so that the first jobs of a batch are not delayed by many later ones.
const BATCH_MAX: usize = 1024;

/// Maximum delay until a `Safe::Soon` write is synced.
const SYNC_DELAY: Duration = Duration::from_millis(100);

/// Delay before a failed sync is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Limits concurrent syncs in a process with many agents: they usually share one disk, so more blocked
/// threads gain nothing.
pub(crate) static SYNCS: Semaphore = Semaphore::const_new(8);

async fn write_all(
    mut file: JournalFile,
    mut jobs: mpsc::UnboundedReceiver<Job>,
    done: mpsc::UnboundedSender<(u64, Result<(), String>)>,
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
                ReplyTo::Session(seq) => _ = done.send((seq, result)),
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
        tracing::error!(%error, "cannot sync the journal");
    }
    synced.is_ok()
}

type Results = Vec<(ReplyTo, Result<(), String>)>;

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
                // Earlier appends are contained in the rewrite and later ones go behind it.
                append(file, &mut entries, &mut waiting, needs_sync, &mut results);
                needs_sync = false;
                results.push((reply, error_text(file.rewrite(&replacement))));
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
    let result = error_text(file.append(entries, is_synced));
    entries.clear();
    results.extend(waiting.drain(..).map(|reply| (reply, result.clone())));
}

fn error_text(result: io::Result<()>) -> Result<(), String> {
    result.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use stoker_engine::session::AttemptKey;
    use stoker_engine::session::agent::Record;
    use stoker_model::RunId;
    use stoker_testkit::TempFolder;

    use super::*;

    struct Setup {
        folder: TempFolder,
        syncs: &'static Semaphore,
        writer: Writer,
        writing: tokio::task::JoinHandle<()>,
        done: mpsc::UnboundedReceiver<(u64, Result<(), String>)>,
    }

    impl Setup {
        fn new() -> Self {
            let folder = TempFolder::new();
            let (done_sender, done) = mpsc::unbounded_channel();
            // A separate semaphore, so that other tests do not wait for permits this test holds.
            let syncs = Box::leak(Box::new(Semaphore::new(1)));
            let (writer, writing) = Writer::start(open(&folder).file, done_sender, syncs);
            Self { folder, syncs, writer, writing, done }
        }

        fn write(&self, seq: u64, safe: Durability) {
            self.writer.write(Job::Append { entry: entry(seq), safe, reply: ReplyTo::Session(seq) });
        }

        /// Sequence number of the next completed write.
        async fn next(&mut self) -> u64 {
            let (seq, result) = self.done.recv().await.unwrap();
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
        let key = AttemptKey { run: RunId(1), instance: seq as u32, attempt: 1 };
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
        // It waits for the overdue sync of entry 2.
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
}
