//! Fault tolerance of groups: how many nodes may fail.

use stoker_model::Json;

/// A resolved fault tolerance, with an optional warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tolerated {
    pub(crate) n_nodes: u64,
    pub(crate) warning: Option<String>,
}

/// Maximum number of failed nodes out of `total`. Without a value any number may fail; a negative number or
/// percentage is the number of nodes that must succeed.
pub(crate) fn tolerated(value: Option<&Json>, total: u64) -> Tolerated {
    // More failures than nodes cannot happen.
    let unlimited = total + 1;
    let exactly = |n_nodes| Tolerated { n_nodes, warning: None };
    let (number, is_percentage) = match value {
        None | Some(Json::Null) => return exactly(unlimited),
        Some(Json::Number(number)) => (number.as_i64(), false),
        Some(Json::String(text)) => match text.trim().strip_suffix('%') {
            Some(percentage) => (percentage.trim_end().parse().ok(), true),
            None => (text.trim().parse().ok(), false),
        },
        Some(_) => (None, false),
    };
    let Some(number) = number else {
        let text = value.map(ToString::to_string).unwrap_or_default();
        let warning = format!("{text} is neither a number nor a percentage, so any number of nodes may fail");
        return Tolerated { n_nodes: unlimited, warning: Some(warning) };
    };
    let wide_total = i128::from(total);
    let n_nodes =
        if is_percentage { (i128::from(number) * wide_total).div_euclid(100) } else { i128::from(number) };
    let n_nodes = if number < 0 { (wide_total + n_nodes).max(0) } else { n_nodes };
    let warning = (is_percentage && number > 0 && n_nodes == 0 && total > 0)
        .then(|| format!("{number}% of {total} nodes is less than one node, so no node may fail"));
    // Larger values mean the same as unlimited.
    Tolerated { n_nodes: u64::try_from(n_nodes).unwrap_or(unlimited).min(unlimited), warning }
}

/// Parses a text such as `3`, `10%` or `-1` and resolves it for `total` nodes; `None` if it is neither a
/// number nor a percentage.
pub fn parse_fault_tolerance(text: &str, total: u64) -> Option<u64> {
    let number = text.trim();
    let number = number.strip_suffix('%').map_or(number, str::trim_end);
    number.parse::<i64>().ok()?;
    Some(tolerated(Some(&Json::from(text)), total).n_nodes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: &Json, total: u64, expected: u64, has_warning: bool) {
        let tolerance = tolerated(Some(value), total);
        assert_eq!(
            (tolerance.n_nodes, tolerance.warning.is_some()),
            (expected, has_warning),
            "{value} of {total}"
        );
    }

    #[test]
    fn tolerances_match_fuel() {
        assert_eq!(tolerated(None, 10).n_nodes, 11);
        check(&json!(null), 10, 11, false);
        check(&json!(3), 10, 3, false);
        check(&json!("3"), 10, 3, false);
        check(&json!("10%"), 10, 1, false);
        check(&json!(" -10%"), 10, 9, false);
        check(&json!("-1 "), 10, 9, false);
        check(&json!(-20), 10, 0, false);
        check(&json!("2.5%"), 10, 11, true);
        check(&json!("abc"), 10, 11, true);
        check(&json!(0), 10, 0, false);
        check(&json!(99), 10, 11, false);
        check(&json!("300%"), 10, 11, false);
    }

    #[test]
    fn invalid_texts_are_rejected() {
        for (text, expected) in [
            ("3", Some(3)),
            (" 10% ", Some(1)),
            ("-1", Some(9)),
            ("10 %", Some(1)),
            ("2.5%", None),
            ("", None),
            ("%", None),
            ("some", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_fault_tolerance(text, 10), expected, "{text:?}");
        }
    }

    #[test]
    fn percentage_below_one_node_is_reported() {
        check(&json!("2%"), 10, 0, true);
        check(&json!("2%"), 50, 1, false);
        check(&json!("0%"), 10, 0, false);
        check(&json!("2%"), 0, 0, false);
    }
}
