//! Compiles a `strptime` format and matches it against text.
//!
//! Python converts the format to a regular expression. This module performs the same backtracking search: the
//! alternatives of a directive are tried in order.

use std::collections::HashSet;

use smallvec::{SmallVec, smallvec};

use crate::error::{Error, ErrorClass, Result};

use super::chars::{decimal_value, is_space, quoted, same_letter};
use super::strftime::{MONTHS, WEEKDAYS};

enum Item {
    Literal(char),
    /// A run of whitespace.
    Space,
    Directive(char),
}

pub(super) struct Template {
    items: Vec<Item>,
}

/// The text matched by a directive.
pub(super) type Group = (char, String);

/// Returns the alternatives of a numeric directive, separated by `|`. Each pair of characters is the range of
/// one digit; `**` is any decimal digit.
fn ranges(directive: char) -> &'static str {
    match directive {
        'd' => "3301|12**|0019|19|  19",
        'f' => "090909090909|0909090909|09090909|090909|0909|09",
        'H' => "2203|01**|**",
        'I' | 'm' => "1102|0019|19",
        'j' => "336606|3305**|12****|0019**|000019|19**|0019|19",
        'M' => "05**|**",
        'S' => "6601|05**|**",
        'U' | 'W' => "5503|04**|**",
        'V' => "5503|0019|14**|**",
        'w' => "06",
        'u' => "17",
        'y' => "****",
        'G' | 'Y' => "********",
        _ => "",
    }
}

/// Returns the length of Python's regular expression for a directive, which determines error
/// positions.
fn pattern_len(directive: char) -> Option<usize> {
    Some(match directive {
        'd' => 41,
        'f' | 'M' => 17,
        'H' | 'S' | 'U' | 'W' => 24,
        'I' | 'm' => 26,
        'G' | 'Y' => 15,
        'j' => 71,
        'w' | 'u' | 'p' => 12,
        'V' => 31,
        'y' => 11,
        'z' => 56,
        'A' => 63,
        'a' => 34,
        'B' => 92,
        'b' => 54,
        'Z' => 14,
        _ => return None,
    })
}

impl Template {
    pub(super) fn new(format: &str) -> Result<Self> {
        let mut items = Vec::new();
        parse(format, format, &mut items)?;
        check_groups(&items)?;
        Ok(Self { items })
    }

    /// Returns the matched groups in format order and the number of characters matched.
    pub(super) fn matches(&self, text: &[char]) -> Option<(Vec<Group>, usize)> {
        let mut visited = HashSet::new();
        let mut stack = vec![(0, 0, Vec::<(usize, usize)>::new())];
        while let Some((mut item, mut at, mut groups)) = stack.pop() {
            loop {
                let Some(current) = self.items.get(item) else {
                    return Some((self.groups(text, &groups), at));
                };
                let lengths = lengths(current, &text[at..]);
                item += 1;
                let Some((&first, others)) = lengths.split_first() else { break };
                let capture = matches!(current, Item::Directive(_));
                for &length in others.iter().rev() {
                    // A state that failed once would fail again.
                    if visited.insert((item, at + length)) {
                        let mut groups = groups.clone();
                        groups.extend(capture.then_some((at, at + length)));
                        stack.push((item, at + length, groups));
                    }
                }
                groups.extend(capture.then_some((at, at + first)));
                at += first;
                if !others.is_empty() && !visited.insert((item, at)) {
                    break;
                }
            }
        }
        None
    }

    fn groups(&self, text: &[char], spans: &[(usize, usize)]) -> Vec<Group> {
        let directives = self.items.iter().filter_map(|item| match item {
            Item::Directive(c) => Some(*c),
            _ => None,
        });
        directives.zip(spans).map(|(c, &(from, to))| (c, text[from..to].iter().collect())).collect()
    }
}

fn parse(text: &str, format: &str, items: &mut Vec<Item>) -> Result<()> {
    let fail = |message: String| Err(Error::value(message).into());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '%' => match chars.next() {
                None => return fail(format!("stray % in format '{format}'")),
                Some('%') => items.push(Item::Literal('%')),
                Some('c') => parse("%a %b %d %H:%M:%S %Y", format, items)?,
                Some('x') => parse("%m/%d/%y", format, items)?,
                Some('X') => parse("%H:%M:%S", format, items)?,
                Some(c) if pattern_len(c).is_some() => items.push(Item::Directive(c)),
                // Python has escaped these with a backslash and reports the percent sign.
                Some(c) if is_special(c) || is_space(c) => {
                    return fail(format!("'%' is a bad directive in format '{format}'"));
                }
                Some(c) => return fail(format!("'{c}' is a bad directive in format '{format}'")),
            },
            c if is_space(c) => {
                while chars.next_if(|&c| is_space(c)).is_some() {}
                items.push(Item::Space);
            }
            c => items.push(Item::Literal(c)),
        }
    }
    Ok(())
}

fn is_special(c: char) -> bool {
    r"\.^$*+?(){}[]|".contains(c)
}

/// Fails if a directive occurs twice: each is a named group of Python's regular expression.
fn check_groups(items: &[Item]) -> Result<()> {
    let mut groups: Vec<(char, usize)> = Vec::new();
    let (mut position, mut group) = (0, 1);
    for item in items {
        match *item {
            Item::Literal(c) => position += 1 + usize::from(is_special(c)),
            Item::Space => position += 3,
            Item::Directive(c) => {
                if let Some((_, first)) = groups.iter().find(|(name, _)| *name == c) {
                    let message = format!(
                        "redefinition of group name {} as group {group}; was group {first} at position {}",
                        quoted(&c.to_string()),
                        position + 4
                    );
                    return Err(Error::new(ErrorClass::Regex, message).into());
                }
                groups.push((c, group));
                position += pattern_len(c).unwrap_or(0);
                group += if c == 'z' { 3 } else { 1 };
            }
        }
    }
    Ok(())
}

type Lengths = SmallVec<[usize; 8]>;

/// Returns the possible match lengths of an item, in order of preference.
fn lengths(item: &Item, text: &[char]) -> Lengths {
    match *item {
        Item::Literal(c) => {
            text.first().filter(|&&letter| same_letter(c, letter)).map(|_| 1).into_iter().collect()
        }
        Item::Space => {
            let run = text.iter().take_while(|&&c| is_space(c)).count();
            // Only `%d` can match a blank after the run, and at most one.
            [run, run.saturating_sub(1)].into_iter().filter(|&length| length > 0).collect()
        }
        Item::Directive('z') => zone_lengths(text),
        Item::Directive('A') => name_length(text, &WEEKDAYS, usize::MAX),
        Item::Directive('a') => name_length(text, &WEEKDAYS, 3),
        Item::Directive('B') => name_length(text, &MONTHS, usize::MAX),
        Item::Directive('b') => name_length(text, &MONTHS, 3),
        Item::Directive('p') => name_length(text, &["am", "pm"], 2),
        Item::Directive('Z') => name_length(text, &["utc", "gmt"], 3),
        Item::Directive(c) => {
            let alternatives = ranges(c).split('|').map(str::as_bytes);
            alternatives.filter(|row| row_matches(row, text)).map(|row| row.len() / 2).collect()
        }
    }
}

fn row_matches(row: &[u8], text: &[char]) -> bool {
    row.len() / 2 <= text.len()
        && row.chunks_exact(2).zip(text).all(|(range, &c)| match range {
            [b'*', b'*'] => decimal_value(c).is_some(),
            [first, last] => (char::from(*first)..=char::from(*last)).contains(&c),
            _ => false,
        })
}

fn name_length(text: &[char], names: &[&str], letters: usize) -> Lengths {
    let matches = |name: &&&str| {
        let length = name.len().min(letters);
        text.len() >= length && name.chars().take(length).zip(text).all(|(a, &b)| same_letter(a, b))
    };
    names.iter().find(matches).map(|name| name.len().min(letters)).into_iter().collect()
}

/// Returns the match lengths of `±HH[:]MM[[:]SS[.f…]]` or `Z`.
fn zone_lengths(text: &[char]) -> Lengths {
    let minutes = |at: usize| {
        let at = at + usize::from(text.get(at) == Some(&':'));
        text.get(at..).is_some_and(|rest| row_matches(b"05**", rest)).then_some(at + 2)
    };
    if text.first() == Some(&'Z') {
        return smallvec![1];
    }
    let signed = matches!(text.first(), Some('+' | '-')) && row_matches(b"****", &text[1..]);
    let Some(short) = signed.then(|| minutes(3)).flatten() else { return Lengths::new() };
    let Some(long) = minutes(short) else { return smallvec![short] };
    let mut lengths = Lengths::new();
    if text.get(long) == Some(&'.') {
        let digits = text[long + 1..].iter().take(6).take_while(|&&c| decimal_value(c).is_some()).count();
        lengths.extend((1..=digits).rev().map(|count| long + 1 + count));
    }
    lengths.extend([long, short]);
    lengths
}
