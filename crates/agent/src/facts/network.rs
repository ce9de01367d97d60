//! Network configuration of the machine: interfaces, addresses and routes.
//!
//! The scheme is part of the node's record in plans, where a difference counts as a change. It therefore omits
//! everything that changes without the configuration: loopback and link-local addresses, temporary IPv6 addresses,
//! lifetimes, and the interfaces of containers and virtual machines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use serde_json::json;
use stoker_model::Json;

use super::{line, real_mac};

/// Name prefixes of interfaces that containers and virtual machines create.
const EPHEMERAL: [&str; 12] =
    ["cali", "cilium", "cni", "docker", "flannel", "lxc", "lxd", "podman", "tap", "veth", "virbr", "vnet"];

/// `RTF_UP`: the route is usable.
const ROUTE_UP: u32 = 0x0001;
/// `RTF_REJECT`: the kernel rejects packets; `ip route` calls it unreachable.
const ROUTE_REJECT: u32 = 0x0200;
/// `RTF_DYNAMIC | RTF_MODIFIED | RTF_ADDRCONF | RTF_CACHE`: created by ICMP redirects, router advertisements or the
/// route cache instead of the configuration.
const ROUTE_LEARNED: u32 = 0x0010 | 0x0020 | 0x0004_0000 | 0x0100_0000;
/// `IFA_F_TEMPORARY`, `IFA_F_DADFAILED`, `IFA_F_DEPRECATED` and `IFA_F_TENTATIVE` in `/proc/net/if_inet6`.
const ADDRESS_TRANSIENT: u32 = 0x01 | 0x08 | 0x20 | 0x40;

/// Collects the network scheme; `None` if the interfaces cannot be listed.
pub(super) fn scheme() -> Option<Json> {
    let mut interfaces: BTreeMap<String, Json> = BTreeMap::new();
    let mut addresses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let transient = transient_addresses(&fs::read_to_string("/proc/net/if_inet6").unwrap_or_default());
    for interface in getifaddrs().ok()? {
        let name = interface.interface_name;
        if interface.flags.contains(InterfaceFlags::IFF_LOOPBACK) || is_ephemeral(&name) {
            continue;
        }
        interfaces.entry(name.clone()).or_insert_with(|| described(&name));
        let Some(address) = interface.address else { continue };
        let mask = interface.netmask;
        let v4 = address.as_sockaddr_in().map(|address| {
            let mask = mask.as_ref().and_then(|mask| mask.as_sockaddr_in()).map(|mask| mask.ip().to_bits());
            format!("{}/{}", address.ip(), mask.unwrap_or(u32::MAX).count_ones())
        });
        let v6 = address.as_sockaddr_in6().filter(|address| is_configured(&address.ip(), &transient));
        let v6 = v6.map(|address| {
            let mask = mask.as_ref().and_then(|mask| mask.as_sockaddr_in6()).map(|mask| mask.ip().to_bits());
            format!("{}/{}", address.ip(), mask.unwrap_or(u128::MAX).count_ones())
        });
        if let Some(address) = v4.or(v6) {
            addresses.entry(name).or_default().insert(address);
        }
    }
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mut routes = v4_routes(&read("/proc/net/route"));
    routes.extend(v6_routes(&read("/proc/net/ipv6_route")));
    let routes: Vec<Json> =
        routes.iter().filter(|route| interfaces.contains_key(&route.interface)).map(Route::json).collect();
    Some(json!({"interfaces": interfaces, "addresses": addresses, "routes": routes}))
}

fn is_ephemeral(name: &str) -> bool {
    // Docker names the bridge of a network after its id. Other bridges, such as `br-mgmt`, are configured.
    let network = name.strip_prefix("br-").filter(|id| id.len() == 12);
    network.is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()))
        || EPHEMERAL.iter().any(|prefix| name.starts_with(prefix))
}

fn described(name: &str) -> Json {
    let folder = Path::new("/sys/class/net").join(name);
    let read = |file: &str| folder.join(file).to_str().and_then(line);
    let mtu = read("mtu").and_then(|text| text.parse::<u32>().ok());
    json!({"mac": read("address").and_then(|text| real_mac(&text)), "mtu": mtu})
}

fn is_configured(address: &Ipv6Addr, transient: &BTreeSet<Ipv6Addr>) -> bool {
    !is_link_local(address) && !transient.contains(address)
}

fn is_link_local(address: &Ipv6Addr) -> bool {
    address.segments()[0] & 0xffc0 == 0xfe80
}

/// Returns the addresses in `/proc/net/if_inet6` that come and go without a change of the configuration.
fn transient_addresses(text: &str) -> BTreeSet<Ipv6Addr> {
    let addresses = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [address, _, _, _, flags, _] = fields[..] else { return None };
        let is_transient = u32::from_str_radix(flags, 16).ok()? & ADDRESS_TRANSIENT != 0;
        v6_address(address).filter(|_| is_transient)
    });
    addresses.collect()
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Route {
    to: String,
    via: Option<String>,
    interface: String,
    metric: u32,
}

impl Route {
    fn json(&self) -> Json {
        json!({"to": self.to, "via": self.via, "interface": self.interface, "metric": self.metric})
    }
}

/// Parses `/proc/net/route`: addresses are in host byte order, in hexadecimal.
fn v4_routes(text: &str) -> BTreeSet<Route> {
    let routes = text.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [interface, to, via, flags, _, _, metric, mask, ..] = fields[..] else { return None };
        let number = |text: &str| u32::from_str_radix(text, 16).ok();
        let address = |text: &str| number(text).map(|bits| Ipv4Addr::from(bits.to_ne_bytes()));
        if !is_configured_route(number(flags)?) {
            return None;
        }
        let (to, mask) = (address(to)?, number(mask)?.count_ones());
        if to.is_link_local() {
            return None;
        }
        let via = address(via)?;
        Some(Route {
            to: if mask == 0 { "default".to_owned() } else { format!("{to}/{mask}") },
            via: (!via.is_unspecified()).then(|| via.to_string()),
            interface: interface.to_owned(),
            metric: metric.parse().ok()?,
        })
    });
    routes.collect()
}

/// Parses `/proc/net/ipv6_route`. It also contains the local table, whose routes belong to the loopback interface or
/// to one address.
fn v6_routes(text: &str) -> BTreeSet<Route> {
    let routes = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [to, length, _, _, via, metric, _, _, flags, interface] = fields[..] else { return None };
        let number = |text: &str| u32::from_str_radix(text, 16).ok();
        let flags = number(flags)?;
        let (to, length, via) = (v6_address(to)?, number(length)?, v6_address(via)?);
        // `RTF_LOCAL` and `RTF_ANYCAST`: routes of the machine's own addresses.
        let is_own = flags & (0x8000_0000 | 0x0010_0000) != 0;
        if !is_configured_route(flags)
            || is_own
            || interface == "lo"
            || is_link_local(&to)
            || to.is_multicast()
        {
            return None;
        }
        Some(Route {
            to: if length == 0 { "default".to_owned() } else { format!("{to}/{length}") },
            via: (!via.is_unspecified()).then(|| via.to_string()),
            interface: interface.to_owned(),
            metric: number(metric)?,
        })
    });
    routes.collect()
}

fn is_configured_route(flags: u32) -> bool {
    flags & ROUTE_UP != 0 && flags & (ROUTE_REJECT | ROUTE_LEARNED) == 0
}

fn v6_address(text: &str) -> Option<Ipv6Addr> {
    u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32).map(Ipv6Addr::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(routes: &BTreeSet<Route>) -> Vec<String> {
        let text = |route: &Route| {
            let via = route.via.as_deref().map(|via| format!(" via {via}")).unwrap_or_default();
            format!("{}{via} dev {} metric {}", route.to, route.interface, route.metric)
        };
        routes.iter().map(text).collect()
    }

    #[test]
    fn routes_are_parsed() {
        let text = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
eth0\t0000FEA9\t00000000\t0001\t0\t0\t1000\t0000FFFF\t0\t0\t0
eth0\t0100A8C0\t0100000A\t0017\t0\t0\t0\tFFFFFFFF\t0\t0\t0
eth1\t0000A8C0\t00000000\t0000\t0\t0\t0\t00FFFFFF\t0\t0\t0
too few fields
eth1\tzz\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
";
        let expected = ["10.0.0.0/24 dev eth0 metric 100", "default via 10.0.0.1 dev eth0 metric 100"];
        assert_eq!(texts(&v4_routes(text)), expected, "without link-local, redirected and unusable routes");
        let reversed: Vec<&str> = text.lines().skip(1).collect();
        let reversed = reversed.into_iter().rev().collect::<Vec<_>>().join("\n");
        assert_eq!(v4_routes(&format!("head\n{reversed}")), v4_routes(text), "the order does not matter");
        assert!(v4_routes("").is_empty());
    }

    #[test]
    fn ipv6_routes_are_parsed() {
        let zero = "00000000000000000000000000000000";
        let row = |to: &str, length: &str, via: &str, flags: &str, interface: &str| {
            format!("{to} {length} {zero} 00 {via} 00000400 00000001 00000000 {flags} {interface}\n")
        };
        let net = "20010db8000000000000000000000000";
        let gateway = "fe800000000000000000000000000001";
        let text = [
            row(net, "40", zero, "00000001", "eth0"),
            row(zero, "00", gateway, "00000003", "eth0"),
            // Advertised default route, link-local network, own address, multicast, unreachable.
            row(zero, "00", gateway, "00450003", "eth0"),
            row("fe800000000000000000000000000000", "40", zero, "00000001", "eth0"),
            row("20010db8000000000000000000000005", "80", zero, "80200001", "eth0"),
            row("ff000000000000000000000000000000", "08", zero, "00000001", "eth0"),
            row(zero, "00", zero, "00200200", "lo"),
            "nonsense\n".to_owned(),
        ]
        .concat();
        let expected = ["2001:db8::/64 dev eth0 metric 1024", "default via fe80::1 dev eth0 metric 1024"];
        assert_eq!(texts(&v6_routes(&text)), expected);
    }

    #[test]
    fn transient_addresses_are_left_out() {
        let text = "\
20010db8000000000000000000000005 02 40 00 80     eth0
20010db80000000000000000000000aa 02 40 00 01     eth0
20010db80000000000000000000000bb 02 40 00 60     eth0
fe80000000000000000000000000000b 02 40 20 80     eth0
short 02 40 00 01 eth0
";
        let transient = transient_addresses(text);
        let is_reported = |text: &str| is_configured(&text.parse().unwrap(), &transient);
        assert!(is_reported("2001:db8::5"));
        for text in ["2001:db8::aa", "2001:db8::bb", "fe80::b"] {
            assert!(!is_reported(text), "{text}");
        }
    }

    #[test]
    fn interfaces_of_containers_are_left_out() {
        for name in
            ["veth1a2b", "docker0", "br-5f00c0ffee11", "cali123", "virbr0", "tap7", "vnet3", "lxcbr0", "cni0"]
        {
            assert!(is_ephemeral(name), "{name}");
        }
        for name in ["eth0", "ens3", "br0", "br-mgmt", "bond0", "vlan7", "tun0", "wlan0"] {
            assert!(!is_ephemeral(name), "{name}");
        }
    }

    #[test]
    fn scheme_of_this_machine_is_stable() {
        let first = scheme().expect("interfaces can be listed");
        assert_eq!(scheme(), Some(first.clone()));
        for key in ["interfaces", "addresses", "routes"] {
            assert!(first.get(key).is_some(), "{first}");
        }
    }
}
