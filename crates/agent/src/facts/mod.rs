//! Facts about the machine: hostname, addresses, hardware, operating system.

mod network;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use stoker_model::{Json, JsonMap};

/// Collects facts. Facts that cannot be determined are omitted.
pub fn collect() -> JsonMap {
    let mut facts = JsonMap::new();
    let mut insert = |name: &str, value: Option<Json>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value);
        }
    };
    insert("hostname", hostname().map(Json::from));
    insert("machine_id", machine_id().map(Json::from));
    insert("addresses", addresses());
    insert("network_scheme", network::scheme());
    insert("mac", mac().map(Json::from));
    insert("manufacturer", line("/sys/class/dmi/id/sys_vendor").map(Json::from));
    insert("platform_name", line("/sys/class/dmi/id/product_name").map(Json::from));
    insert("os", fs::read_to_string("/etc/os-release").ok().map(|text| os(&text)));
    insert("kernel", line("/proc/sys/kernel/osrelease").map(Json::from));
    insert("architecture", Some(std::env::consts::ARCH.into()));
    insert("cores", std::thread::available_parallelism().ok().map(|cores| cores.get().into()));
    insert(
        "memory_bytes",
        fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory_bytes(&text)).map(Json::from),
    );
    insert("disks", disks());
    insert("boot_id", line("/proc/sys/kernel/random/boot_id").map(Json::from));
    facts
}

pub fn hostname() -> Option<String> {
    nix::unistd::gethostname().ok()?.into_string().ok()
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the id of the installed system, otherwise that of the hardware.
fn machine_id() -> Option<String> {
    ["/etc/machine-id", "/sys/class/dmi/id/product_uuid"]
        .iter()
        .find_map(|path| line(path).and_then(|text| valid_machine_id(&text)))
}

/// Returns the id in lower case. Systems that boot for the first time have the id `uninitialized`, and boards without
/// an id of their own report a single repeated digit.
fn valid_machine_id(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let digits: Vec<char> = text.chars().filter(|digit| *digit != '-').collect();
    let is_hex = digits.len() == 32 && digits.iter().all(char::is_ascii_hexdigit);
    (is_hex && digits.iter().any(|digit| *digit != digits[0])).then_some(text)
}

/// Addresses per interface, without loopback interfaces and interfaces without addresses.
fn addresses() -> Option<Json> {
    let mut addresses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for interface in getifaddrs().ok()? {
        if interface.flags.contains(InterfaceFlags::IFF_LOOPBACK) {
            continue;
        }
        let Some(address) = interface.address else { continue };
        let v4 = address.as_sockaddr_in().map(|address| address.ip().to_string());
        let v6 = address.as_sockaddr_in6().map(|address| address.ip().to_string());
        addresses.entry(interface.interface_name).or_default().extend(v4.or(v6));
    }
    let entry = |(name, mut list): (String, Vec<String>)| {
        list.sort();
        (name, Json::from(list))
    };
    Some(Json::Object(addresses.into_iter().filter(|(_, list)| !list.is_empty()).map(entry).collect()))
}

/// Returns the MAC address of the interface with the default route. Servers identify nodes by it and register
/// unknown nodes. Without a default route, returns the address of the first physical interface, otherwise of
/// the first virtual interface.
fn mac() -> Option<String> {
    let folder = Path::new("/sys/class/net");
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
    let default_interface = default_interface(&routes);
    names.sort_by_cached_key(|name| {
        let is_virtual = !folder.join(name).join("device").exists();
        (Some(name.as_str()) != default_interface, is_virtual, name.clone())
    });
    let address = |name: &String| fs::read_to_string(folder.join(name).join("address")).ok();
    names.iter().filter_map(address).find_map(|text| real_mac(&text))
}

/// Returns the interface of the default route with the lowest metric, from `/proc/net/route`.
fn default_interface(routes: &str) -> Option<&str> {
    let default_routes = routes.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [name, "00000000", _, _, _, _, metric, "00000000", ..] = fields[..] else { return None };
        Some((metric.parse::<u32>().ok()?, name))
    });
    default_routes.min().map(|(_, name)| name)
}

/// Returns the address if it is a 48-bit MAC. Virtual interfaces have none or all zeros.
fn real_mac(text: &str) -> Option<String> {
    let text = text.trim();
    let is_valid = text.len() == 17 && text.bytes().any(|byte| !matches!(byte, b'0' | b':'));
    is_valid.then(|| text.to_owned())
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

/// Returns the physical disks with their sizes.
fn disks() -> Option<Json> {
    let mut disks = BTreeMap::new();
    for entry in fs::read_dir("/sys/block").ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if ["loop", "ram", "zram", "dm-", "sr", "fd"].iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let sectors = fs::read_to_string(entry.path().join("size"))
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok());
        // `/sys/block/*/size` is in units of 512 bytes, independent of the disk's sector size.
        disks.insert(name, sectors.unwrap_or(0) * 512);
    }
    Some(disks.into_iter().map(|(name, bytes)| serde_json::json!({"name": name, "bytes": bytes})).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collected_facts_include_hostname_cores_and_memory() {
        let facts = collect();
        assert!(facts["hostname"].as_str().is_some_and(|name| !name.is_empty()));
        assert!(facts["cores"].as_u64().is_some_and(|cores| cores > 0));
        assert!(facts["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20));
        assert_eq!(facts, collect(), "collection is deterministic");
    }

    #[test]
    fn default_interface_has_the_lowest_metric() {
        let head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n";
        let route = |name: &str, to: &str, metric: u32, mask: &str| {
            format!("{name}\t{to}\t010200C0\t0003\t0\t0\t{metric}\t{mask}\t0\n")
        };
        let lan = route("eth1", "000200C0", 0, "00FFFFFF");
        let slow = route("wlan0", "00000000", 600, "00000000");
        let fast = route("eth0", "00000000", 100, "00000000");
        let half = route("tun0", "00000000", 0, "00000080");
        assert_eq!(default_interface(&format!("{head}{lan}{half}{slow}{fast}")), Some("eth0"));
        assert_eq!(default_interface(&format!("{head}{lan}")), None);
        assert_eq!(default_interface("nonsense\nmore of it\n"), None);
        assert_eq!(real_mac("02:fc:00:00:00:01\n").as_deref(), Some("02:fc:00:00:00:01"));
        for text in ["00:00:00:00:00:00\n", "", "80:00:02:08:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:00:01"]
        {
            assert_eq!(real_mac(text), None, "{text}");
        }
    }

    #[test]
    fn machine_id_must_identify_one_machine() {
        let id = "5b0f1f7e8c8d4a0fb0d6a1c2e3f40516";
        assert_eq!(valid_machine_id(id).as_deref(), Some(id));
        let uuid = "4C4C4544-0051-3010-8052-B4C04F564433";
        assert_eq!(valid_machine_id(uuid), Some(uuid.to_lowercase()));
        for text in [
            "uninitialized",
            "",
            "00000000-0000-0000-0000-000000000000",
            "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
            "5b0f",
            "zb0f1f7e8c8d4a0fb0d6a1c2e3f40516",
        ] {
            assert_eq!(valid_machine_id(text), None, "{text}");
        }
    }

    #[test]
    fn system_files_are_parsed() {
        assert_eq!(memory_bytes("MemFree: 1 kB\nMemTotal:       2048 kB\n"), Some(2 << 20));
        assert_eq!(memory_bytes("MemTotal: lots"), None);
        let release = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\nVERSION_ID='12'\n";
        assert_eq!(
            os(release),
            serde_json::json!({"id": "debian", "version": "12", "name": "Debian GNU/Linux 12"})
        );
    }
}
