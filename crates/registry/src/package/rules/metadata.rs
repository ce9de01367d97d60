//! `metadata.yaml`: identity of the plugin and supported releases.

use std::collections::BTreeSet;

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_manifest::reader::{Fields, boolean, did_you_mean, list_of, one_of, string};
use stoker_yaml::Node;

use super::provides::provides;
use crate::package::plugin::Documents;
use crate::package::shapes::{anything, is_lower_name, non_empty_text, open_map, text_like};
use crate::package::version::{PackageVersion, describe_other_product, numbers, releases_of_other_products};
use crate::package::{Context, codes};
use crate::sources::{KNOWN_OS, RepositoryKind};

pub(in crate::package) fn metadata(
    node: &Node,
    context: Context<'_>,
    _: &mut Documents,
    problems: &mut Diagnostics,
) {
    let Some(mut fields) = Fields::new(node, problems) else { return };
    let name = fields.required(
        "name",
        text_like(codes::FIELD_PATTERN, "lowercase letters, digits, `_` and `-`", is_lower_name),
    );
    fields.required("title", string);
    fields.required("description", string);
    fields.required("version", plugin_version);
    fields.required("package_version", package_version);
    let fuel_versions = fields
        .required("fuel_version", list_of(|node, problems| product_version(node, context.version, problems)));
    fields.required("releases", list_of(|node, problems| release(node, context, problems)));
    if context.version >= PackageVersion::V2 {
        fields.required("licenses", list_of(string));
        fields.required("authors", list_of(string));
        fields.required("homepage", string);
        fields.required("groups", |node, problems| groups(node, context.version, problems));
    } else {
        fields.ignore(&["licenses", "authors", "homepage", "groups"]);
    }
    if context.version >= PackageVersion::V4 {
        fields.required("is_hotpluggable", boolean);
    } else {
        fields.ignore(&["is_hotpluggable"]);
    }
    if fuel_versions.is_some() {
        compare_products(&mut fields);
    }
    fields.optional("build_version", anything);
    fields.optional("provides", |node, problems| provides(node, name.as_deref(), problems));
    fields.finish_with_warnings();
}

/// Warns about releases for another product version than those of `fuel_version`.
fn compare_products(fields: &mut Fields<'_, '_>) {
    let node = fields.node();
    let items = |key: &str| node.get(key).and_then(Node::as_seq).unwrap_or_default();
    let fuel_versions: Vec<&str> = items("fuel_version").iter().filter_map(Node::as_str).collect();
    let versions = items("releases").iter().map(|release| release.get("version"));
    let mut others =
        releases_of_other_products(&fuel_versions, versions.clone().flatten().filter_map(Node::as_str));
    for (idx, version) in versions.enumerate() {
        let Some(version) = version else { continue };
        let Some(release) = version.as_str().filter(|release| others.remove(release)) else { continue };
        let message = describe_other_product(release, &fuel_versions);
        fields.problems().in_key("releases", |problems| {
            problems.in_item(idx, |problems| {
                problems.in_key("version", |problems| {
                    problems
                        .warning(codes::PRODUCT_VERSION, version.span, message)
                        .set_help("add the version to `fuel_version`, or remove the release");
                });
            });
        });
    }
}

fn plugin_version(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let form = "`X.Y` or `X.Y.Z`, with the suffix `aN` or `bN` for a pre-release";
    text_like(codes::VERSION_MALFORMED, form, |text| numbers(text).is_some())(node, problems)
}

fn package_version(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let form = "`1.0.0`, `2.0.0`, `3.0.0`, `4.0.0` or `5.0.0`";
    let is_known = |text: &str| PackageVersion::parse(text).is_some();
    text_like(codes::PACKAGE_VERSION_UNKNOWN, form, is_known)(node, problems)
}

fn product_version(node: &Node, version: PackageVersion, problems: &mut Diagnostics) -> Option<()> {
    let text = string(node, problems)?;
    let Some(parts) = numbers(&text) else {
        let message = format!("must be a version such as `9.0`, got {}", quoted(&text));
        problems.error(codes::VERSION_MALFORMED, node.span, message);
        return None;
    };
    let min = version.product_min();
    // Missing parts count as 0, so that 6.1 and 6.1.0 are equal.
    let mut padded = parts;
    padded.resize(3, 0);
    let mut minimum = numbers(min).unwrap_or_default();
    minimum.resize(3, 0);
    if padded < minimum {
        let message = format!("packages of version {} require {min} or later", version.as_str());
        problems
            .error(codes::FUEL_VERSION_TOO_OLD, node.span, message)
            .set_help("remove it, or build a package with an older package version");
        return None;
    }
    Some(())
}

const GROUPS: &[&str] =
    &["network", "storage", "storage::cinder", "storage::glance", "hypervisor", "monitoring", "equipment"];

fn groups(node: &Node, version: PackageVersion, problems: &mut Diagnostics) -> Option<()> {
    // `equipment` was added in package version 4.
    let groups_of_version = if version >= PackageVersion::V4 { GROUPS } else { &GROUPS[..GROUPS.len() - 1] };
    list_of(one_of(groups_of_version))(node, problems)?;
    let mut groups = BTreeSet::new();
    for (item_idx, item) in node.as_seq().into_iter().flatten().enumerate() {
        if !item.as_str().is_none_or(|group| groups.insert(group)) {
            problems.in_item(item_idx, |problems| {
                problems.error(codes::NOT_UNIQUE, item.span, "duplicate group");
            });
        }
    }
    Some(())
}

fn release(node: &Node, context: Context<'_>, problems: &mut Diagnostics) -> Option<()> {
    open_map(|fields| {
        fields.required("os", operating_system);
        fields.required("version", string);
        fields.required("mode", list_of(one_of(&["ha", "multinode"])));
        for key in ["deployment_scripts_path", "repository_path"] {
            fields.required(key, |node, problems| existing_path(node, context, problems));
        }
    })(node, problems)
}

/// Reads the operating system of a release. Releases may name any.
fn operating_system(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let os = non_empty_text(node, problems)?;
    if RepositoryKind::for_os(&os).is_none() {
        let os_names = || KNOWN_OS.iter().map(|(name, _)| *name);
        let help = did_you_mean(&os.to_lowercase(), os_names(), problems);
        let names: Vec<&str> = os_names().collect();
        let message = format!(
            "the package format of operating system {} is unknown, so its packages are not served",
            quoted(&os)
        );
        let help = help
            .unwrap_or_else(|| format!("known are {}; the plugin works without packages", names.join(", ")));
        problems.warning(codes::FIELD_ENUM, node.span, message).set_help(help);
    }
    Some(())
}

fn existing_path(node: &Node, context: Context<'_>, problems: &mut Diagnostics) -> Option<()> {
    let path = string(node, problems)?;
    if context.tree.exists(&path) {
        return Some(());
    }
    problems
        .error(
            codes::RELEASE_PATH_MISSING,
            node.span,
            format!("{} does not exist in the package", quoted(&path)),
        )
        .set_help("create the directory; it may be empty");
    None
}
