//! Servers and agents are killed in the middle of runs, again and again, and nothing is lost and nothing done twice.
//!
//! Every task writes its attempt into one file of its node, and then, unless it is there, its line into another. The
//! first tells whether an attempt was carried out twice, the second whether every task did its work.

#![expect(clippy::print_stdout, reason = "which seed it was is shown where a test fails")]

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
fn a_server_that_is_killed_fifty_times_loses_nothing() {
    let mut run = Run::new("server", 50);
    run.go_on(|site, _| {
        site.kill_server();
        site.start_server();
    });
    let attempts = run.judge();
    assert!(attempts.values().all(|n_attempts| *n_attempts == 1), "no agent was interrupted: {attempts:?}");
}

#[test]
fn agents_that_are_killed_fifty_times_lose_nothing() {
    let mut run = Run::new("agents", 50);
    run.go_on(|site, dice| {
        let place = dice.below(N_NODES as u64) as usize;
        site.kill_agent(place);
        site.start_agent(place);
    });
    run.judge();
}

#[test]
fn both_can_be_killed_at_once() {
    let mut run = Run::new("both", 16);
    run.go_on(|site, dice| {
        let place = dice.below(N_NODES as u64) as usize;
        match dice.below(3) {
            0 => {
                site.kill_server();
                site.kill_agent(place);
            }
            1 => {
                site.kill_agent(place);
                site.kill_server();
            }
            _ => {
                site.kill_server();
                for place in 0..N_NODES {
                    site.kill_agent(place);
                }
            }
        }
        // Agents come first now and then, and find nobody.
        let is_late = dice.below(2) == 0;
        if !is_late {
            site.start_server();
        }
        for place in 0..N_NODES {
            site.ensure_agent(place);
        }
        if is_late {
            site.start_server();
        }
    });
    run.judge();
}

/// A run during which something is killed so many times.
pub(crate) struct Run {
    pub(crate) site: Site,
    id: i64,
    n_kills: usize,
    dice: Dice,
    began: Instant,
}

impl Run {
    fn new(name: &str, n_kills: usize) -> Self {
        Self::on(Site::new(&json!([])), name, n_kills)
    }

    /// On a site without tasks.
    pub(crate) fn on(site: Site, name: &str, n_kills: usize) -> Self {
        let seed = std::env::var("STOKER_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(SEED);
        // Shown where a test fails.
        println!("{name}: STOKER_TEST_SEED={seed}");
        site.upload(&tasks(&site));
        for node in &site.nodes {
            touch(&site.file(&format!("lines-{node}")));
        }
        let id = site.execute(&json!({}));
        Self { site, id, n_kills, dice: Dice(seed), began: Instant::now() }
    }

    /// Kills whenever so much more was done, and a little later.
    pub(crate) fn go_on(&mut self, mut kill: impl FnMut(&mut Site, &mut Dice)) {
        for n_killed in 0..self.n_kills {
            let n_done = n_killed * (N_INSTANCES - 30) / self.n_kills;
            while self.n_lines() < n_done {
                assert!(
                    self.began.elapsed() < LONG,
                    "{} of {N_INSTANCES} after {n_killed} kills",
                    self.n_lines()
                );
                std::thread::sleep(Duration::from_millis(2));
            }
            std::thread::sleep(Duration::from_millis(self.dice.below(40)));
            kill(&mut self.site, &mut self.dice);
        }
        assert!(self.n_lines() < N_INSTANCES, "it was killed too late to prove anything");
    }

    fn n_lines(&self) -> usize {
        self.site.nodes.iter().map(|node| self.site.read(&format!("lines-{node}")).lines().count()).sum()
    }

    /// Looks at everything that the run left: how many attempts each instance had.
    pub(crate) fn judge(&self) -> BTreeMap<i64, i64> {
        let shown = self.site.ended(self.id);
        println!("{} kills, the end after {:.1?}", self.n_kills, self.began.elapsed());
        assert_eq!(shown["status"], "ready", "{shown}");
        let of_nodes = |kind: &str| {
            let nodes = self.site.nodes.iter();
            nodes.map(|node| self.site.read(&format!("{kind}-{node}"))).collect()
        };
        let evidence = Evidence {
            tasks: (0..N_TASKS).map(name).collect(),
            lines: of_nodes("lines"),
            attempts: of_nodes("attempts"),
            history: self.site.history(self.id),
            events: self.site.events(self.id),
        };
        let (attempts, doubts) = evidence.judge();
        assert!(doubts.is_empty(), "{}", doubts.join("\n"));
        attempts
    }
}

fn name(index: usize) -> String {
    format!("t-{index:03}")
}

fn tasks(site: &Site) -> Value {
    (0..N_TASKS).map(|index| task(&name(index), &site.file(""))).collect()
}

fn task(name: &str, folder: &Path) -> Value {
    let folder = folder.display();
    let cmd = format!(
        "cd {folder}\n\
         echo \"$STOKER_ATTEMPT\" >>attempts-$STOKER_NODE\n\
         sleep 0.0$((RANDOM % 5))\n\
         grep -qx {name} lines-$STOKER_NODE || echo {name} >>lines-$STOKER_NODE\n"
    );
    json!({
        "id": name, "type": "shell", "version": "2.0.0", "roles": "*",
        "parameters": {"cmd": cmd, "timeout": 60, "retries": 60, "interval": 0, "retry_interrupted": true},
    })
}

/// The same numbers for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    /// Of `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
