//! A network of its own for agents, joined to this machine by one cable that can be cut.

use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The name of the cable on the island.
const CABLE: &str = "out";
/// The address of no network card.
const NOBODY: &str = "02:00:00:00:00:01";
const PREFIX: &str = "stk";

/// Removed when dropped; whatever runs there has to end before.
pub(crate) struct Island {
    /// Of the network, and of the cable on this side.
    name: String,
    /// The address of this machine on the cable.
    pub(crate) here: Ipv4Addr,
    there: Ipv4Addr,
}

impl Island {
    /// `None` when such tests are left out on purpose.
    pub(crate) fn new() -> Option<Self> {
        let skip = std::env::var("STOKER_TEST_SKIP").unwrap_or_default();
        if skip.split(',').any(|name| name.trim() == "netns") {
            return None;
        }
        let hint = "or set STOKER_TEST_SKIP=netns to leave these tests out";
        assert!(
            nix::unistd::geteuid().is_root(),
            "networks can be made by root alone: run this as root, {hint}"
        );
        assert!(Command::new("ip").arg("-V").output().is_ok(), "`apt-get install iproute2`, {hint}");
        sweep();
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        // Addresses for measuring networks: nobody uses them for anything else. Each island has four of them.
        let block = (std::process::id().wrapping_mul(4).wrapping_add(number) % (1 << 14)) * 4;
        let [_, _, high, low] = block.to_be_bytes();
        let island = Self {
            name,
            here: Ipv4Addr::new(198, 18, high, low + 1),
            there: Ipv4Addr::new(198, 18, high, low + 2),
        };
        island.make();
        Some(island)
    }

    fn make(&self) {
        let Self { name, here, there } = self;
        ip(&["netns", "add", name]);
        ip(&["link", "add", name, "type", "veth", "peer", "name", CABLE, "netns", name]);
        ip(&["addr", "add", &format!("{here}/30"), "dev", name]);
        ip(&["link", "set", name, "up"]);
        ip(&["-n", name, "addr", "add", &format!("{there}/30"), "dev", CABLE]);
        ip(&["-n", name, "link", "set", CABLE, "up"]);
        ip(&["-n", name, "link", "set", "lo", "up"]);
    }

    /// What to put before a command that is to run there.
    pub(crate) fn prefix(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.name].map(str::to_owned).to_vec()
    }

    /// The cable is pulled out; whoever is there sees that it is.
    pub(crate) fn pull_out(&self) {
        ip(&["-n", &self.name, "link", "set", CABLE, "down"]);
    }

    pub(crate) fn plug_in(&self) {
        ip(&["-n", &self.name, "link", "set", CABLE, "up"]);
    }

    /// Both sides go on sending, to nobody: no error, no sign, nothing arrives.
    pub(crate) fn swallow(&self) {
        let Self { name, here, there } = self;
        let nobody = |address: &Ipv4Addr| [address.to_string(), "lladdr".to_owned(), NOBODY.to_owned()];
        let [address, word, card] = nobody(there);
        ip(&["neigh", "replace", &address, &word, &card, "dev", name, "nud", "permanent"]);
        let [address, word, card] = nobody(here);
        ip(&["-n", name, "neigh", "replace", &address, &word, &card, "dev", CABLE, "nud", "permanent"]);
    }

    pub(crate) fn carry_again(&self) {
        let Self { name, here, there } = self;
        ip(&["neigh", "del", &there.to_string(), "dev", name]);
        ip(&["-n", name, "neigh", "del", &here.to_string(), "dev", CABLE]);
    }
}

impl Drop for Island {
    fn drop(&mut self) {
        remove(&self.name);
    }
}

/// Also where only half of it was made.
fn remove(name: &str) {
    _ = Command::new("ip").args(["link", "del", name]).output();
    _ = Command::new("ip").args(["netns", "del", name]).output();
}

/// Removes those of processes that were killed and could not do it themselves.
fn sweep() {
    let listed = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for name in listed.lines().filter_map(|line| line.split_whitespace().next()) {
        let made_by = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        if made_by.is_some_and(|id| !std::path::Path::new(&format!("/proc/{id}")).exists()) {
            remove(name);
        }
    }
}

#[track_caller]
fn ip(words: &[&str]) {
    let output = Command::new("ip").args(words).output().unwrap();
    assert!(output.status.success(), "ip {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}
