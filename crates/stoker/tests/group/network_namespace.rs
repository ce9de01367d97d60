//! A network namespace for agents, connected to this machine by one veth pair that can be cut.

use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Name of the veth interface inside the namespace.
const INNER_INTERFACE: &str = "out";
/// A MAC address without a network card: packets sent to it are lost silently.
const DEAD_MAC: &str = "02:00:00:00:00:01";
const PREFIX: &str = "stk";

/// A network namespace that is removed on drop; all processes in it must have ended before.
pub(crate) struct NetworkNamespace {
    /// Name of the namespace and of the veth interface outside it.
    name: String,
    /// Address of the interface outside.
    pub(crate) outer_address: Ipv4Addr,
    inner_address: Ipv4Addr,
}

impl NetworkNamespace {
    /// Creates a namespace; `None` if these tests are skipped.
    pub(crate) fn new() -> Option<Self> {
        let is_excluded = stoker_testkit::exclude("netns");
        if is_excluded {
            return None;
        }
        let hint = "or set STOKER_TEST_SKIP=netns to skip these tests";
        assert!(nix::unistd::geteuid().is_root(), "network namespaces need root: run as root, {hint}");
        assert!(
            Command::new("ip").arg("-V").output().is_ok(),
            "`ip` is missing: run `apt-get install iproute2`, {hint}"
        );
        remove_stale();
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        // 198.18.0.0/15 is reserved for benchmarks (RFC 2544). Each namespace uses a /30 of it.
        let block = (std::process::id().wrapping_mul(4).wrapping_add(number) % (1 << 14)) * 4;
        let [_, _, high, low] = block.to_be_bytes();
        let namespace = Self {
            name,
            outer_address: Ipv4Addr::new(198, 18, high, low + 1),
            inner_address: Ipv4Addr::new(198, 18, high, low + 2),
        };
        namespace.create();
        Some(namespace)
    }

    fn create(&self) {
        let Self { name, outer_address, inner_address } = self;
        ip(&["netns", "add", name]);
        ip(&["link", "add", name, "type", "veth", "peer", "name", INNER_INTERFACE, "netns", name]);
        ip(&["addr", "add", &format!("{outer_address}/30"), "dev", name]);
        ip(&["link", "set", name, "up"]);
        ip(&["-n", name, "addr", "add", &format!("{inner_address}/30"), "dev", INNER_INTERFACE]);
        ip(&["-n", name, "link", "set", INNER_INTERFACE, "up"]);
        ip(&["-n", name, "link", "set", "lo", "up"]);
    }

    /// Returns the command prefix to run a program in the namespace.
    pub(crate) fn prefix(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.name].map(str::to_owned).to_vec()
    }

    /// Takes the link down, which both sides can observe.
    pub(crate) fn link_down(&self) {
        ip(&["-n", &self.name, "link", "set", INNER_INTERFACE, "down"]);
    }

    pub(crate) fn link_up(&self) {
        ip(&["-n", &self.name, "link", "set", INNER_INTERFACE, "up"]);
    }

    /// Drops all packets silently: both sides keep sending to a MAC address without a network card.
    pub(crate) fn drop_packets(&self) {
        let Self { name, outer_address, inner_address } = self;
        let neighbor_args =
            |address: &Ipv4Addr| [address.to_string(), "lladdr".to_owned(), DEAD_MAC.to_owned()];
        let [address, keyword, mac] = neighbor_args(inner_address);
        ip(&["neigh", "replace", &address, &keyword, &mac, "dev", name, "nud", "permanent"]);
        let [address, keyword, mac] = neighbor_args(outer_address);
        ip(&[
            "-n",
            name,
            "neigh",
            "replace",
            &address,
            &keyword,
            &mac,
            "dev",
            INNER_INTERFACE,
            "nud",
            "permanent",
        ]);
    }

    pub(crate) fn restore_packets(&self) {
        let Self { name, outer_address, inner_address } = self;
        ip(&["neigh", "del", &inner_address.to_string(), "dev", name]);
        ip(&["-n", name, "neigh", "del", &outer_address.to_string(), "dev", INNER_INTERFACE]);
    }
}

impl Drop for NetworkNamespace {
    fn drop(&mut self) {
        remove(&self.name);
    }
}

/// Removes a namespace, even if it was created only partially.
fn remove(name: &str) {
    _ = Command::new("ip").args(["link", "del", name]).output();
    _ = Command::new("ip").args(["netns", "del", name]).output();
}

/// Removes namespaces of killed test processes.
fn remove_stale() {
    let namespaces = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let namespaces = String::from_utf8_lossy(&namespaces.stdout).into_owned();
    for name in namespaces.lines().filter_map(|line| line.split_whitespace().next()) {
        let creator_pid =
            name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        if creator_pid.is_some_and(|id| !std::path::Path::new(&format!("/proc/{id}")).exists()) {
            remove(name);
        }
    }
}

#[track_caller]
fn ip(args: &[&str]) {
    let output = Command::new("ip").args(args).output().unwrap();
    assert!(output.status.success(), "ip {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
