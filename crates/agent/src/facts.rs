//! What an agent can tell about its machine.

use std::collections::BTreeMap;
use std::fs;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use stoker_model::{Json, JsonMap};

/// Looks at the machine. What cannot be found out is left out.
pub fn collect() -> JsonMap {
    let mut facts = JsonMap::new();
    let mut tell = |name: &str, value: Option<Json>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value);
        }
    };
    tell("hostname", hostname().map(Json::from));
    tell("addresses", addresses());
    tell("os", fs::read_to_string("/etc/os-release").ok().map(|text| os(&text)));
    tell("kernel", line("/proc/sys/kernel/osrelease").map(Json::from));
    tell("architecture", Some(std::env::consts::ARCH.into()));
    tell("cores", std::thread::available_parallelism().ok().map(|cores| cores.get().into()));
    tell(
        "memory_bytes",
        fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory_bytes(&text)).map(Json::from),
    );
    tell("disks", disks());
    tell("boot_id", line("/proc/sys/kernel/random/boot_id").map(Json::from));
    facts
}

/// How the machine calls itself.
pub fn hostname() -> Option<String> {
    nix::unistd::gethostname().ok()?.into_string().ok()
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// Interfaces with their addresses, without those that lead nowhere.
fn addresses() -> Option<Json> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for interface in getifaddrs().ok()? {
        if interface.flags.contains(InterfaceFlags::IFF_LOOPBACK) {
            continue;
        }
        let Some(address) = interface.address else { continue };
        let v4 = address.as_sockaddr_in().map(|address| address.ip().to_string());
        let v6 = address.as_sockaddr_in6().map(|address| address.ip().to_string());
        found.entry(interface.interface_name).or_default().extend(v4.or(v6));
    }
    let entry = |(name, mut list): (String, Vec<String>)| {
        list.sort();
        (name, Json::from(list))
    };
    Some(Json::Object(found.into_iter().filter(|(_, list)| !list.is_empty()).map(entry).collect()))
}

fn os(release: &str) -> Json {
    let field = |name: &str| {
        let value = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(value.trim_matches(['"', '\'']).to_owned())
    };
    serde_json::json!({"id": field("ID"), "version": field("VERSION_ID"), "name": field("PRETTY_NAME")})
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Disks that are there for real, with their size.
fn disks() -> Option<Json> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/sys/block").ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if ["loop", "ram", "zram", "dm-", "sr", "fd"].iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let sectors = fs::read_to_string(entry.path().join("size"))
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok());
        // The kernel counts in sectors of 512 bytes, whatever the disk does.
        found.insert(name, sectors.unwrap_or(0) * 512);
    }
    Some(found.into_iter().map(|(name, bytes)| serde_json::json!({"name": name, "bytes": bytes})).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_a_name_cores_and_memory() {
        let facts = collect();
        assert!(facts["hostname"].as_str().is_some_and(|name| !name.is_empty()));
        assert!(facts["cores"].as_u64().is_some_and(|cores| cores > 0));
        assert!(facts["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20));
        assert_eq!(facts, collect(), "what does not change is told alike");
    }

    #[test]
    fn files_of_the_system_are_read() {
        assert_eq!(memory_bytes("MemFree: 1 kB\nMemTotal:       2048 kB\n"), Some(2 << 20));
        assert_eq!(memory_bytes("MemTotal: lots"), None);
        let release = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\nVERSION_ID='12'\n";
        assert_eq!(
            os(release),
            serde_json::json!({"id": "debian", "version": "12", "name": "Debian GNU/Linux 12"})
        );
    }
}
