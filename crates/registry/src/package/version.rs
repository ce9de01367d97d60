//! Versions of packages, plugins and the product.

use std::collections::BTreeSet;

/// Package format version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageVersion {
    V1,
    V2,
    V3,
    V4,
    V5,
}

impl PackageVersion {
    pub const ALL: &'static [Self] = &[Self::V1, Self::V2, Self::V3, Self::V4, Self::V5];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "1.0.0",
            Self::V2 => "2.0.0",
            Self::V3 => "3.0.0",
            Self::V4 => "4.0.0",
            Self::V5 => "5.0.0",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|version| version.as_str() == text)
    }

    /// Returns the oldest product version that supports packages of this version.
    pub(crate) const fn product_min(self) -> &'static str {
        match self {
            Self::V1 => "6.0",
            Self::V2 => "6.1",
            Self::V3 => "7.0",
            Self::V4 => "8.0",
            Self::V5 => "9.0",
        }
    }
}

/// Parses the numbers of `X.Y` or `X.Y.Z`, with an optional suffix `aN` or `bN`.
pub(crate) fn numbers(version: &str) -> Option<Vec<u64>> {
    let (version, suffix) = match version.find(['a', 'b']) {
        Some(at) => (&version[..at], Some(&version[at + 1..])),
        None => (version, None),
    };
    let number = |part: &str| -> Option<u64> {
        let is_digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        is_digits.then(|| part.parse().ok()).flatten()
    };
    if let Some(suffix) = suffix {
        number(suffix)?;
    }
    let parts: Option<Vec<u64>> = version.split('.').map(number).collect();
    parts.filter(|parts| matches!(parts.len(), 2 | 3))
}

/// Returns the releases for another product version than those of `fuel_version`, without duplicates. Versions without a
/// product version fit all.
pub fn releases_of_other_products<'r>(
    fuel_versions: &[&str],
    releases: impl Iterator<Item = &'r str>,
) -> BTreeSet<&'r str> {
    // One of them covers the other in whole parts: 9.0 and 9.0.2.
    let covers = |product: &str, fuel_version: &str| {
        product.split('.').zip(fuel_version.split('.')).all(|(one, other)| one == other)
    };
    let is_other = |release: &&str| {
        let product = release.rsplit_once('-').map(|(_, product)| product);
        product.is_some_and(|product| !fuel_versions.iter().any(|fuel_version| covers(product, fuel_version)))
    };
    if fuel_versions.is_empty() { BTreeSet::new() } else { releases.filter(is_other).collect() }
}

/// Returns the warning about a release of [`releases_of_other_products`].
pub fn describe_other_product(release: &str, fuel_versions: &[&str]) -> String {
    let products = fuel_versions.join(", ");
    format!("the plugin supports release `{release}`, but its `fuel_version` names only {products}")
}

/// Reports whether a text is a valid plugin version.
pub fn is_plugin_version(version: &str) -> bool {
    numbers(version).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuel_version_is_compared_with_releases() {
        let fuel_versions = ["8.0", "9.0"];
        let releases = ["mitaka-9.0", "mitaka-9.0.2", "mitaka-9", "odd", "mitaka-9.1", "mitaka-9.1"];
        let others = releases_of_other_products(&fuel_versions, releases.into_iter());
        assert_eq!(others.into_iter().collect::<Vec<_>>(), ["mitaka-9.1"]);
        assert!(releases_of_other_products(&[], releases.into_iter()).is_empty());
    }

    #[test]
    fn versions_have_two_or_three_numbers() {
        for (text, expected) in [
            ("1.0", Some(vec![1, 0])),
            ("1.0.12", Some(vec![1, 0, 12])),
            ("1.0.0a1", Some(vec![1, 0, 0])),
            ("1.0b2", Some(vec![1, 0])),
            ("6", None),
            ("1.0.0.0", None),
            ("1.", None),
            ("1.x", None),
            ("1.0a", None),
            ("1.0.0rc1", None),
            ("1.0\n", None),
            ("", None),
        ] {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }
}
