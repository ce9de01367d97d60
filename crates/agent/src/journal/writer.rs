//! Writes records in the order they come, with one sync for all that wait together.

use std::io;
use std::time::Duration;

use stoker_engine::session::agent::Safe;
use stoker_wire::record::Entry;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use super::file::JournalFile;

/// Something to be written.
#[derive(Debug)]
pub(crate) enum Job {
    /// What has to be safe first is so before the answer; what has to be so soon comes to the disk with the next that is, or
    /// a moment later.
    Append {
        entry: Entry,
        safe: Safe,
        answer: Answer,
    },
    Rewrite {
        entries: Vec<Entry>,
        answer: Answer,
    },
}

impl Job {
    /// Waits for no disk: handing it to another thread would take longer than doing it.
    fn is_quick(&self) -> bool {
        matches!(self, Self::Append { safe: Safe::Soon | Safe::Whenever, .. })
    }

    fn is_soon(&self) -> bool {
        matches!(self, Self::Append { safe: Safe::Soon, .. })
    }
}

/// Who wants to know how it went.
#[derive(Debug)]
pub(crate) enum Answer {
    Nobody,
    /// The session, under this number.
    Session(u64),
    Waiting(oneshot::Sender<Result<(), String>>),
}

/// The way to the journal. When the last one is dropped the writer ends, with everything written.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    jobs: mpsc::UnboundedSender<Job>,
}

impl Writer {
    /// Starts writing; how it went for the session is told through the channel. Who shares `syncs` takes turns at the disk.
    pub(crate) fn start(
        file: JournalFile,
        done: mpsc::UnboundedSender<(u64, Result<(), String>)>,
        syncs: &'static Semaphore,
    ) -> (Self, tokio::task::JoinHandle<()>) {
        let (jobs, received) = mpsc::unbounded_channel();
        (Self { jobs }, tokio::spawn(write_all(file, received, done, syncs)))
    }

    pub(crate) fn write(&self, job: Job) {
        // Without a writer the answer is dropped, which whoever waits for it notices.
        _ = self.jobs.send(job);
    }
}

/// More at once would keep the first ones waiting.
const BATCH_MAX: usize = 1024;

/// What is to be safe soon is so after this long.
const SOON: Duration = Duration::from_millis(100);

/// Before it is tried again where the disk refused.
const AGAIN: Duration = Duration::from_secs(1);

/// A process may have many agents, and most often one disk: more threads that wait for it would only cost.
pub(crate) static SYNCS: Semaphore = Semaphore::const_new(8);

async fn write_all(
    mut file: JournalFile,
    mut jobs: mpsc::UnboundedReceiver<Job>,
    done: mpsc::UnboundedSender<(u64, Result<(), String>)>,
    syncs: &'static Semaphore,
) {
    let mut batch = Vec::new();
    // Until when what was written has to be synced.
    let mut owed: Option<Instant> = None;
    loop {
        let come = jobs.recv_many(&mut batch, BATCH_MAX);
        let n_jobs = match owed {
            None => come.await,
            Some(at) => tokio::time::timeout_at(at, come).await.unwrap_or_default(),
        };
        if n_jobs == 0 && owed.is_none() {
            return;
        }
        let work = std::mem::take(&mut batch);
        let is_due = owed.is_some_and(|at| at <= Instant::now());
        let answers = if n_jobs > 0 && !is_due && work.iter().all(Job::is_quick) {
            if work.iter().any(Job::is_soon) {
                owed.get_or_insert_with(|| Instant::now() + SOON);
            }
            write_batch(&mut file, work, false)
        } else {
            let is_owed = owed.take().is_some();
            // Never closed, so there is always one to be had.
            let _turn = syncs.acquire().await;
            let written = tokio::task::spawn_blocking(move || {
                let answers = write_batch(&mut file, work, true);
                let is_safe = !is_owed || sync(&mut file);
                (file, answers, is_safe)
            });
            // Only a runtime that shuts down, or a bug, ends it before its time.
            let Ok((returned, answers, is_safe)) = written.await else { return };
            file = returned;
            let is_last = jobs.is_closed() && jobs.is_empty();
            if !is_safe && !is_last {
                owed = Some(Instant::now() + AGAIN);
            }
            answers
        };
        for (answer, result) in answers {
            match answer {
                Answer::Nobody => {}
                Answer::Session(seq) => _ = done.send((seq, result)),
                Answer::Waiting(waiting) => _ = waiting.send(result),
            }
        }
    }
}

/// Makes safe what was written before, and says whether it is. Nobody waits for it.
fn sync(file: &mut JournalFile) -> bool {
    let synced = file.sync();
    if let Err(error) = &synced {
        tracing::error!(%error, "the journal cannot be synced");
    }
    synced.is_ok()
}

type Answered = Vec<(Answer, Result<(), String>)>;

/// With `may_wait`, what is to be safe soon is so at once.
fn write_batch(file: &mut JournalFile, jobs: Vec<Job>, may_wait: bool) -> Answered {
    let mut answered = Answered::new();
    let mut entries = Vec::new();
    let mut waiting = Vec::new();
    let mut is_any_synced = false;
    for job in jobs {
        match job {
            Job::Append { entry, safe, answer } => {
                entries.push(entry);
                waiting.push(answer);
                is_any_synced |= may_wait && safe != Safe::Whenever;
            }
            Job::Rewrite { entries: all, answer } => {
                // What came before is contained in it; what comes after is written behind it.
                append(file, &mut entries, &mut waiting, is_any_synced, &mut answered);
                is_any_synced = false;
                answered.push((answer, told(file.rewrite(&all))));
            }
        }
    }
    append(file, &mut entries, &mut waiting, is_any_synced, &mut answered);
    answered
}

fn append(
    file: &mut JournalFile,
    entries: &mut Vec<Entry>,
    waiting: &mut Vec<Answer>,
    is_synced: bool,
    answered: &mut Answered,
) {
    if entries.is_empty() {
        return;
    }
    let result = told(file.append(entries, is_synced));
    entries.clear();
    answered.extend(waiting.drain(..).map(|answer| (answer, result.clone())));
}

fn told(result: io::Result<()>) -> Result<(), String> {
    result.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use stoker_engine::session::AttemptKey;
    use stoker_engine::session::agent::Record;
    use stoker_model::RunId;
    use stoker_testkit::Folder;

    use super::*;

    struct Setup {
        folder: Folder,
        syncs: &'static Semaphore,
        writer: Writer,
        writing: tokio::task::JoinHandle<()>,
        done: mpsc::UnboundedReceiver<(u64, Result<(), String>)>,
    }

    impl Setup {
        fn new() -> Self {
            let folder = Folder::new();
            let (tell, done) = mpsc::unbounded_channel();
            // Of its own: other tests must not wait for the turns that this one holds.
            let syncs = Box::leak(Box::new(Semaphore::new(1)));
            let (writer, writing) = Writer::start(open(&folder).file, tell, syncs);
            Self { folder, syncs, writer, writing, done }
        }

        fn write(&self, seq: u64, safe: Safe) {
            self.writer.write(Job::Append { entry: entry(seq), safe, answer: Answer::Session(seq) });
        }

        /// The number of what was written next.
        async fn next(&mut self) -> u64 {
            let (seq, result) = self.done.recv().await.unwrap();
            result.unwrap();
            seq
        }

        /// Nothing is written for a while.
        async fn silence(&mut self) {
            assert!(tokio::time::timeout(5 * SOON, self.done.recv()).await.is_err());
        }

        async fn no_sync(&self) -> tokio::sync::SemaphorePermit<'static> {
            self.syncs.acquire().await.unwrap()
        }
    }

    fn open(folder: &Folder) -> super::super::file::Opened {
        JournalFile::open(&folder.file("journal")).unwrap()
    }

    fn entry(seq: u64) -> Entry {
        let key = AttemptKey { run: RunId(1), instance: seq as u32, attempt: 1 };
        Entry::Session(Record::Acknowledged { key })
    }

    #[tokio::test]
    async fn only_what_has_to_be_safe_first_waits_for_the_disk() {
        let mut setup = Setup::new();
        let held = setup.no_sync().await;
        setup.write(1, Safe::Whenever);
        setup.write(2, Safe::Soon);
        assert_eq!((setup.next().await, setup.next().await), (1, 2));
        setup.write(3, Safe::First);
        setup.silence().await;
        drop(held);
        assert_eq!(setup.next().await, 3);
        drop(setup.writer);
        setup.writing.await.unwrap();
        assert_eq!(open(&setup.folder).entries, [entry(1), entry(2), entry(3)]);
    }

    #[tokio::test]
    async fn what_is_to_be_safe_soon_is_synced_without_anything_else_to_write() {
        let mut setup = Setup::new();
        let held = setup.no_sync().await;
        setup.write(1, Safe::Whenever);
        assert_eq!(setup.next().await, 1);
        tokio::time::sleep(2 * SOON).await;
        setup.write(2, Safe::Soon);
        assert_eq!(setup.next().await, 2, "nothing had to be synced before");
        tokio::time::sleep(2 * SOON).await;
        setup.write(3, Safe::Whenever);
        // It waits until the one before is safe.
        setup.silence().await;
        drop(held);
        assert_eq!(setup.next().await, 3);
    }

    #[tokio::test]
    async fn an_agent_that_ends_leaves_nothing_that_is_not_safe() {
        let mut setup = Setup::new();
        let held = setup.no_sync().await;
        setup.write(1, Safe::Soon);
        assert_eq!(setup.next().await, 1);
        drop(setup.writer);
        assert!(tokio::time::timeout(2 * SOON, &mut setup.writing).await.is_err(), "it waits for the sync");
        drop(held);
        setup.writing.await.unwrap();
    }
}
