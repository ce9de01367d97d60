//! Files of a new plugin: a small valid package with comments about what to change.

use std::fmt;

use super::shapes::is_lower_name;
use super::version::PackageVersion::{self, V1, V2, V3, V4, V5};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkeletonFile {
    /// Relative to the directory of the plugin.
    pub path: String,
    pub text: String,
    pub is_executable: bool,
}

/// Options for a new plugin.
#[derive(Clone, Copy, Debug)]
pub struct SkeletonOptions<'a> {
    pub name: &'a str,
    pub version: PackageVersion,
    /// Whether to add a wizard file.
    pub has_wizard: bool,
}

/// Invalid plugin name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPluginName;

impl fmt::Display for InvalidPluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plugin name must consist of lowercase letters, digits, `_` and `-`")
    }
}

impl std::error::Error for InvalidPluginName {}

const METADATA: [(&str, PackageVersion); 5] = [
    (include_str!("metadata.yaml"), V1),
    (include_str!("metadata-2.yaml"), V2),
    (include_str!("metadata-4.yaml"), V4),
    (include_str!("metadata-releases.yaml"), V1),
    (include_str!("metadata-provides.yaml"), V1),
];

/// Files that were introduced in later package versions.
const LATER: &[(&str, &str, PackageVersion)] = &[
    ("deployment_tasks.yaml", include_str!("deployment_tasks.yaml"), V3),
    ("node_roles.yaml", include_str!("node_roles.yaml"), V3),
    ("volumes.yaml", include_str!("volumes.yaml"), V3),
    ("network_roles.yaml", include_str!("network_roles.yaml"), V3),
    ("components.yaml", include_str!("components.yaml"), V4),
    ("nic_config.yaml", include_str!("attributes.yaml"), V5),
    ("bond_config.yaml", include_str!("attributes.yaml"), V5),
    ("node_config.yaml", include_str!("node_config.yaml"), V5),
];

/// Generates the files of a plugin that passes its check unchanged.
pub fn skeleton(options: SkeletonOptions<'_>) -> Result<Vec<SkeletonFile>, InvalidPluginName> {
    if !is_lower_name(options.name) {
        return Err(InvalidPluginName);
    }
    let mut files = vec![
        file("metadata.yaml", &metadata(options.version), options),
        file("environment_config.yaml", include_str!("environment_config.yaml"), options),
        file("README.md", include_str!("README.md"), options),
        file("repositories/ubuntu/.keep", "", options),
    ];
    if options.version < V3 {
        files.push(file("tasks.yaml", include_str!("tasks.yaml"), options));
    }
    let later = LATER.iter().filter(|(_, _, first)| options.version >= *first);
    files.extend(later.map(|(path, text, _)| file(path, text, options)));
    if options.has_wizard {
        files.push(file("wizard_metadata.yaml", include_str!("wizard_metadata.yaml"), options));
    }
    let script = file("deployment_scripts/deploy.sh", include_str!("deploy.sh"), options);
    files.push(SkeletonFile { is_executable: true, ..script });
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn metadata(version: PackageVersion) -> String {
    METADATA.iter().filter(|(_, first)| version >= *first).map(|(text, _)| *text).collect()
}

fn file(path: &str, template: &str, options: SkeletonOptions<'_>) -> SkeletonFile {
    let mut text = template.to_owned();
    for (placeholder, value) in replacements(path, options) {
        text = text.replace(placeholder, value);
    }
    SkeletonFile { path: path.to_owned(), text, is_executable: false }
}

/// Placeholders and their values, replaced in this order; a value may contain later placeholders.
fn replacements<'a>(path: &str, options: SkeletonOptions<'a>) -> [(&'static str, &'a str); 10] {
    let version = options.version;
    let has_numbers = version > V1;
    [
        ("{ranges}\n", if has_numbers { include_str!("ranges.txt") } else { "" }),
        // Packages before version 4 have no file for components.
        ("{component}\n", if version >= V4 { "    component: additional_service:{name}\n" } else { "" }),
        ("{postfix}", if has_numbers { "/6000" } else { "" }),
        ("{name}", options.name),
        ("{package_version}", version.as_str()),
        ("{product}", version.product_min()),
        ("{release}", release(version)),
        ("{equipment}", if version >= V4 { ", equipment" } else { "" }),
        ("{tasks}", if version < V3 { "tasks.yaml" } else { "deployment_tasks.yaml" }),
        ("{thing}", if path.starts_with("nic") { "interface" } else { "bond" }),
    ]
}

/// Returns the oldest release that supports a package version.
const fn release(version: PackageVersion) -> &'static str {
    match version {
        V1 => "2014.2-6.0",
        V2 => "2014.2.2-6.1",
        V3 => "2015.1.0-7.0",
        V4 => "liberty-8.0",
        V5 => "mitaka-9.0",
    }
}
