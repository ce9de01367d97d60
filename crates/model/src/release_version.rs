//! Order of release versions.

use std::cmp::Ordering;

/// Compares release versions of the form `<openstack>-<environment>`. The environment is compared first:
/// OpenStack versions changed from numbers to names, so they are not ordered consistently.
pub fn compare_release_versions(left: &str, right: &str) -> Ordering {
    let ((left_stack, left_env), (right_stack, right_env)) = (halves(left), halves(right));
    compare_half(left_env, right_env).then_with(|| compare_half(left_stack, right_stack))
}

/// Splits a version into OpenStack and environment version. Without a dash it is only the environment
/// version.
fn halves(version: &str) -> (&str, &str) {
    version.rsplit_once('-').unwrap_or(("", version))
}

/// Compares dot-separated parts: numbers numerically, missing parts as 0, words above numbers.
fn compare_half(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let ordering = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (a, b) => compare_part(a.unwrap_or_default(), b.unwrap_or_default()),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
}

fn compare_part(left: &str, right: &str) -> Ordering {
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match (is_number(left), is_number(right)) {
        (true, true) => {
            // Compared as text without leading zeros: the number may exceed any integer type.
            let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
            left.len().cmp(&right.len()).then(left.cmp(right))
        }
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => left.to_lowercase().cmp(&right.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered() {
        let ascending = [
            "1.0",
            "2014.2-6.0",
            "2014.2.2-6.1",
            "2015.1.0-7.0",
            "liberty-8.0",
            "mitaka-9.0",
            "mitaka-9.0.1",
            "mitaka-9.10",
            "newton-10.0",
            "ocata-10.0",
            "ocata-11.0",
            "ocata-99999999999999999999999.0",
            "ocata-master",
        ];
        for (index, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(compare_release_versions(left, right), index.cmp(&other), "{left} {right}");
            }
        }
    }

    #[test]
    fn equivalent_versions_are_equal() {
        for (left, right) in [("a-9", "a-9.0"), ("a-9.0", "a-9.00"), ("A-9", "a-9"), ("", ""), ("", "0")] {
            assert_eq!(compare_release_versions(left, right), Ordering::Equal, "{left} {right}");
        }
    }
}
