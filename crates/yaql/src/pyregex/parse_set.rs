//! Parses escapes and character sets.

use super::ast::{Anchor, Category, Node, SetItem};
use super::parse::Parser;
use super::source::Token;
use super::text::quote;
use crate::error::Result;

/// The meaning of an escape inside a set.
#[derive(Clone, Copy)]
enum Member {
    Code(u32),
    Category(Category, bool),
}

impl Member {
    fn item(self) -> SetItem {
        match self {
            Self::Code(code) => SetItem::Range(code, code),
            Self::Category(category, negate) => SetItem::Category(category, negate),
        }
    }
}

/// Returns the character of a control escape, which is valid in patterns, sets and templates.
pub(super) fn control_escape(ch: char) -> Option<u32> {
    Some(match ch {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        '\\' => 92,
        _ => return None,
    })
}

fn category(ch: char) -> Option<(Category, bool)> {
    let category = match ch.to_ascii_lowercase() {
        'd' => Category::Digit,
        's' => Category::Space,
        'w' => Category::Word,
        _ => return None,
    };
    Some((category, ch.is_ascii_uppercase()))
}

fn anchor(ch: char) -> Option<Anchor> {
    Some(match ch {
        'A' => Anchor::TextStart,
        'b' => Anchor::Boundary,
        'B' => Anchor::NotBoundary,
        'Z' => Anchor::TextEnd,
        _ => return None,
    })
}

fn is_octal(ch: char) -> bool {
    ch.is_digit(8)
}

impl Parser {
    /// Parses an escape outside a set.
    pub(super) fn escape(&mut self, token: Token) -> Result<Node> {
        if let Some(anchor) = anchor(token.ch) {
            return Ok(Node::At(anchor));
        }
        if let Some((category, negate)) = category(token.ch) {
            return Ok(Node::Set { negate: false, items: vec![SetItem::Category(category, negate)] });
        }
        if token.ch.is_ascii_digit() && token.ch != '0' {
            return self.reference_escape(token);
        }
        self.code_escape(token).map(Node::Literal)
    }

    /// Parses a numeric escape: three octal digits denote a character, one or two digits a group.
    fn reference_escape(&mut self, token: Token) -> Result<Node> {
        let mut digits = String::from(token.ch);
        if let Some(second) = self.source.peek_if(|ch| ch.is_ascii_digit()) {
            digits.push(second);
            self.source.get()?;
            let octal = is_octal(token.ch) && is_octal(second);
            if let Some(third) = self.source.peek_if(|ch| octal && is_octal(ch)) {
                digits.push(third);
                self.source.get()?;
                return self.octal(&digits).map(Node::Literal);
            }
        }
        let group: usize = digits.parse().unwrap_or(usize::MAX);
        if group >= self.groups.len() {
            return self.source.fail(&format!("invalid group reference {group}"), digits.len());
        }
        if !self.is_closed(group) {
            return self.source.fail("cannot refer to an open group", digits.len() + 1);
        }
        self.check_behind(group)?;
        Ok(self.reference(group))
    }

    /// Returns the character of an octal escape.
    fn octal(&self, digits: &str) -> Result<u32> {
        let code = u32::from_str_radix(digits, 8).unwrap_or(u32::MAX);
        if code > 0o377 {
            let message = format!("octal escape value \\{digits} outside of range 0-0o377");
            return self.source.fail(&message, digits.len() + 1);
        }
        Ok(code)
    }

    fn set_escape(&mut self, token: Token) -> Result<Member> {
        if let Some((category, negate)) = category(token.ch) {
            return Ok(Member::Category(category, negate));
        }
        if is_octal(token.ch) && token.ch != '0' {
            let mut digits = String::from(token.ch);
            self.source.take_while(2, is_octal, &mut digits)?;
            return self.octal(&digits).map(Member::Code);
        }
        self.code_escape(token).map(Member::Code)
    }

    /// Parses an escape for a single character, valid inside and outside sets.
    fn code_escape(&mut self, token: Token) -> Result<u32> {
        if let Some(code) = control_escape(token.ch) {
            return Ok(code);
        }
        match token.ch {
            'x' => self.hex(token.ch, 2),
            'u' => self.hex(token.ch, 4),
            'U' => self.hex(token.ch, 8),
            'N' => self.named(),
            '0' => {
                let mut digits = String::from('0');
                self.source.take_while(2, is_octal, &mut digits)?;
                Ok(u32::from_str_radix(&digits, 8).unwrap_or(0))
            }
            ch if ch.is_ascii_alphanumeric() => self.bad_escape(&token.text()),
            ch => Ok(u32::from(ch)),
        }
    }

    fn bad_escape<T>(&self, escape: &str) -> Result<T> {
        self.source.fail(&format!("bad escape {escape}"), escape.len())
    }

    fn hex(&mut self, kind: char, digits: usize) -> Result<u32> {
        let mut escape = format!("\\{kind}");
        self.source.take_while(digits, |ch| ch.is_ascii_hexdigit(), &mut escape)?;
        if escape.len() != digits + 2 {
            let message = format!("incomplete escape {escape}");
            return self.source.fail(&message, escape.len());
        }
        let code = u32::from_str_radix(escape.get(2..).unwrap_or_default(), 16).unwrap_or(u32::MAX);
        if code > super::charset::MAX_CODE {
            return self.bad_escape(&escape);
        }
        Ok(code)
    }

    /// Parses `\N{name}`.
    fn named(&mut self) -> Result<u32> {
        if !self.source.accept('{')? {
            return self.source.fail("missing {", 0);
        }
        let name = self.source.take_until('}', "character name")?;
        if let Some(letter) = crate::pytext::lookup_name(&name) {
            return Ok(letter.into());
        }
        let message = format!("undefined character name {}", quote(&name));
        self.source.fail(&message, name.chars().count() + r"\N{}".len())
    }

    /// Parses a set after its opening bracket.
    pub(super) fn set(&mut self) -> Result<Node> {
        let here = self.source.tell() - 1;
        let negate = self.source.accept('^')?;
        let mut items: Vec<SetItem> = Vec::new();
        loop {
            let token = self.set_token(here)?;
            if token.is(']') && !items.is_empty() {
                break;
            }
            let low = self.member(token)?;
            if !self.source.accept('-')? {
                items.push(low.item());
                continue;
            }
            let other = self.set_token(here)?;
            if other.is(']') {
                items.push(low.item());
                items.push(SetItem::Range(u32::from('-'), u32::from('-')));
                break;
            }
            let high = self.member(other)?;
            match (low, high) {
                (Member::Code(low), Member::Code(high)) if low <= high => {
                    items.push(SetItem::Range(low, high));
                }
                _ => {
                    let message = format!("bad character range {}-{}", token.text(), other.text());
                    return self.source.fail(&message, token.len() + 1 + other.len());
                }
            }
        }
        Ok(set_node(negate, &items))
    }

    fn set_token(&mut self, here: usize) -> Result<Token> {
        match self.source.get()? {
            Some(token) => Ok(token),
            None => self.source.fail_at("unterminated character set", here),
        }
    }

    fn member(&mut self, token: Token) -> Result<Member> {
        if token.escaped { self.set_escape(token) } else { Ok(Member::Code(u32::from(token.ch))) }
    }
}

/// Creates a set node. A set of one character becomes a literal, as in Python.
fn set_node(negate: bool, items: &[SetItem]) -> Node {
    let first = items.first();
    match first {
        Some(SetItem::Range(low, high)) if low == high && items.iter().all(|item| Some(item) == first) => {
            if negate {
                Node::NotLiteral(*low)
            } else {
                Node::Literal(*low)
            }
        }
        _ => Node::Set { negate, items: items.to_vec() },
    }
}
