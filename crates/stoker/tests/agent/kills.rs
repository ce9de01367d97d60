//! An agent that is killed again and again while it works.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use stoker_engine::session::{AttemptKey, End, Finished, FromAgent, ToAgent};
use stoker_testkit::Folder;

use super::harness::{Server, Session, shell};

const N_ATTEMPTS: u32 = 300;
const N_KILLS: usize = 25;

/// What a server knows.
#[derive(Default)]
struct Book {
    ends: BTreeMap<AttemptKey, End>,
}

impl Book {
    /// Writes an end down; a second one of the same attempt must be the same.
    fn enter(&mut self, finished: &Finished) {
        if let Some(before) = self.ends.insert(finished.key, finished.end.clone()) {
            assert_eq!(before, finished.end, "{} ended twice", finished.key);
        }
    }

    /// Talks until the agent is gone or nothing is left to do. Says whether the latter.
    async fn converse(&mut self, session: &mut Session, script: &dyn Fn(u32) -> String) -> bool {
        let mut sent: BTreeSet<u32> = BTreeSet::new();
        loop {
            let Some(message) = session.next().await else { return false };
            let ended = match message {
                FromAgent::Hello(hello) => hello.finished,
                FromAgent::Finished(finished) => vec![finished],
                _ => Vec::new(),
            };
            for finished in &ended {
                self.enter(finished);
            }
            let keys = ended.iter().map(|finished| finished.key).collect();
            if !ended.is_empty() && !session.send(&ToAgent::Acknowledge { keys }).await {
                return false;
            }
            // A few at a time, so that a kill always meets some that run and some that wait. Those of an earlier connection
            // are sent again: the agent knows which it has seen.
            let open = (0..N_ATTEMPTS).filter(|instance| !self.ends.contains_key(&shell(*instance, "").key));
            let next: Vec<u32> = open.take(8).filter(|instance| sent.insert(*instance)).collect();
            for instance in next {
                if !session.send(&ToAgent::Start(shell(instance, &script(instance)))).await {
                    return false;
                }
            }
            if self.ends.len() == N_ATTEMPTS as usize {
                return true;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_effect_happens_at_most_once_and_no_result_is_lost() {
    let folder = Folder::new();
    let mut server = Server::start().await;
    let lines = folder.file("lines");
    let script = {
        let lines = lines.display().to_string();
        move |instance: u32| format!("echo {instance} >> {lines}; sleep 0.0{}", instance % 3)
    };
    let mut book = Book::default();
    let mut n_kills = 0;
    loop {
        let mut agent = server.agent(&folder);
        let mut session = server.accept().await;
        let kill = async {
            if n_kills < N_KILLS {
                // Different moments, from the greeting to the middle of the work.
                tokio::time::sleep(Duration::from_millis(5 + (n_kills as u64 * 53) % 200)).await;
                agent.start_kill().unwrap();
                n_kills += 1;
            }
            std::future::pending::<()>().await;
        };
        let is_done = tokio::select! {
            is_done = book.converse(&mut session, &script) => is_done,
            () = kill => unreachable!(),
        };
        agent.kill().await.unwrap();
        if is_done {
            break;
        }
    }
    assert_eq!(server.n_joined, 1, "it joins once");
    let text = std::fs::read_to_string(&lines).unwrap();
    let mut written: BTreeMap<u32, usize> = BTreeMap::new();
    for line in text.lines() {
        *written.entry(line.parse().unwrap()).or_default() += 1;
    }
    let n_interrupted = book.ends.values().filter(|end| **end == End::Interrupted).count();
    println!("{n_kills} kills, {n_interrupted} of {N_ATTEMPTS} interrupted");
    assert!(n_kills > 5, "it was killed in the middle");
    assert!((1..250).contains(&n_interrupted), "some kills hit something, and something succeeds");
    for (key, end) in &book.ends {
        let n_lines = written.get(&key.instance).copied().unwrap_or(0);
        match end {
            End::Succeeded => assert_eq!(n_lines, 1, "{key}"),
            End::Interrupted => assert!(n_lines <= 1, "{key} happened {n_lines} times"),
            other => panic!("{key} ended as {other:?}"),
        }
    }
}
