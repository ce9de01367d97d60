//! Compatibility of plugins with releases, and comparison of plugin versions.

use std::cmp::Ordering;

use crate::{Json, NewPlugin, NewRelease};

/// The release and mode that a plugin must be compatible with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompatibilityTarget<'a> {
    pub operating_system: &'a str,
    pub version: &'a str,
    /// Mode of the cluster; `None` if there is no cluster yet, so that any mode is compatible.
    pub mode: Option<&'a str>,
}

impl NewRelease {
    /// Returns the compatibility target of this release, in a cluster of this mode if given.
    pub fn compatibility_target<'a>(&'a self, mode: Option<&'a str>) -> CompatibilityTarget<'a> {
        CompatibilityTarget { operating_system: &self.operating_system, version: &self.version, mode }
    }
}

impl CompatibilityTarget<'_> {
    /// Reports whether one of a plugin's entries `{os, version, mode}` covers the target.
    pub fn is_covered_by(self, releases: &[Json]) -> bool {
        self.covering(releases).is_some()
    }

    /// Returns the first entry that covers the target.
    fn covering(self, releases: &[Json]) -> Option<&Json> {
        releases.iter().find(|entry| entry_fits(entry, self))
    }
}

impl NewPlugin {
    /// Reports whether the plugin supports a release that covers the target.
    pub fn is_compatible_with(&self, target: CompatibilityTarget<'_>) -> bool {
        target.is_covered_by(&self.releases)
    }

    /// Returns the directory in the package of the plugin with the scripts for the target.
    pub fn scripts_path(&self, target: CompatibilityTarget<'_>) -> Option<&str> {
        target.covering(&self.releases)?.get("deployment_scripts_path")?.as_str()
    }

    /// Returns the operating system of the entry that covers the target, and the path of its package
    /// repository.
    pub fn repository_path(&self, target: CompatibilityTarget<'_>) -> Option<(&str, &str)> {
        let entry = target.covering(&self.releases)?;
        Some((entry.get("os")?.as_str()?, entry.get("repository_path")?.as_str()?))
    }
}

fn entry_fits(entry: &Json, target: CompatibilityTarget<'_>) -> bool {
    let text = |key: &str| entry.get(key).and_then(Json::as_str);
    let os_fits = text("os").is_some_and(|os| os.to_lowercase() == target.operating_system.to_lowercase());
    os_fits
        && text("version").is_some_and(|version| version_covers(version, target.version))
        && target.mode.is_none_or(|mode| mode_fits(entry.get("mode"), mode))
}

/// Reports whether one of the modes covers the target mode: `ha` covers `ha_compact`. A single mode may be a
/// string instead of a list.
fn mode_fits(modes: Option<&Json>, target_mode: &str) -> bool {
    let covers = |mode: &str| {
        target_mode.strip_prefix(mode).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    match modes {
        Some(Json::String(mode)) => covers(mode),
        Some(Json::Array(modes)) => modes.iter().filter_map(Json::as_str).any(covers),
        _ => false,
    }
}

/// Reports whether both halves of a version such as `2014.2-6.1` are prefixes of the halves of a release
/// version, by whole dotted parts: `2014.2` does not cover `2014.20`.
fn version_covers(own: &str, release: &str) -> bool {
    let (Some(own), Some(release)) = (own.rsplit_once('-'), release.rsplit_once('-')) else { return false };
    covers_parts(own.0, release.0) && covers_parts(own.1, release.1)
}

fn covers_parts(own: &str, release: &str) -> bool {
    release
        .strip_prefix(own)
        .is_some_and(|rest| !own.is_empty() && (rest.is_empty() || rest.starts_with('.')))
}

/// Compares versions of plugins and tasks numerically, part by part; missing parts are 0, and `2.0.0b1`
/// precedes `2.0.0`. Releases have [another order](crate::compare_release_versions).
pub fn compare_versions(left: &str, right: &str) -> Ordering {
    let (left_parts, left_suffix) = version_parts(left);
    let (right_parts, right_suffix) = version_parts(right);
    let n_parts = left_parts.len().max(right_parts.len());
    let part = |parts: &[u64], index: usize| parts.get(index).copied().unwrap_or(0);
    let numbers = (0..n_parts).map(|index| part(&left_parts, index).cmp(&part(&right_parts, index)));
    let suffixes = match (left_suffix.is_empty(), right_suffix.is_empty()) {
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ => compare_suffixes(left_suffix, right_suffix),
    };
    // Equal versions with different spellings are ordered by spelling, so that sorting is deterministic.
    numbers.fold(Ordering::Equal, Ordering::then).then(suffixes).then_with(|| left.cmp(right))
}

/// Returns the numeric parts, and the suffix after them: `b1` of `2.0.0b1`.
fn version_parts(version: &str) -> (Vec<u64>, &str) {
    let at = version.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(version.len());
    let (numbers, suffix) = version.split_at(at);
    let parts = numbers.split('.').filter(|part| !part.is_empty());
    (parts.map(|part| part.parse().unwrap_or(u64::MAX)).collect(), suffix)
}

/// Orders `a2` before `a10` before `b1`.
fn compare_suffixes(left: &str, right: &str) -> Ordering {
    let split = |suffix: &str| {
        let at = suffix.find(|letter: char| letter.is_ascii_digit()).unwrap_or(suffix.len());
        let (word, number) = suffix.split_at(at);
        (word.to_owned(), number.parse::<u64>().unwrap_or(0))
    };
    split(left).cmp(&split(right))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn versions_cover_longer_versions_by_whole_parts() {
        for (own, release, expected) in [
            ("2014.2-6.1", "2014.2.2-6.1", true),
            ("2014.2-6.0", "2014.2.1-6.0.2", true),
            ("2014.2.1-6.0", "2014.2-6.0.1", false),
            ("2014.2-6.1", "2014.20-6.1", false),
            ("mitaka-9.0", "mitaka-9.0", true),
            ("mitaka-9.0", "mitaka-9.01", false),
            ("liberty-8.0", "mitaka-8.0", false),
            ("9.0", "9.0", false),
            ("-9.0", "mitaka-9.0", false),
            ("a-b-9.0", "a-b-9.0.1", true),
        ] {
            assert_eq!(version_covers(own, release), expected, "{own} on {release}");
        }
    }

    #[test]
    fn one_entry_must_match_os_version_and_mode() {
        let entry = json!({"os": "Ubuntu", "version": "mitaka-9.0", "mode": ["ha", "multinode"]});
        let fits = |operating_system, version, mode| {
            entry_fits(&entry, CompatibilityTarget { operating_system, version, mode })
        };
        assert!(fits("ubuntu", "mitaka-9.0", Some("ha_compact")));
        assert!(fits("ubuntu", "mitaka-9.0.1", Some("ha")));
        assert!(fits("ubuntu", "mitaka-9.0", None));
        assert!(!fits("ubuntu", "mitaka-9.0", Some("hax")));
        assert!(!fits("ubuntu", "mitaka-9.0", Some("single")));
        assert!(!fits("centos", "mitaka-9.0", Some("ha")));
        assert!(!fits("ubuntu", "mitaka-8.0", Some("ha")));
    }

    #[test]
    fn incomplete_entry_matches_nothing() {
        let target = CompatibilityTarget {
            operating_system: "ubuntu",
            version: "mitaka-9.0",
            mode: Some("ha_compact"),
        };
        for entry in [
            json!({}),
            json!("ubuntu"),
            json!({"os": "ubuntu", "version": "mitaka-9.0"}),
            json!({"os": 1, "version": "mitaka-9.0", "mode": ["ha"]}),
            json!({"os": "ubuntu", "version": "mitaka-9.0", "mode": {"ha": 1}}),
        ] {
            assert!(!entry_fits(&entry, target), "{entry}");
        }
        assert!(entry_fits(&json!({"os": "ubuntu", "version": "mitaka-9.0", "mode": "ha"}), target));
    }

    #[test]
    fn versions_compare_numerically() {
        let ordered = [
            "0.9",
            "1.0.2",
            "1.0.10",
            "1.9",
            "1.10.0a2",
            "1.10.0a10",
            "1.10.0b1",
            "1.10.0",
            "1.10.1",
            "2.0.0",
            "10.0.0",
        ];
        for (index, left) in ordered.iter().enumerate() {
            for (other, right) in ordered.iter().enumerate() {
                assert_eq!(compare_versions(left, right), index.cmp(&other), "{left} {right}");
            }
        }
        for (left, right) in [("1.0", "1.0.0"), ("1.01", "1.1"), ("1.0.0", "1.0.0.0")] {
            assert_ne!(compare_versions(left, right), Ordering::Equal, "sorting is deterministic");
        }
        // A missing part is 0, so that the spelling of one version does not outrank a later one.
        assert!(compare_versions("1.0.0", "1.0.1").is_lt() && compare_versions("1.0", "1.0.1").is_lt());
        assert!(compare_versions("2.0.0b1", "2.0").is_lt());
    }
}
