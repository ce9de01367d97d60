//! Servers and agents are killed repeatedly during runs; no result is lost and no attempt is executed twice.
//!
//! Every task appends its attempt to one file of its node, and then its name to another file, unless the name
//! is already there. The first file shows whether an attempt was executed twice, the second whether every
//! task was executed.

#![expect(clippy::print_stdout, reason = "the seed is printed with a failed test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::evidence::Evidence;
use crate::site::{LONG, Site, touch};

const N_TASKS: usize = 110;
const N_NODES: usize = 3;
const N_INSTANCES: usize = N_TASKS * N_NODES;
const SEED: u64 = 20_261_115;

#[test]
fn run_survives_fifty_server_kills() {
    let mut run = Run::new("server", 50);
    run.kill_repeatedly(|site, _| {
        site.kill_server();
        site.start_server();
    });
    let attempts = run.verify();
    assert!(attempts.values().all(|n_attempts| *n_attempts == 1), "an attempt was interrupted: {attempts:?}");
}

#[test]
fn run_survives_fifty_agent_kills() {
    let mut run = Run::new("agents", 50);
    run.kill_repeatedly(|site, rng| {
        let node_idx = rng.below(N_NODES as u64) as usize;
        site.kill_agent(node_idx);
        site.start_agent(node_idx);
    });
    run.verify();
}

#[test]
fn run_survives_concurrent_kills_of_server_and_agents() {
    let mut run = Run::new("both", 16);
    run.kill_repeatedly(|site, rng| {
        let node_idx = rng.below(N_NODES as u64) as usize;
        match rng.below(3) {
            0 => {
                site.kill_server();
                site.kill_agent(node_idx);
            }
            1 => {
                site.kill_agent(node_idx);
                site.kill_server();
            }
            _ => {
                site.kill_server();
                for node_idx in 0..N_NODES {
                    site.kill_agent(node_idx);
                }
            }
        }
        // Sometimes start the agents first, while the server is down.
        let starts_server_last = rng.below(2) == 0;
        if !starts_server_last {
            site.start_server();
        }
        for node_idx in 0..N_NODES {
            site.ensure_agent(node_idx);
        }
        if starts_server_last {
            site.start_server();
        }
    });
    run.verify();
}

/// A run during which processes are killed `n_kills` times.
pub(crate) struct Run {
    pub(crate) site: Site,
    id: i64,
    n_kills: usize,
    rng: SeededRng,
    started_at: Instant,
}

impl Run {
    fn new(name: &str, n_kills: usize) -> Self {
        Self::on(Site::new(&json!([])), name, n_kills)
    }

    /// Starts a run on a site without tasks.
    pub(crate) fn on(site: Site, name: &str, n_kills: usize) -> Self {
        let seed = std::env::var("STOKER_TEST_SEED");
        let seed = seed.map_or(SEED, |text| text.parse().expect("STOKER_TEST_SEED is a number"));
        // Printed with a failed test, to replay its choices. The timing of the processes still depends on the
        // machine.
        println!("{name}: STOKER_TEST_SEED={seed}");
        site.upload(&tasks(&site));
        for node in &site.nodes {
            touch(&site.file(&format!("lines-{node}")));
        }
        let id = site.execute(&json!({}));
        Self { site, id, n_kills, rng: SeededRng(seed), started_at: Instant::now() }
    }

    /// Kills after each share of the work, with a random delay.
    pub(crate) fn kill_repeatedly(&mut self, mut kill: impl FnMut(&mut Site, &mut SeededRng)) {
        for n_killed in 0..self.n_kills {
            let n_done = n_killed * (N_INSTANCES - 30) / self.n_kills;
            while self.n_lines() < n_done {
                assert!(
                    self.started_at.elapsed() < LONG,
                    "{} of {N_INSTANCES} after {n_killed} kills",
                    self.n_lines()
                );
                std::thread::sleep(Duration::from_millis(2));
            }
            std::thread::sleep(Duration::from_millis(self.rng.below(40)));
            kill(&mut self.site, &mut self.rng);
        }
        assert!(self.n_lines() < N_INSTANCES, "the run ended before the last kill");
    }

    fn n_lines(&self) -> usize {
        self.site.nodes.iter().map(|node| self.site.read(&format!("lines-{node}")).lines().count()).sum()
    }

    /// Waits for the end, verifies the traces of the run, and returns the number of attempts per instance.
    pub(crate) fn verify(&self) -> BTreeMap<i64, i64> {
        let details = self.site.wait_for_end(self.id);
        println!("{} kills, ended after {:.1?}", self.n_kills, self.started_at.elapsed());
        assert_eq!(details["status"], "ready", "{details}");
        let read_all = |prefix: &str| {
            let nodes = self.site.nodes.iter();
            nodes.map(|node| self.site.read(&format!("{prefix}-{node}"))).collect()
        };
        let evidence = Evidence {
            tasks: (0..N_TASKS).map(name).collect(),
            lines: read_all("lines"),
            attempts: read_all("attempts"),
            history: self.site.history(self.id),
            events: self.site.events(self.id),
        };
        let (attempts, violations) = evidence.verify();
        assert!(violations.is_empty(), "{}", violations.join("\n"));
        attempts
    }
}

fn name(index: usize) -> String {
    format!("t-{index:03}")
}

fn tasks(site: &Site) -> Value {
    (0..N_TASKS).map(|index| task(&name(index), index % 5, &site.file(""))).collect()
}

/// Returns a task that takes a few hundredths of a second.
fn task(name: &str, hundredths: usize, folder: &Path) -> Value {
    let folder = folder.display();
    let cmd = format!(
        "cd {folder}\n\
         echo \"$STOKER_ATTEMPT\" >>attempts-$STOKER_NODE\n\
         sleep 0.0{hundredths}\n\
         grep -qx {name} lines-$STOKER_NODE || echo {name} >>lines-$STOKER_NODE\n"
    );
    json!({
        "id": name, "type": "shell", "version": "2.0.0", "roles": "*",
        "parameters": {"cmd": cmd, "timeout": 60, "retries": 60, "interval": 0, "retry_interrupted": true},
    })
}

/// Deterministic random numbers.
pub(crate) struct SeededRng(pub(crate) u64);

impl SeededRng {
    /// Returns the next number of `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
