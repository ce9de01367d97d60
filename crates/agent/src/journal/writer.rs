//! Writes records in the order they come, with one sync for all that wait together.

use std::io;

use stoker_wire::record::Entry;
use tokio::sync::{mpsc, oneshot};

use super::file::JournalFile;

/// Something to be written.
#[derive(Debug)]
pub(crate) enum Job {
    Append { entry: Entry, is_synced: bool, answer: Answer },
    Rewrite { entries: Vec<Entry>, answer: Answer },
}

impl Job {
    /// Waits for no disk: handing it to another thread would take longer than doing it.
    fn is_quick(&self) -> bool {
        matches!(self, Self::Append { is_synced: false, .. })
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
    /// Starts writing; how it went for the session is told through the channel.
    pub(crate) fn start(
        file: JournalFile,
        done: mpsc::UnboundedSender<(u64, Result<(), String>)>,
    ) -> (Self, tokio::task::JoinHandle<()>) {
        let (jobs, received) = mpsc::unbounded_channel();
        (Self { jobs }, tokio::spawn(write_all(file, received, done)))
    }

    pub(crate) fn write(&self, job: Job) {
        // Without a writer the answer is dropped, which whoever waits for it notices.
        _ = self.jobs.send(job);
    }
}

/// More at once would keep the first ones waiting.
const BATCH_MAX: usize = 1024;

async fn write_all(
    mut file: JournalFile,
    mut jobs: mpsc::UnboundedReceiver<Job>,
    done: mpsc::UnboundedSender<(u64, Result<(), String>)>,
) {
    let mut batch = Vec::new();
    while jobs.recv_many(&mut batch, BATCH_MAX).await > 0 {
        let work = std::mem::take(&mut batch);
        let answers = if work.iter().all(Job::is_quick) {
            write_batch(&mut file, work)
        } else {
            let written = tokio::task::spawn_blocking(move || {
                let answers = write_batch(&mut file, work);
                (file, answers)
            });
            // Only a runtime that shuts down, or a bug, ends it before its time.
            let Ok((returned, answers)) = written.await else { return };
            file = returned;
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

type Answered = Vec<(Answer, Result<(), String>)>;

fn write_batch(file: &mut JournalFile, jobs: Vec<Job>) -> Answered {
    let mut answered = Answered::new();
    let mut entries = Vec::new();
    let mut waiting = Vec::new();
    let mut is_any_synced = false;
    for job in jobs {
        match job {
            Job::Append { entry, is_synced, answer } => {
                entries.push(entry);
                waiting.push(answer);
                is_any_synced |= is_synced;
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
