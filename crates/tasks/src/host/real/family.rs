//! Discovery and termination of all processes of an attempt.
//!
//! A process belongs to an attempt if it is in the process group of a program started for the attempt, has
//! the marker of the attempt in its environment, or descends from such a process. Process groups and sessions
//! created by such processes belong to the attempt too.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

/// Environment variable with the marker.
pub(super) const MARK: &str = "STOKER_ATTEMPT";

/// Process identity that is safe against PID reuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessId {
    pub pid: i32,
    /// Start time in clock ticks since boot, from `/proc/PID/stat`.
    pub started: u64,
}

impl ProcessId {
    /// Returns the identity of the process that currently has this PID.
    pub fn of(pid: i32) -> Option<Self> {
        Stat::read(pid).map(|stat| Self { pid, started: stat.started })
    }

    /// Returns the identity of a process spawned between two times. If both are the same tick, `/proc` is not
    /// read: reading it costs more than the spawn itself and also delays the exit of the process.
    pub(super) fn started_between(pid: i32, from: Option<Ticks>, to: Option<Ticks>) -> Option<Self> {
        match from {
            Some(Ticks(started)) if from == to => Some(Self { pid, started }),
            _ => Self::of(pid),
        }
    }
}

/// Time since boot in the unit of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticks(u64);

impl Ticks {
    /// `USER_HZ`, which is 100 on Linux independent of the tick rate of the kernel.
    const PER_SECOND: u64 = 100;

    pub(super) fn now() -> Option<Self> {
        let now = Duration::from(clock_gettime(ClockId::CLOCK_BOOTTIME).ok()?);
        let subsecond_ticks = u64::from(now.subsec_nanos()) * Self::PER_SECOND / 1_000_000_000;
        Some(Self(now.as_secs() * Self::PER_SECOND + subsecond_ticks))
    }
}

/// Identification of the processes of an attempt: group leaders and the marker.
#[derive(Clone, Debug)]
pub struct ProcessTree {
    /// Recorded processes of the attempt; their process groups belong to the attempt too.
    pub leaders: Vec<ProcessId>,
    pub marker: String,
}

/// Interval between scans of the process table.
const SCAN_INTERVAL: Duration = Duration::from_millis(20);

/// Number of scans after `SIGKILL`, five seconds in total. Processes that survive are stuck in the kernel.
const KILL_SCANS_MAX: usize = 250;

/// Sends `SIGTERM`, waits for the grace period, then sends `SIGKILL`. Returns the number of remaining
/// processes.
pub async fn terminate_process_tree(mut family: ProcessTree, grace: Duration) -> usize {
    let mut members = family.scan_and_track().await;
    if members.is_empty() {
        return 0;
    }
    signal(&members, Signal::SIGTERM);
    // A stopped process handles SIGTERM only after it is continued.
    signal(&members, Signal::SIGCONT);
    let graceful = async {
        while !members.is_empty() {
            tokio::time::sleep(SCAN_INTERVAL).await;
            members = family.scan_and_track().await;
        }
    };
    if tokio::time::timeout(grace, graceful).await.is_ok() {
        return 0;
    }
    for _ in 0..KILL_SCANS_MAX {
        let members = family.scan_and_track().await;
        if members.is_empty() {
            return 0;
        }
        signal(&members, Signal::SIGKILL);
        tokio::time::sleep(SCAN_INTERVAL).await;
    }
    family.scan_and_track().await.len()
}

fn signal(members: &BTreeSet<i32>, signal: Signal) {
    for pid in members {
        // The process may have exited already.
        _ = kill(Pid::from_raw(*pid), signal);
    }
}

impl ProcessTree {
    /// Reports whether any process of the attempt is running.
    pub async fn is_alive(&self) -> bool {
        !self.scan().await.is_empty()
    }

    /// Scans and adds the result to `leaders`: a process without the marker is recognized only through its
    /// parent, which may exit before it.
    async fn scan_and_track(&mut self) -> BTreeSet<i32> {
        let members = self.scan().await;
        let identities = members.iter().filter_map(|pid| ProcessId::of(*pid));
        let new: Vec<ProcessId> = identities.filter(|process| !self.leaders.contains(process)).collect();
        self.leaders.extend(new);
        members
    }

    async fn scan(&self) -> BTreeSet<i32> {
        let family = self.clone();
        tokio::task::spawn_blocking(move || family.members()).await.unwrap_or_default()
    }

    fn members(&self) -> BTreeSet<i32> {
        let own = std::process::id() as i32;
        let processes = read_process_table();
        // The group and session of the agent, which a process of the attempt may share without having created
        // them.
        let (own_group, own_session) = processes.get(&own).map_or((0, 0), |stat| (stat.group, stat.session));
        let mut groups: BTreeSet<i32> = self
            .leaders
            .iter()
            .filter(|leader| owns_group(&processes, **leader))
            .map(|leader| leader.pid)
            .collect();
        let is_same = |leader: &&ProcessId| {
            processes.get(&leader.pid).is_some_and(|stat| stat.started == leader.started)
        };
        let mut members: BTreeSet<i32> =
            self.leaders.iter().filter(is_same).map(|leader| leader.pid).collect();
        let needle = format!("{MARK}={}\0", self.marker);
        for pid in processes.keys() {
            if has_marker(*pid, needle.as_bytes()) {
                members.insert(*pid);
            }
        }
        loop {
            let n_before = members.len();
            for (pid, stat) in &processes {
                let is_member = members.contains(pid)
                    || members.contains(&stat.parent)
                    || groups.contains(&stat.group)
                    || groups.contains(&stat.session);
                if is_member {
                    members.insert(*pid);
                    groups.extend(
                        [stat.group, stat.session]
                            .into_iter()
                            .filter(|id| *id > 1 && *id != own_group && *id != own_session),
                    );
                }
            }
            members.remove(&own);
            members.remove(&1);
            if members.len() == n_before {
                break;
            }
        }
        members.retain(|pid| processes.get(pid).is_some_and(|stat| !stat.is_dead));
        members
    }
}

/// Reports whether the process group of a leader still belongs to it. A PID is not reused while a process
/// group has it as its ID. If the PID now belongs to a different process, the group has ended.
fn owns_group(processes: &BTreeMap<i32, Stat>, leader: ProcessId) -> bool {
    processes.get(&leader.pid).is_none_or(|stat| stat.started == leader.started)
}

fn has_marker(pid: i32, needle: &[u8]) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.starts_with(needle)
        || environment.windows(needle.len() + 1).any(|window| window[0] == 0 && &window[1..] == needle)
}

/// Fields of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    is_dead: bool,
    parent: i32,
    group: i32,
    session: i32,
    started: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses a line of `/proc/PID/stat`. The program name is in parentheses and may itself contain
    /// parentheses and spaces.
    fn parse(line: &str) -> Option<Self> {
        let (_, after) = line.rsplit_once(')')?;
        let fields: Vec<&str> = after.split_whitespace().collect();
        let number = |idx: usize| fields.get(idx)?.parse().ok();
        Some(Self {
            is_dead: matches!(*fields.first()?, "Z" | "X" | "x"),
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

fn read_process_table() -> BTreeMap<i32, Stat> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, Stat::read(pid)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_parsed_with_any_program_name() {
        let rest = "1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 1";
        for name in ["sh", "a) Z 9 (b", ""] {
            let stat = Stat::parse(&format!("42 ({name}) S {rest}")).unwrap();
            assert_eq!(stat, Stat { is_dead: false, parent: 1, group: 42, session: 42, started: 98765 });
        }
        assert!(Stat::parse(&format!("42 (sh) Z {rest}")).unwrap().is_dead);
        assert_eq!(Stat::parse("42 (sh"), None);
        assert_eq!(Stat::parse("42 (sh) S 1"), None);
    }

    #[test]
    fn reused_pid_is_not_the_same_process() {
        let own = ProcessId::of(std::process::id() as i32).unwrap();
        let processes = read_process_table();
        assert!(owns_group(&processes, own));
        assert!(!owns_group(&processes, ProcessId { started: own.started + 1, ..own }));
    }
    #[test]
    fn inferred_start_time_matches_proc() {
        for _ in 0..50 {
            let from = Ticks::now();
            let mut child = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
            let to = Ticks::now();
            let pid = child.id() as i32;
            let inferred = ProcessId::started_between(pid, from, to);
            let actual = ProcessId::of(pid);
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(inferred, actual, "{from:?} to {to:?}");
        }
    }
}
