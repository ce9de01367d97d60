//! Resolves literals and sets, under the flags, to the characters they match.

use super::ast::{Category, SetItem, flag};
use super::charset::CharSet;
use super::ir::{Case, Class};
use super::source::fail;
use super::unicode;
use crate::error::Result;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of ranges in all sets of a pattern; bounds memory.
const MAX_RANGES: usize = 1 << 20;
/// Maximum number of case mappings examined for all sets of a pattern; bounds compile time.
const MAX_CASES: usize = 1 << 22;
/// First code point with separate case-folding rules in Python.
const BEYOND_BMP: u32 = 0x1_0000;

/// Cache key of a set: negation, items, relevant flags.
type Key = (bool, Vec<(u32, u32)>, u32);

/// Builds the sets of a pattern, each distinct set once.
#[derive(Default)]
pub(super) struct Classes {
    cache: HashMap<Key, Class>,
    ranges: usize,
    cases: usize,
}

impl Classes {
    pub(super) fn literal(&mut self, code: u32, negate: bool, flags: u32) -> Result<Class> {
        let exact = flags & flag::IGNORECASE == 0 && !negate;
        if let Some(ch) = char::from_u32(code).filter(|_| exact) {
            return Ok(Class::One(ch));
        }
        let compute = || {
            let set = match case_of(flags) {
                Case::Exact => CharSet::new(vec![(code, code)]),
                Case::Ascii => CharSet::new(ascii_variants(code)),
                Case::Unicode => unicode_variants(code),
            };
            if negate { set.complement() } else { set }
        };
        self.cached((negate, vec![(code, code)], literal_key(flags)), 1, compute)
    }

    pub(super) fn set(&mut self, negate: bool, items: &[SetItem], flags: u32) -> Result<Class> {
        if let ([SetItem::Category(category, false)], false) = (items, negate || flags & flag::UNICODE == 0) {
            return Ok(Class::Set(Arc::clone(unicode_category(*category))));
        }
        let key = (negate, items.iter().map(item_key).collect(), flags & (flag::IGNORECASE | flag::UNICODE));
        let folded = flags & flag::IGNORECASE != 0;
        let cases = if folded { items.iter().map(cases_in).sum() } else { 0 };
        let compute = || {
            let set = members(items, flags);
            if negate { set.complement() } else { set }
        };
        self.cached(key, cases, compute)
    }

    fn cached(&mut self, key: Key, cases: usize, compute: impl FnOnce() -> CharSet) -> Result<Class> {
        if let Some(class) = self.cache.get(&key) {
            return Ok(class.clone());
        }
        self.cases = self.cases.saturating_add(cases);
        if self.cases > MAX_CASES {
            return fail("regular expression is too large");
        }
        let class = simplest(compute());
        if let Class::Set(set) = &class {
            self.ranges += set.ranges().len();
        }
        if self.ranges > MAX_RANGES {
            return fail("regular expression is too large");
        }
        self.cache.insert(key, class.clone());
        Ok(class)
    }
}

/// Returns the flags part of the cache key of a literal. Differs from the key of a one-character set, because
/// the rules for the two differ beyond the BMP.
fn literal_key(flags: u32) -> u32 {
    flags & (flag::IGNORECASE | flag::UNICODE) | 1 << 31
}

fn item_key(item: &SetItem) -> (u32, u32) {
    match *item {
        SetItem::Range(low, high) => (low, high),
        // Distinct from every range, because ranges end at or after their start.
        SetItem::Category(category, negate) => (u32::MAX, category as u32 * 2 + u32::from(negate)),
    }
}

/// Returns the number of characters of an item that have a case mapping.
fn cases_in(item: &SetItem) -> usize {
    match *item {
        SetItem::Range(low, high) => unicode::lowered_in(low, high).len(),
        SetItem::Category(..) => unicode::lowered_in(0, u32::MAX).len(),
    }
}

fn simplest(set: CharSet) -> Class {
    match set.ranges() {
        [(low, high)] if low == high => match char::from_u32(*low) {
            Some(ch) => Class::One(ch),
            None => Class::Set(Arc::new(set)),
        },
        _ => Class::Set(Arc::new(set)),
    }
}

fn case_of(flags: u32) -> Case {
    match flags & (flag::IGNORECASE | flag::UNICODE) {
        0 | flag::UNICODE => Case::Exact,
        flag::IGNORECASE => Case::Ascii,
        _ => Case::Unicode,
    }
}

fn ascii_variants(code: u32) -> Vec<(u32, u32)> {
    let lower = unicode::lower_ascii(code);
    let cased = (0x61..=0x7A).contains(&lower);
    if cased { vec![(lower, lower), (lower - 32, lower - 32)] } else { vec![(code, code)] }
}

/// Returns the characters that match a letter if case is ignored.
fn unicode_variants(code: u32) -> CharSet {
    if !unicode::any_cased(code, code) {
        return CharSet::new(vec![(code, code)]);
    }
    let lower = unicode::lower(code);
    let mut folded = vec![(lower, lower)];
    add_extra_cases(&mut folded);
    same_lower(&CharSet::new(folded), Case::Unicode)
}

/// Adds the lower-case characters that share an upper case with a character in the ranges.
fn add_extra_cases(ranges: &mut Vec<(u32, u32)>) {
    let own: Vec<(u32, u32)> = std::mem::take(ranges);
    for &(low, high) in &own {
        ranges.push((low, high));
        for group in unicode::extra_cases(low, high) {
            ranges.extend(group.iter().map(|&code| (code, code)));
        }
    }
}

/// Returns the characters whose lower case is in the set.
fn same_lower(set: &CharSet, case: Case) -> CharSet {
    let mut removed = Vec::new();
    let mut added = Vec::new();
    for &(low, high) in set.ranges() {
        if case == Case::Ascii {
            removed.extend((low.max(0x41)..=high.min(0x5A)).filter(|&code| !set.contains(code + 32)));
            added.extend((low.max(0x61)..=high.min(0x7A)).map(|code| (code - 32, code - 32)));
            continue;
        }
        let unmapped = unicode::lowered_in(low, high).iter().filter(|pair| !set.contains(pair.1));
        removed.extend(unmapped.map(|pair| pair.0));
        added.extend(unicode::lowering_to(low, high).iter().map(|pair| (pair.1, pair.1)));
    }
    set.without(&removed).union(&CharSet::new(added))
}

fn unicode_category(category: Category) -> &'static Arc<CharSet> {
    match category {
        Category::Digit => &unicode::DIGIT,
        Category::Space => &unicode::SPACE,
        Category::Word => &unicode::WORD,
    }
}

fn ascii_category(category: Category) -> CharSet {
    CharSet::new(match category {
        Category::Digit => vec![(0x30, 0x39)],
        Category::Space => vec![(9, 13), (32, 32)],
        Category::Word => vec![(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
    })
}

fn category_ranges(category: Category, negate: bool, flags: u32, into: &mut Vec<(u32, u32)>) {
    let ascii;
    let set: &CharSet = if flags & flag::UNICODE == 0 {
        ascii = ascii_category(category);
        &ascii
    } else {
        unicode_category(category)
    };
    if negate {
        into.extend(set.complement().ranges());
    } else {
        into.extend(set.ranges());
    }
}

/// Returns the characters that the items match, without negation.
fn members(items: &[SetItem], flags: u32) -> CharSet {
    let case = case_of(flags);
    let mut ranges = Vec::new();
    let mut cased = false;
    for item in items {
        match *item {
            SetItem::Category(category, negate) => category_ranges(category, negate, flags, &mut ranges),
            SetItem::Range(low, high) if case == Case::Exact => ranges.push((low, high)),
            SetItem::Range(low, high) => {
                cased |= range_is_cased(low, high, case);
                fold_range(low, high, case, &mut ranges);
            }
        }
    }
    let set = CharSet::new(ranges);
    // Without a cased member, Python compares characters unchanged.
    if cased { same_lower(&set, case) } else { set }
}

fn range_is_cased(low: u32, high: u32, case: Case) -> bool {
    if high >= BEYOND_BMP {
        return true;
    }
    match case {
        Case::Exact => false,
        Case::Ascii => (low <= 0x5A && high >= 0x41) || (low <= 0x7A && high >= 0x61),
        Case::Unicode => unicode::any_cased(low, high),
    }
}

/// Adds the lower cases of a range. Code points beyond the BMP are not lowered: a single code represents
/// itself, and a range represents the characters in it and those whose upper case is in it.
fn fold_range(low: u32, high: u32, case: Case, into: &mut Vec<(u32, u32)>) {
    if low < BEYOND_BMP {
        let high = high.min(BEYOND_BMP - 1);
        let mut folded = lower_range(low, high, case);
        if case == Case::Unicode {
            add_extra_cases(&mut folded);
        }
        into.extend(folded);
    }
    if high >= BEYOND_BMP {
        into.push((low, high));
        if low != high {
            into.extend(unicode::raising_to(low, high).iter().map(|pair| (pair.1, pair.1)));
        }
    }
}

fn lower_range(low: u32, high: u32, case: Case) -> Vec<(u32, u32)> {
    let whole = CharSet::new(vec![(low, high)]);
    let mut changed: Vec<(u32, u32)> = match case {
        Case::Ascii => (low.max(0x41)..=high.min(0x5A)).map(|code| (code, code + 32)).collect(),
        _ => unicode::lowered_in(low, high).to_vec(),
    };
    changed.sort_unstable();
    let codes: Vec<u32> = changed.iter().map(|pair| pair.0).collect();
    let mut out = whole.without(&codes).ranges().to_vec();
    out.extend(changed.iter().map(|pair| (pair.1, pair.1)));
    out
}
