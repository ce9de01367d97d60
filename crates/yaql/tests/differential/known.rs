//! Known differences from Python YAQL, each documented.
//!
//! Each rule is linked to a row of `docs/yaql-differences.md` by the text of its first cell, and a test
//! compares the two: a rule without a row, or a changed row, fails. A rule matches the error classes of both
//! sides as well as the text, so that a new defect in the same expression is not accepted.

use crate::compare::{Difference, has_omitted_element, outcome};
use crate::normalize::{has_surrogate, nesting, without_addresses, without_scalars};

/// The row of the documentation and the condition under which it explains a difference.
struct KnownDifference {
    row: &'static str,
    applies: fn(&Pair<'_>) -> bool,
}

/// An expression with both responses.
struct Pair<'a> {
    expression: &'a str,
    their_response: &'a str,
    /// Response of Python YAQL, in lower case.
    theirs: &'a str,
    ours: &'a str,
    difference: &'a Difference,
}

const LIMITS: &[&str] =
    &["CollectionTooLargeException", "MemoryQuotaExceededException", "StepLimitExceededException", "Timeout"];
const ITERATOR_TEXT: &str = "text of iterators and contexts";
const SURROGATE: &str = "half of a surrogate pair (`'\\ud83d'`)";
const OMITTED_ELEMENT: &str = "an omitted element of a list (`[1, , 2][1]`)";
const ITERATOR_TYPE: &str = "type name of an iterator without output conversion (`[1].select($)`)";
const OFFSET_AND_PAIR: &str =
    "a time zone offset of a day or more, in a call with a pair that is no argument";
/// Number of nested brackets below which Python YAQL does not exceed its recursion limit.
const NESTING_MIN: usize = 50;
const LEGACY_RANGE: &str = "a legacy `range()` as a dictionary key, or with more than 2^63 elements";

const KNOWN: &[KnownDifference] = &[
    KnownDifference {
        row: "`len()` of an endless iterator, `[x] * huge`",
        applies: |pair| pair.theirs_is(&["Timeout", "MemoryError"]) && pair.ours_is(LIMITS),
    },
    KnownDifference {
        row: "nesting of an expression",
        applies: |pair| {
            nesting(pair.expression) >= NESTING_MIN
                && pair.theirs_is(&["RecursionError"])
                && pair.ours_is(&["ok"])
        },
    },
    KnownDifference {
        row: "a negative number to a fractional power",
        applies: |pair| {
            (pair.theirs.contains("complex") && pair.ours_is(&["ValueError"]))
                || pair.ours.contains("complex result")
        },
    },
    KnownDifference {
        row: SURROGATE,
        applies: |pair| has_surrogate(pair.expression) && pair.theirs_is(&["UnicodeEncodeError"]),
    },
    // The comparison reads both sides as U+FFFD: what remains is a length or an order.
    KnownDifference {
        row: SURROGATE,
        applies: |pair| has_surrogate(pair.expression) && pair.are_equal(without_scalars),
    },
    // Equality and membership return a boolean, `indexOf` and `len` of a set a number.
    KnownDifference {
        row: "two NaNs inside containers",
        applies: |pair| pair.has_word("nan") && pair.are_equal(without_scalars),
    },
    KnownDifference { row: ITERATOR_TEXT, applies: |pair| pair.are_equal(without_addresses) },
    // The value has a part of the text, or a text of Python without an address.
    KnownDifference {
        row: ITERATOR_TEXT,
        applies: |pair| {
            let theirs = without_addresses(pair.theirs);
            let is_part = ["0x7", "object at", "count(", "repeat("].iter().any(|part| theirs.contains(part));
            let is_ours = ["object>", "<gener"].iter().any(|part| pair.ours.contains(part));
            is_part && is_ours && pair.are_both_values()
        },
    },
    // The value is the length of a text with an iterator.
    KnownDifference {
        row: ITERATOR_TEXT,
        applies: |pair| {
            let prints =
                ["str(", "join(", "replace", "concat("].iter().any(|name| pair.expression.contains(name));
            prints && pair.expression.contains("len") && pair.are_equal(without_scalars)
        },
    },
    KnownDifference {
        row: OMITTED_ELEMENT,
        applies: |pair| {
            pair.ours.contains("NoValue")
                || pair.theirs.contains("novalue")
                || (has_omitted_element(pair.expression)
                    && (pair.are_both_values() || pair.theirs_is(&["NoMatchingFunctionException"])))
        },
    },
    KnownDifference {
        row: "a time zone offset of a day or more inside a container",
        applies: |pair| pair.theirs.contains("offset must be a timedelta strictly") && pair.ours_is(&["ok"]),
    },
    KnownDifference {
        row: OFFSET_AND_PAIR,
        applies: |pair| {
            pair.theirs_is(&["MappingTranslationException"])
                && pair.ours.contains("offset must be a timedelta strictly")
        },
    },
    // A list made by splitting has spare capacity in Python YAQL, which is counted when the list is repeated.
    KnownDifference {
        row: "quotas of a few hundred bytes",
        applies: |pair| {
            pair.theirs_is(&["MemoryQuotaExceededException"]) && pair.ours.contains("index-sized integer")
        },
    },
    KnownDifference {
        row: LEGACY_RANGE,
        applies: |pair| pair.expression.contains("range(") && pair.ours.contains("unhashable type: 'list'"),
    },
    KnownDifference {
        row: LEGACY_RANGE,
        applies: |pair| pair.expression.contains("range(") && pair.theirs.contains("convert to c ssize_t"),
    },
    KnownDifference {
        row: ITERATOR_TYPE,
        applies: |pair| {
            let is_iterator = pair.ours.contains("\"type\": \"generator\"")
                || (pair.expression.contains("range(") && pair.theirs.contains("\"type\": \"range\""));
            is_iterator && pair.theirs.contains("{\"$yaql\": \"opaque\"") && pair.are_both_values()
        },
    },
    KnownDifference {
        row: "a selector for a regular expression with named groups",
        applies: |pair| {
            let selects =
                ["search(", "searchAll(", "replaceBy("].iter().any(|name| pair.expression.contains(name));
            selects && pair.expression.contains("(?P<") && pair.theirs_is(&["ValueError"])
        },
    },
];

/// Rows that explain no difference of this test, each with the reason.
const WITHOUT_RULE: &[(&str, &str)] = &[
    (
        "`changed($.a.b)` of a path that exists in neither state (Fuel's function)",
        "not a function of the reference",
    ),
    ("order of sets and of `characters()`", "the reference is nondeterministic, which the test detects"),
    (
        "work beyond the limits of [the command line](cli.md)",
        "the limits of the test exceed those of the reference",
    ),
];

/// Requests whose responses differ for the reason given in the row. Rows about timeouts, nondeterminism and
/// memory have no examples, because these would be slow or depend on the machine. Neither have surrogates,
/// which the comparison itself reads as U+FFFD.
#[rustfmt::skip]
pub(crate) const EXAMPLES: &[(&str, &str)] = &[
    ("a negative number to a fractional power", r#"{"expr": "pow(-8, 0.5)"}"#),
    ("two NaNs inside containers", r#"{"expr": "[float(nan)] = [float(nan)]"}"#),
    (ITERATOR_TEXT, r#"{"expr": "str([1].select($))"}"#),
    ("a selector for a regular expression with named groups", r#"{"expr": "regex('(?P<x>a)').search(ab, $x)"}"#),
    (OMITTED_ELEMENT, r#"{"expr": "isString([1, , 2][1])"}"#),
    (OMITTED_ELEMENT, r#"{"expr": "[1, , 2].where($ = null)"}"#),
    ("a time zone offset of a day or more inside a container", r#"{"expr": "[datetime(2000, 1, 1).replace(offset => timespan(days => 1))] = [datetime(2000, 1, 1)]"}"#),
    (OFFSET_AND_PAIR, r#"{"expr": "datetime(1, 1, 1, offset => timespan(days => 1)).replace(null => null)"}"#),
    (LEGACY_RANGE, r#"{"expr": "{range(0, 3) => 1}.len()", "options": {"legacy": "context"}}"#),
    (LEGACY_RANGE, r#"{"expr": "len(range(0, 99999999999999999999))", "options": {"legacy": "context"}}"#),
    (ITERATOR_TYPE, r#"{"expr": "[1, 2].select($)", "options": {"yaql.convertOutputData": false}}"#),
    (ITERATOR_TYPE, r#"{"expr": "range(0, 3)", "options": {"legacy": "context", "yaql.convertOutputData": false}}"#),
];

/// Returns the row of the documentation that explains this difference, if one does.
pub(crate) fn accepted_difference(
    expression: &str,
    theirs: &str,
    ours: &str,
    difference: &Difference,
) -> Option<&'static str> {
    let lower = theirs.to_lowercase();
    let pair = Pair { expression, their_response: theirs, theirs: &lower, ours, difference };
    KNOWN.iter().find(|known| (known.applies)(&pair)).map(|known| known.row)
}

impl Pair<'_> {
    fn theirs_is(&self, classes: &[&str]) -> bool {
        classes.contains(&self.difference.theirs.as_str())
    }

    fn ours_is(&self, classes: &[&str]) -> bool {
        classes.contains(&self.difference.ours.as_str())
    }

    /// Reports whether both responses are values that are equal after this normalization.
    fn are_equal(&self, normalized: fn(&str) -> String) -> bool {
        let value = |response: &str| normalized(&outcome(response).1.to_lowercase());
        self.are_both_values() && value(self.their_response) == value(self.ours)
    }

    /// Reports whether the expression contains the word outside of longer words.
    fn has_word(&self, word: &str) -> bool {
        self.expression.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|other| other == word)
    }

    fn are_both_values(&self) -> bool {
        self.theirs_is(&["ok"]) && self.ours_is(&["ok"])
    }
}

#[test]
fn known_differences_are_documented() {
    let page = include_str!("../../../../docs/yaql-differences.md");
    let rows: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    for known in KNOWN {
        assert!(rows.contains(&known.row), "docs/yaql-differences.md has no row `{}`", known.row);
    }
    let header = ["case", "---"];
    for row in rows.iter().filter(|row| !header.contains(row)) {
        let has_rule = KNOWN.iter().any(|known| known.row == *row);
        let is_exempt = WITHOUT_RULE.iter().any(|(exempt, _)| exempt == row);
        assert!(has_rule != is_exempt, "`{row}` has no rule and is not exempt, or both");
    }
}

#[test]
fn other_values_are_not_accepted() {
    let both_values = Difference { theirs: "ok".to_owned(), ours: "ok".to_owned() };
    let accepted = |expression: &str, theirs: &str, ours: &str| {
        accepted_difference(
            expression,
            &format!("{{\"ok\": {theirs}}}"),
            &format!("{{\"ok\": {ours}}}"),
            &both_values,
        )
    };
    assert!(accepted("[float(nan)] = [float(nan)]", "false", "true").is_some());
    assert_eq!(accepted("[float(nan)] + [a]", "[\"a\"]", "[\"b\"]"), None);
    assert_eq!(accepted("banana = 1", "false", "true"), None);
    let (theirs, ours) = ("\"x <map object at 0x7f12ab>\"", "\"x <generator object>\"");
    assert_eq!(accepted("'x ' + str([1].select($))", theirs, ours), Some(ITERATOR_TEXT));
    assert_eq!(accepted("'x ' + str([1].select($))", theirs, "\"y <generator object>\""), None);
    assert_eq!(accepted("str(sequence())", "\"count(0)\"", "\"<generator object>\""), Some(ITERATOR_TEXT));
    assert_eq!(accepted("'\\ud800'", "\"a\"", "\"b\""), None);
}

#[test]
fn other_error_classes_are_not_accepted() {
    let difference =
        |theirs: &str, ours: &str| Difference { theirs: theirs.to_owned(), ours: ours.to_owned() };
    // A wrong value is not explained by the word `nan` if one side failed.
    assert_eq!(
        accepted_difference("float(nan)", "{\"err\": \"X\"}", "{\"ok\": 1}", &difference("X", "ok")),
        None
    );
    // A time-out of Python YAQL explains an exceeded limit, not another error.
    assert_eq!(
        accepted_difference(
            "[1]",
            "{\"err\": \"Timeout\"}",
            "{\"err\": \"KeyError\"}",
            &difference("Timeout", "KeyError")
        ),
        None
    );
    let limit = difference("Timeout", "StepLimitExceededException");
    assert!(accepted_difference("[1]", "{\"err\": \"Timeout\"}", "{}", &limit).is_some());
}
