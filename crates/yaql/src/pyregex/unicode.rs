//! Character classification and case mapping of Python 3.11 (Unicode 14).

use super::charset::CharSet;
use regex_syntax::hir::{Class, HirKind};
use std::sync::{Arc, LazyLock};

/// Returns the code points of a bracket expression that are assigned in Unicode 14.
fn class(pattern: &str) -> Arc<CharSet> {
    let limited = format!(r"[{pattern}&&\p{{Age:14.0}}]");
    let ranges = match regex_syntax::parse(&limited).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.ranges().iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect()
        }
        // Unreachable for these constant patterns; a test checks them.
        _ => Vec::new(),
    };
    Arc::new(CharSet::new(ranges))
}

/// `str.isalnum()` or an underscore. Unlike the Unicode definition of `\w`, excludes combining marks.
pub(super) static WORD: LazyLock<Arc<CharSet>> = LazyLock::new(|| class(r"[\p{L}\p{N}_]"));
pub(super) static DIGIT: LazyLock<Arc<CharSet>> = LazyLock::new(|| class(r"\p{Nd}"));
/// `str.isspace()`: whitespace and the four ASCII separators.
pub(super) static SPACE: LazyLock<Arc<CharSet>> = LazyLock::new(|| class(r"[\p{White_Space}\x1C-\x1F]"));
static LETTER: LazyLock<Arc<CharSet>> = LazyLock::new(|| class(r"\p{L}"));
static NAME_START: LazyLock<Arc<CharSet>> = LazyLock::new(|| class(r"[\p{XID_Start}_]"));
// These four characters were added to the class after Unicode 14.
static NAME_CONTINUE: LazyLock<Arc<CharSet>> =
    LazyLock::new(|| class(r"[\p{XID_Continue}--[\u200C\u200D\u30FB\uFF65]]"));
static PRINTABLE: LazyLock<Arc<CharSet>> = LazyLock::new(|| class(r"[[^\p{C}\p{Z}]\x20]"));

pub(super) fn is_word(ch: char) -> bool {
    if ch.is_ascii() { is_ascii_word(ch) } else { WORD.contains(u32::from(ch)) }
}

pub(super) fn is_ascii_word(ch: char) -> bool {
    ch.is_ascii_alphanumeric() || ch == '_'
}

pub(super) fn is_letter(ch: char) -> bool {
    if ch.is_ascii() { ch.is_ascii_alphabetic() } else { LETTER.contains(u32::from(ch)) }
}

pub(super) fn is_printable(ch: char) -> bool {
    if ch.is_ascii() { !ch.is_ascii_control() } else { PRINTABLE.contains(u32::from(ch)) }
}

pub(super) fn is_space(ch: char) -> bool {
    SPACE.contains(u32::from(ch))
}

/// Reports whether `str.isidentifier()` is true.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let start = |ch: char| {
        if ch.is_ascii() { ch.is_ascii_alphabetic() || ch == '_' } else { NAME_START.contains(u32::from(ch)) }
    };
    let rest =
        |ch: char| if ch.is_ascii() { is_ascii_word(ch) } else { NAME_CONTINUE.contains(u32::from(ch)) };
    chars.next().is_some_and(start) && chars.all(rest)
}

/// Returns the value of a decimal digit of any script. The digits of each script are consecutive.
pub(super) fn digit_value(ch: char) -> Option<u32> {
    if let Some(value) = ch.to_digit(10) {
        return Some(value);
    }
    let code = u32::from(ch);
    let range = DIGIT.ranges().iter().find(|range| range.0 <= code && code <= range.1)?;
    Some((code - range.0) % 10)
}

/// Case mappings, in both directions.
struct CaseTable {
    /// Pairs `(code, lower case)`, sorted.
    lower: Vec<(u32, u32)>,
    /// Pairs `(lower case, code)`, sorted.
    inverse: Vec<(u32, u32)>,
    /// Pairs `(upper case, code)`, sorted.
    upper_inverse: Vec<(u32, u32)>,
}

fn case_mappings(pattern: &str, change: impl Fn(char) -> Option<char>) -> Vec<(u32, u32)> {
    let set = class(pattern);
    let codes = set.ranges().iter().flat_map(|&(low, high)| low..=high);
    let pairs = codes.filter_map(|code| {
        let other = u32::from(change(char::from_u32(code)?)?);
        (other != code && is_assigned(other)).then_some((code, other))
    });
    pairs.collect()
}

/// Reports whether a code point is assigned in Unicode 14. Mappings added later lead to newer code points.
fn is_assigned(code: u32) -> bool {
    static ASSIGNED: LazyLock<Arc<CharSet>> = LazyLock::new(|| class(r"\p{Any}"));
    ASSIGNED.contains(code)
}

fn inverse(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut out: Vec<_> = pairs.iter().map(|&(code, other)| (other, code)).collect();
    out.sort_unstable();
    out
}

static CASES: LazyLock<CaseTable> = LazyLock::new(|| {
    // The simple case mapping is the first character of the full mapping.
    let lower = case_mappings(r"\p{Changes_When_Lowercased}", |ch| ch.to_lowercase().next());
    let upper = case_mappings(r"\p{Changes_When_Uppercased}", |ch| ch.to_uppercase().next());
    CaseTable { inverse: inverse(&lower), upper_inverse: inverse(&upper), lower }
});

fn slice(pairs: &[(u32, u32)], low: u32, high: u32) -> &[(u32, u32)] {
    let start = pairs.partition_point(|pair| pair.0 < low);
    let end = pairs.partition_point(|pair| pair.0 <= high);
    pairs.get(start..end).unwrap_or_default()
}

pub(super) fn lower(code: u32) -> u32 {
    if code < 128 {
        return lower_ascii(code);
    }
    slice(&CASES.lower, code, code).first().map_or(code, |pair| pair.1)
}

pub(super) fn lower_ascii(code: u32) -> u32 {
    if (0x41..=0x5A).contains(&code) { code + 32 } else { code }
}

/// Returns the characters of a range that have a different lower case, with it.
pub(super) fn lowered_in(low: u32, high: u32) -> &'static [(u32, u32)] {
    slice(&CASES.lower, low, high)
}

/// Returns the characters whose lower case is in a range, each preceded by it.
pub(super) fn lowering_to(low: u32, high: u32) -> &'static [(u32, u32)] {
    slice(&CASES.inverse, low, high)
}

/// Returns the characters whose upper case is in a range, each preceded by it.
pub(super) fn raising_to(low: u32, high: u32) -> &'static [(u32, u32)] {
    slice(&CASES.upper_inverse, low, high)
}

/// Reports whether a range contains a cased character.
pub(super) fn any_cased(low: u32, high: u32) -> bool {
    static CASED: LazyLock<CharSet> = LazyLock::new(|| {
        let lowered = CASES.lower.iter().map(|pair| (pair.0, pair.0));
        let raised = CASES.upper_inverse.iter().map(|pair| (pair.1, pair.1));
        CharSet::new(lowered.chain(raised).collect())
    });
    let ranges = CASED.ranges();
    let index = ranges.partition_point(|range| range.1 < low);
    ranges.get(index).is_some_and(|range| range.0 <= high)
}

/// Groups of lower-case characters that match each other because they share an upper case.
const EXTRA_CASES: &[&[u32]] = &[
    &[0x69, 0x131],
    &[0x73, 0x17F],
    &[0xB5, 0x3BC],
    &[0x345, 0x3B9, 0x1FBE],
    &[0x390, 0x1FD3],
    &[0x3B0, 0x1FE3],
    &[0x3B2, 0x3D0],
    &[0x3B5, 0x3F5],
    &[0x3B8, 0x3D1],
    &[0x3BA, 0x3F0],
    &[0x3C0, 0x3D6],
    &[0x3C1, 0x3F1],
    &[0x3C2, 0x3C3],
    &[0x3C6, 0x3D5],
    &[0x432, 0x1C80],
    &[0x434, 0x1C81],
    &[0x43E, 0x1C82],
    &[0x441, 0x1C83],
    &[0x442, 0x1C84, 0x1C85],
    &[0x44A, 0x1C86],
    &[0x463, 0x1C87],
    &[0x1C88, 0xA64B],
    &[0x1E61, 0x1E9B],
    &[0xFB05, 0xFB06],
];

/// Returns the groups of [`EXTRA_CASES`] with a member in a range.
pub(super) fn extra_cases(low: u32, high: u32) -> impl Iterator<Item = &'static [u32]> {
    let hit = move |group: &&&[u32]| group.iter().any(|&code| low <= code && code <= high);
    EXTRA_CASES.iter().filter(hit).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares sizes with those of Python's tables.
    #[test]
    fn tables_match_unicode_14() {
        let sizes =
            [&WORD, &DIGIT, &SPACE, &LETTER, &NAME_START, &NAME_CONTINUE].map(|set| set.ranges().len());
        assert_eq!(sizes, [734, 62, 10, 648, 656, 763]);
        assert_eq!(PRINTABLE.ranges().len(), 700);
        assert_eq!(CASES.lower.len(), 1433);
        assert!(lower(0x130) == 0x69 && lower(0x212A) == 0x6B && lower(0x10400) == 0x10428);
    }
}
