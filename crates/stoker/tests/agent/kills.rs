//! An agent that is killed repeatedly while it executes tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use stoker_engine::session::{AttemptKey, AttemptResult, FromAgent, ResultKind, ToAgent};
use stoker_testkit::TempFolder;

use super::harness::{Server, Session, shell};

const N_ATTEMPTS: u32 = 300;
const N_KILLS: usize = 25;

/// Results that the server has received.
#[derive(Default)]
struct Results {
    ends: BTreeMap<AttemptKey, ResultKind>,
}

impl Results {
    /// Records a result; a repeated result must be equal.
    fn record(&mut self, finished: &AttemptResult) {
        if let Some(previous) = self.ends.insert(finished.key, finished.end.clone()) {
            assert_eq!(previous, finished.end, "{} has two different results", finished.key);
        }
    }

    /// Talks to the agent until it disconnects (false) or all attempts have ended (true).
    async fn serve(&mut self, session: &mut Session, script: &dyn Fn(u32) -> String) -> bool {
        let mut sent: BTreeSet<u32> = BTreeSet::new();
        loop {
            let Some(message) = session.next().await else { return false };
            let finished_attempts = match message {
                FromAgent::Hello(hello) => hello.finished,
                FromAgent::Finished(finished) => vec![finished],
                _ => Vec::new(),
            };
            for finished in &finished_attempts {
                self.record(finished);
            }
            let keys = finished_attempts.iter().map(|finished| finished.key).collect();
            if !finished_attempts.is_empty() && !session.send(&ToAgent::Acknowledge { keys }).await {
                return false;
            }
            // Keep 8 attempts open, so that a kill always hits running and pending attempts. Attempts of an
            // earlier connection are sent again; the agent deduplicates them.
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
async fn killed_agent_executes_at_most_once_and_loses_no_result() {
    let folder = TempFolder::new();
    let mut server = Server::start().await;
    let lines = folder.file("lines");
    let script = {
        let lines = lines.display().to_string();
        move |instance: u32| format!("echo {instance} >> {lines}; sleep 0.0{}", instance % 3)
    };
    let mut results = Results::default();
    let mut n_kills = 0;
    loop {
        let mut agent = server.agent(&folder);
        let mut session = server.accept().await;
        let kill = async {
            if n_kills < N_KILLS {
                // Vary the delay, from the handshake to the middle of the work.
                tokio::time::sleep(Duration::from_millis(5 + (n_kills as u64 * 53) % 200)).await;
                agent.start_kill().unwrap();
                n_kills += 1;
            }
            std::future::pending::<()>().await;
        };
        let is_done = tokio::select! {
            is_done = results.serve(&mut session, &script) => is_done,
            () = kill => unreachable!(),
        };
        agent.kill().await.unwrap();
        if is_done {
            break;
        }
    }
    assert_eq!(server.n_joined, 1, "the agent joins once");
    let text = std::fs::read_to_string(&lines).unwrap();
    let mut n_lines_by_instance: BTreeMap<u32, usize> = BTreeMap::new();
    for line in text.lines() {
        *n_lines_by_instance.entry(line.parse().unwrap()).or_default() += 1;
    }
    let n_interrupted = results.ends.values().filter(|end| **end == ResultKind::Interrupted).count();
    println!("{n_kills} kills, {n_interrupted} of {N_ATTEMPTS} interrupted");
    assert!(n_kills > 5, "the agent was killed during its work");
    assert!((1..250).contains(&n_interrupted), "some attempts are interrupted and some succeed");
    for (key, end) in &results.ends {
        let n_lines = n_lines_by_instance.get(&key.instance.get()).copied().unwrap_or(0);
        match end {
            ResultKind::Succeeded => assert_eq!(n_lines, 1, "{key}"),
            ResultKind::Interrupted => assert!(n_lines <= 1, "{key} was executed {n_lines} times"),
            other => panic!("{key} ended as {other:?}"),
        }
    }
}
