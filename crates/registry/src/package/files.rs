//! Table of the files of a package, by package version.

use stoker_diagnostics::Diagnostics;
use stoker_yaml::{LoadLimits, Node, load};

use super::plugin::Documents;
use super::tree::PackageTree;
use super::version::PackageVersion::{self, V1, V2, V3, V4, V5};
use super::{Context, rules};

pub(super) const METADATA: &str = "metadata.yaml";
pub(super) const SETTINGS: &str = "environment_config.yaml";
pub(super) const STAGE_TASKS: &str = "tasks.yaml";
pub(super) const GRAPH_TASKS: &str = "deployment_tasks.yaml";
pub(super) const NODE_ROLES: &str = "node_roles.yaml";
pub(super) const VOLUMES: &str = "volumes.yaml";
pub(super) const NETWORK_ROLES: &str = "network_roles.yaml";
pub(super) const COMPONENTS: &str = "components.yaml";
pub(super) const NIC: &str = "nic_config.yaml";
pub(super) const BOND: &str = "bond_config.yaml";
pub(super) const NODE: &str = "node_config.yaml";
pub(super) const WIZARD: &str = "wizard_metadata.yaml";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
    /// The file is not part of this package format version and is ignored.
    NotRead,
}

pub(super) struct PackageFile {
    pub(super) name: &'static str,
    pub(super) presence: fn(PackageVersion) -> Presence,
    pub(super) check: fn(&Node, Context<'_>, &mut Documents, &mut Diagnostics),
}

impl PackageFile {
    pub(super) fn may_be_empty(&self, version: PackageVersion) -> bool {
        self.name == SETTINGS || (self.name == STAGE_TASKS && version >= V4)
    }
}

/// Package files in the order of checking; metadata first.
pub(super) const FILES: &[PackageFile] = &[
    PackageFile { name: METADATA, presence: always, check: rules::metadata },
    PackageFile { name: SETTINGS, presence: always, check: rules::settings },
    PackageFile { name: STAGE_TASKS, presence: required_before_v3, check: rules::stage_tasks },
    PackageFile { name: GRAPH_TASKS, presence: required_since_v3, check: rules::graph_tasks },
    PackageFile { name: NODE_ROLES, presence: since_v3, check: rules::node_roles },
    PackageFile { name: VOLUMES, presence: since_v3, check: rules::volumes },
    PackageFile { name: NETWORK_ROLES, presence: since_v3, check: rules::network_roles },
    PackageFile { name: COMPONENTS, presence: since_v4, check: rules::components },
    PackageFile { name: NIC, presence: since_v5, check: rules::interface_attributes },
    PackageFile { name: BOND, presence: since_v5, check: rules::interface_attributes },
    PackageFile { name: NODE, presence: since_v5, check: rules::node_attributes },
    PackageFile { name: WIZARD, presence: optional, check: rules::wizard },
];

fn always(_: PackageVersion) -> Presence {
    Presence::Required
}

fn optional(_: PackageVersion) -> Presence {
    Presence::Optional
}

fn required_before_v3(version: PackageVersion) -> Presence {
    match version {
        V1 | V2 => Presence::Required,
        V3 | V4 | V5 => Presence::Optional,
    }
}

fn required_since_v3(version: PackageVersion) -> Presence {
    if version >= V3 { Presence::Required } else { Presence::NotRead }
}

fn since_v3(version: PackageVersion) -> Presence {
    optional_since(version, V3)
}

fn since_v4(version: PackageVersion) -> Presence {
    optional_since(version, V4)
}

fn since_v5(version: PackageVersion) -> Presence {
    optional_since(version, V5)
}

fn optional_since(version: PackageVersion, first: PackageVersion) -> Presence {
    if version >= first { Presence::Optional } else { Presence::NotRead }
}

/// Reads the package version before the files are checked.
pub(super) fn package_version(tree: &PackageTree) -> Option<PackageVersion> {
    let loaded = load(tree.texts.get(METADATA)?, &LoadLimits::default());
    let root = &loaded.documents.first()?.root;
    PackageVersion::parse(root.get("package_version")?.as_str()?)
}
