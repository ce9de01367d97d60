//! Component names, and patterns and tokens that match several names.

use std::fmt;

/// Component type, the first part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentType {
    Hypervisor,
    Network,
    Storage,
    Monitoring,
    AdditionalService,
}

impl ComponentType {
    /// All component types, in the order of wizard panes.
    pub const ALL: &'static [Self] =
        &[Self::Hypervisor, Self::Network, Self::Storage, Self::Monitoring, Self::AdditionalService];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hypervisor => "hypervisor",
            Self::Network => "network",
            Self::Storage => "storage",
            Self::Monitoring => "monitoring",
            Self::AdditionalService => "additional_service",
        }
    }

    /// Returns the name of the wizard pane for the type.
    pub const fn pane(self) -> &'static str {
        match self {
            Self::Hypervisor => "Compute",
            Self::Network => "Network",
            Self::Storage => "Storage",
            Self::Monitoring => "Monitoring",
            Self::AdditionalService => "AdditionalServices",
        }
    }

    /// Returns the title of the wizard pane for the type.
    pub const fn pane_label(self) -> &'static str {
        match self {
            Self::Hypervisor => "Hypervisor",
            Self::Network => "Network",
            Self::Storage => "Storage",
            Self::Monitoring => "Monitoring",
            Self::AdditionalService => "Additional services",
        }
    }

    /// Parses a type; `networking` is an alias of `network`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = if text == "networking" { "network" } else { text };
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }

    /// Returns the key in `provides` that lists compatible components of this type.
    pub const fn compatible_key(self) -> &'static str {
        match self {
            Self::Hypervisor => "compatible_hypervisors",
            Self::Network => "compatible_networking",
            Self::Storage => "compatible_storages",
            Self::Monitoring => "compatible_monitoring",
            Self::AdditionalService => "compatible_additional_services",
        }
    }

    /// Returns the paths that name a subtype and need a specific name appended.
    const fn bare_subtypes(self) -> &'static [&'static str] {
        match self {
            Self::Hypervisor => &["core", "vmware"],
            Self::Network => &["core", "ml2", "ml2:mech"],
            Self::Storage => {
                &["object", "block", "image", "object:backend", "block:backend", "image:backend"]
            }
            Self::Monitoring => &["core"],
            Self::AdditionalService => &[],
        }
    }
}

/// Canonical component name: `type:segment:segment…`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentName {
    kind: ComponentType,
    /// Path segments of the name; never empty.
    path: Vec<String>,
}

impl ComponentName {
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, path) = text.split_once(':')?;
        let kind = ComponentType::parse(kind)?;
        let path: Vec<String> = path.split(':').map(str::to_owned).collect();
        (path.iter().all(|segment| is_segment(segment)) && path[0] != "all").then_some(Self { kind, path })
    }

    pub fn kind(&self) -> ComponentType {
        self.kind
    }

    /// Segments after the type.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Reports whether it names a subtype and needs a specific name appended.
    pub fn is_bare_subtype(&self) -> bool {
        self.kind.bare_subtypes().contains(&&*self.path.join(":"))
    }

    /// Appends a segment.
    pub fn with_segment(&self, segment: &str) -> Option<Self> {
        Self::parse(&format!("{self}:{segment}"))
    }

    /// Returns the path without its last segment; a single segment is kept.
    pub fn subtype(&self) -> &[String] {
        match &self.path[..] {
            [only] => std::slice::from_ref(only),
            [subtype @ .., _] => subtype,
            [] => &[],
        }
    }
}

impl fmt::Display for ComponentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.as_str(), self.path.join(":"))
    }
}

/// An exact name, or all names below a prefix: `hypervisor:libvirt:*` matches names with at least one more
/// segment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentPattern {
    Exact(ComponentName),
    Below { kind: ComponentType, prefix: Vec<String> },
}

impl ComponentPattern {
    pub fn parse(text: &str) -> Option<Self> {
        let Some(prefix) = text.strip_suffix(":*") else {
            return ComponentName::parse(text).map(Self::Exact);
        };
        match ComponentType::parse(prefix) {
            Some(kind) => Some(Self::Below { kind, prefix: Vec::new() }),
            None => {
                ComponentName::parse(prefix).map(|name| Self::Below { kind: name.kind, prefix: name.path })
            }
        }
    }

    pub fn matches(&self, name: &ComponentName) -> bool {
        match self {
            Self::Exact(exact) => exact == name,
            Self::Below { kind, prefix } => {
                *kind == name.kind && name.path.len() > prefix.len() && name.path.starts_with(prefix)
            }
        }
    }

    pub fn kind(&self) -> ComponentType {
        match self {
            Self::Exact(name) => name.kind,
            Self::Below { kind, .. } => *kind,
        }
    }
}

impl fmt::Display for ComponentPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) => name.fmt(f),
            Self::Below { kind, prefix } => {
                f.write_str(kind.as_str())?;
                prefix.iter().try_for_each(|segment| write!(f, ":{segment}"))?;
                f.write_str(":*")
            }
        }
    }
}

/// Item of a `compatible_…` list: all components, or leading segments of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameToken {
    All,
    Leading(Vec<String>),
}

impl NameToken {
    /// Parses an item of the list for one type. The item may start with that type.
    pub fn parse(text: &str, kind: ComponentType) -> Option<Self> {
        if text == "all" || text == "*" {
            return Some(Self::All);
        }
        let segments: Vec<String> = text.split(':').map(str::to_owned).collect();
        if !segments.iter().all(|segment| is_segment(segment)) {
            return None;
        }
        let repeats_type = segments.len() > 1 && ComponentType::parse(&segments[0]) == Some(kind);
        Some(Self::Leading(segments[usize::from(repeats_type)..].to_vec()))
    }

    /// Reports whether it covers a component of the list's type.
    pub fn covers(&self, name: &ComponentName) -> bool {
        match self {
            Self::All => true,
            Self::Leading(segments) => name.path.starts_with(segments),
        }
    }
}

fn is_segment(text: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ComponentName {
        ComponentName::parse(text).unwrap()
    }

    #[test]
    fn names_are_validated_and_canonicalized() {
        assert_eq!(name("networking:core:gridnet").to_string(), "network:core:gridnet");
        assert_eq!(name("additional_service:x").kind(), ComponentType::AdditionalService);
        for text in [
            "",
            "network",
            "network:",
            "network:a:",
            "network::a",
            "network:A",
            "other:a",
            "network:all",
            "network:all:x",
            "network:*",
            "network:a b",
            "Network:a",
            "network:a\n",
        ] {
            assert_eq!(ComponentName::parse(text), None, "{text}");
        }
        assert!(ComponentName::parse("network:x:all").is_some());
    }

    #[test]
    fn wildcard_requires_one_more_segment() {
        let pattern = ComponentPattern::parse("hypervisor:libvirt:*").unwrap();
        for (text, expected) in [
            ("hypervisor:libvirt:kvm", true),
            ("hypervisor:libvirt:kvm:x", true),
            ("hypervisor:libvirt", false),
            ("hypervisor:libvirt2:x", false),
            ("network:libvirt:x", false),
        ] {
            assert_eq!(pattern.matches(&name(text)), expected, "{text}");
        }
        assert!(ComponentPattern::parse("networking:*").unwrap().matches(&name("network:a")));
        assert!(!ComponentPattern::parse("network:neutron").unwrap().matches(&name("network:neutron:vlan")));
        assert_eq!(ComponentPattern::parse("networking:a:*").unwrap().to_string(), "network:a:*");
        for text in
            ["network:", "*", "storage:*:ceph", "network:a*", "network:**", ":*", "x:*", "network:*:*"]
        {
            assert_eq!(ComponentPattern::parse(text), None, "{text}");
        }
    }

    #[test]
    fn tokens_match_leading_segments() {
        let covers = |token: &str, text: &str| {
            let name = name(text);
            NameToken::parse(token, name.kind()).map(|token| token.covers(&name))
        };
        assert_eq!(covers("core", "hypervisor:core:kvm"), Some(true));
        assert_eq!(covers("core", "hypervisor:core"), Some(true));
        assert_eq!(covers("core", "hypervisor:vmware"), Some(false));
        assert_eq!(covers("cor", "hypervisor:core"), Some(false));
        assert_eq!(covers("hypervisor:core", "hypervisor:core:kvm"), Some(true));
        assert_eq!(covers("ml2:mech", "network:ml2:mech:arista"), Some(true));
        assert_eq!(covers("networking:ml2", "network:ml2:type:vlan"), Some(true));
        assert_eq!(covers("ml2:mech", "network:ml2"), Some(false));
        assert_eq!(covers("all", "network:ml2"), Some(true));
        assert_eq!(covers("*", "network:ml2"), Some(true));
        for token in ["", "a:", "A", "core:*", "a b", ":a"] {
            assert_eq!(covers(token, "network:a"), None, "{token}");
        }
    }

    #[test]
    fn bare_subtypes_are_completed() {
        assert!(name("network:core").is_bare_subtype());
        assert!(name("network:ml2:mech").is_bare_subtype());
        assert!(!name("hypervisor:xen").is_bare_subtype());
        assert!(!name("network:core:x").is_bare_subtype());
        assert_eq!(name("network:core").with_segment("gridnet").unwrap().to_string(), "network:core:gridnet");
        assert_eq!(name("network:ml2:mech:x").subtype(), ["ml2", "mech"]);
        assert_eq!(name("hypervisor:xen").subtype(), ["xen"]);
    }
}
