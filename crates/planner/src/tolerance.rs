//! How many nodes of a group may fail.

use stoker_model::Json;

/// A tolerance worked out, and what is odd about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tolerated {
    pub(crate) n_nodes: u64,
    pub(crate) warning: Option<String>,
}

/// Nodes that may fail out of `total`. Nothing said means that any number may; a negative number or percentage says how
/// many must succeed.
pub(crate) fn tolerated(value: Option<&Json>, total: u64) -> Tolerated {
    // One more than there are is never reached.
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
        let shown = value.map(ToString::to_string).unwrap_or_default();
        let warning =
            format!("{shown} is neither a number nor a percentage, so any number of nodes may fail");
        return Tolerated { n_nodes: unlimited, warning: Some(warning) };
    };
    let wide_total = i128::from(total);
    let n_nodes =
        if is_percentage { (i128::from(number) * wide_total).div_euclid(100) } else { i128::from(number) };
    let n_nodes = if number < 0 { (wide_total + n_nodes).max(0) } else { n_nodes };
    let warning = (is_percentage && number > 0 && n_nodes == 0 && total > 0)
        .then(|| format!("{number}% of {total} nodes is less than one, so none may fail"));
    // More than that is never reached either.
    Tolerated { n_nodes: u64::try_from(n_nodes).unwrap_or(unlimited).min(unlimited), warning }
}

/// The same of a text; none if it is neither a number nor a percentage.
pub fn tolerated_nodes(text: &str, total: u64) -> Option<u64> {
    let number = text.trim();
    let number = number.strip_suffix('%').map_or(number, str::trim_end);
    number.parse::<i64>().ok()?;
    Some(tolerated(Some(&Json::from(text)), total).n_nodes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: &Json, total: u64, expected: u64, is_odd: bool) {
        let found = tolerated(Some(value), total);
        assert_eq!((found.n_nodes, found.warning.is_some()), (expected, is_odd), "{value} of {total}");
    }

    #[test]
    fn the_table_of_the_reference() {
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
    fn texts_that_say_nothing_are_none() {
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
            assert_eq!(tolerated_nodes(text, 10), expected, "{text:?}");
        }
    }

    #[test]
    fn a_small_part_of_a_small_cluster_is_told() {
        check(&json!("2%"), 10, 0, true);
        check(&json!("2%"), 50, 1, false);
        check(&json!("0%"), 10, 0, false);
        check(&json!("2%"), 0, 0, false);
    }
}
