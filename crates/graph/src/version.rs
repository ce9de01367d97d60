//! Comparison of plugin versions.

use std::cmp::Ordering;

/// Compares versions part by part. Numbers compare numerically, without a length limit, and precede words; a
/// missing part precedes any part.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    // Versions that differ only in leading zeros (`1.01`, `1.1`) must still have a total order.
    parts(a).cmp(parts(b)).then_with(|| a.cmp(b))
}

fn parts(version: &str) -> impl Iterator<Item = (bool, usize, &str)> {
    version.split(['.', '-', '+', '_']).map(part)
}

/// Sort key of a part. Numbers without leading zeros compare by length, then by digits.
fn part(text: &str) -> (bool, usize, &str) {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return (true, 0, text);
    }
    let digits = text.trim_start_matches('0');
    (false, digits.len(), digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_numerically() {
        let ascending =
            "0.9 1 1.0 1.0.0 1.0.2 1.0.10 1.9.0 1.10.0 1.x 2.0.0 10.0.0 100000000000000000000.0 x";
        let ascending: Vec<&str> = ascending.split(' ').collect();
        let mut sorted = ascending.clone();
        sorted.reverse();
        sorted.sort_by(|a, b| compare_versions(a, b));
        assert_eq!(sorted, ascending);
        assert_eq!(compare_versions("1.0", "1.0"), Ordering::Equal);
        assert_ne!(compare_versions("1.01", "1.1"), Ordering::Equal);
    }
}
