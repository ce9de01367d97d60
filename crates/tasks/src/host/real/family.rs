//! All processes of an attempt, and how they are ended.
//!
//! A process belongs to an attempt if it is in the group of one that was started for it, if it carries the mark in its
//! environment, or if it descends from one that does; groups and sessions that such a process made belong to it too.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

/// The variable that carries the mark.
pub(super) const MARK: &str = "STOKER_ATTEMPT";

/// A process, told apart from a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessId {
    pub pid: i32,
    /// In ticks since the machine started.
    pub started: u64,
}

impl ProcessId {
    /// The process that has this number now.
    pub fn of(pid: i32) -> Option<Self> {
        Stat::read(pid).map(|stat| Self { pid, started: stat.started })
    }

    /// The process that was started between these two times. If they are the same it need not be looked for: that takes
    /// longer than most of what starting it takes, and its end takes longer too once it was looked at.
    pub(super) fn started_between(pid: i32, from: Option<Ticks>, to: Option<Ticks>) -> Option<Self> {
        match from {
            Some(Ticks(started)) if from == to => Some(Self { pid, started }),
            _ => Self::of(pid),
        }
    }
}

/// A time as the process table tells it, since the machine started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticks(u64);

impl Ticks {
    /// What every Linux shows to programs, whatever it counts in itself.
    const A_SECOND: u64 = 100;

    pub(super) fn now() -> Option<Self> {
        let now = Duration::from(clock_gettime(ClockId::CLOCK_BOOTTIME).ok()?);
        let parts = u64::from(now.subsec_nanos()) * Self::A_SECOND / 1_000_000_000;
        Some(Self(now.as_secs() * Self::A_SECOND + parts))
    }
}

/// What is known of an attempt's processes.
#[derive(Clone, Debug)]
pub struct Family {
    /// Processes that are known to belong to it, and whose groups do.
    pub leaders: Vec<ProcessId>,
    pub mark: String,
}

/// How long to wait between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Looks after `SIGKILL`; what is there after them hangs in the kernel.
const LOOKS_MAX: usize = 250;

/// Asks all of them to end, waits, ends them. Returns how many are left.
pub async fn end_family(mut family: Family, grace: Duration) -> usize {
    let mut members = family.look_again().await;
    if members.is_empty() {
        return 0;
    }
    signal(&members, Signal::SIGTERM);
    // A stopped process would not hear it.
    signal(&members, Signal::SIGCONT);
    let polite = async {
        while !members.is_empty() {
            tokio::time::sleep(LOOK).await;
            members = family.look_again().await;
        }
    };
    if tokio::time::timeout(grace, polite).await.is_ok() {
        return 0;
    }
    for _ in 0..LOOKS_MAX {
        let members = family.look_again().await;
        if members.is_empty() {
            return 0;
        }
        signal(&members, Signal::SIGKILL);
        tokio::time::sleep(LOOK).await;
    }
    family.look_again().await.len()
}

fn signal(members: &BTreeSet<i32>, signal: Signal) {
    for pid in members {
        // One that is gone already is what we want.
        _ = kill(Pid::from_raw(*pid), signal);
    }
}

impl Family {
    /// Whether any process of it lives.
    pub async fn is_alive(&self) -> bool {
        !self.look().await.is_empty()
    }

    /// Who was found once belongs to it from then on: without a mark it was known by its parents alone, and those may be the
    /// first to end.
    async fn look_again(&mut self) -> BTreeSet<i32> {
        let members = self.look().await;
        let known = members.iter().filter_map(|pid| ProcessId::of(*pid));
        let new: Vec<ProcessId> = known.filter(|process| !self.leaders.contains(process)).collect();
        self.leaders.extend(new);
        members
    }

    async fn look(&self) -> BTreeSet<i32> {
        let family = self.clone();
        tokio::task::spawn_blocking(move || family.members()).await.unwrap_or_default()
    }

    fn members(&self) -> BTreeSet<i32> {
        let own = std::process::id() as i32;
        let all = read_all();
        // Groups and sessions of the agent itself, which a process of an attempt may be in without having made them.
        let (own_group, own_session) = all.get(&own).map_or((0, 0), |stat| (stat.group, stat.session));
        let mut groups: BTreeSet<i32> = self
            .leaders
            .iter()
            .filter(|leader| owns_group(&all, **leader))
            .map(|leader| leader.pid)
            .collect();
        let is_same =
            |leader: &&ProcessId| all.get(&leader.pid).is_some_and(|stat| stat.started == leader.started);
        let mut members: BTreeSet<i32> =
            self.leaders.iter().filter(is_same).map(|leader| leader.pid).collect();
        let needle = format!("{MARK}={}\0", self.mark);
        for pid in all.keys() {
            if carries(*pid, needle.as_bytes()) {
                members.insert(*pid);
            }
        }
        loop {
            let n_before = members.len();
            for (pid, stat) in &all {
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
        members.retain(|pid| all.get(pid).is_some_and(|stat| !stat.is_dead));
        members
    }
}

/// A number is not given to a new process while a group has it; if somebody else has it now, the group is gone.
fn owns_group(all: &BTreeMap<i32, Stat>, leader: ProcessId) -> bool {
    all.get(&leader.pid).is_none_or(|stat| stat.started == leader.started)
}

fn carries(pid: i32, needle: &[u8]) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.starts_with(needle)
        || environment.windows(needle.len() + 1).any(|window| window[0] == 0 && &window[1..] == needle)
}

/// One line of the process table.
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

    /// The name of the program stands in brackets and may contain anything, brackets too.
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

fn read_all() -> BTreeMap<i32, Stat> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, Stat::read(pid)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_process_table_are_read_whatever_the_program_is_called() {
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
    fn this_process_is_found_and_another_with_its_number_is_not() {
        let own = ProcessId::of(std::process::id() as i32).unwrap();
        let all = read_all();
        assert!(owns_group(&all, own));
        assert!(!owns_group(&all, ProcessId { started: own.started + 1, ..own }));
    }
    #[test]
    fn a_process_is_known_by_the_time_of_its_start_as_if_it_had_been_looked_for() {
        for _ in 0..50 {
            let from = Ticks::now();
            let mut child = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
            let to = Ticks::now();
            let pid = child.id() as i32;
            let known = ProcessId::started_between(pid, from, to);
            let seen = ProcessId::of(pid);
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(known, seen, "{from:?} to {to:?}");
        }
    }
}
