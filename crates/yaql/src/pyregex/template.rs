//! Replacement templates.

use super::exec::{Match, Regex};
use super::parse_group::MAX_GROUPS;
use super::parse_set::control_escape;
use super::source::{Source, Token};
use super::text::{parse_int, quote};
use super::unicode::is_identifier;
use crate::error::{Error, ErrorClass, Result};

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Group(usize),
}

/// Replacement text with references to groups of a pattern.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    pub fn parse(text: &str, regex: &Regex) -> Result<Self> {
        if !text.contains('\\') {
            return Ok(Self { pieces: vec![Piece::Text(text.to_owned())] });
        }
        let parser = Parser { source: Source::new(text)?, regex, template: Self::default() };
        parser.run()
    }

    /// Reports whether the template refers to groups other than the whole match.
    pub(super) fn uses_groups(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Group(1..)))
    }

    /// Appends the expansion of the template. Groups that did not participate are empty.
    pub(super) fn expand(&self, matched: &Match, text: &str, out: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Group(group) => out.push_str(matched.text(*group, text).unwrap_or_default()),
            }
        }
    }

    fn push(&mut self, ch: char) {
        if let Some(Piece::Text(text)) = self.pieces.last_mut() {
            text.push(ch);
        } else {
            self.pieces.push(Piece::Text(String::from(ch)));
        }
    }
}

struct Parser<'r> {
    source: Source,
    regex: &'r Regex,
    template: Template,
}

impl Parser<'_> {
    fn run(mut self) -> Result<Template> {
        while let Some(token) = self.source.get()? {
            match token.plain() {
                Some(ch) => self.template.push(ch),
                None => self.escape(token)?,
            }
        }
        Ok(self.template)
    }

    fn escape(&mut self, token: Token) -> Result<()> {
        match token.ch {
            'g' => self.named(),
            '0' => {
                let mut digits = String::from('0');
                self.source.take_while(2, |ch| ch.is_digit(8), &mut digits)?;
                self.octal(&digits)
            }
            '1'..='9' => self.number(token.ch),
            ch => {
                if let Some(code) = control_escape(ch) {
                    self.push_code(code);
                } else if ch.is_ascii_alphabetic() {
                    return self.source.fail(&format!("bad escape \\{ch}"), 2);
                } else {
                    // Other escapes are copied verbatim.
                    self.template.push('\\');
                    self.template.push(ch);
                }
                Ok(())
            }
        }
    }

    fn push_code(&mut self, code: u32) {
        if let Some(ch) = char::from_u32(code) {
            self.template.push(ch);
        }
    }

    fn octal(&mut self, digits: &str) -> Result<()> {
        let code = u32::from_str_radix(digits, 8).unwrap_or(u32::MAX);
        if code > 0o377 {
            let message = format!("octal escape value \\{digits} outside of range 0-0o377");
            return self.source.fail(&message, digits.len() + 1);
        }
        self.push_code(code);
        Ok(())
    }

    /// Parses a numeric escape: three octal digits denote a character, one or two digits a group.
    fn number(&mut self, first: char) -> Result<()> {
        let mut digits = String::from(first);
        if let Some(second) = self.source.peek_if(|ch| ch.is_ascii_digit()) {
            self.source.get()?;
            digits.push(second);
            let octal = first.is_digit(8) && second.is_digit(8);
            if let Some(third) = self.source.peek_if(|ch| octal && ch.is_digit(8)) {
                self.source.get()?;
                digits.push(third);
                return self.octal(&digits);
            }
        }
        let group = digits.parse().unwrap_or(usize::MAX);
        self.group(group, &digits, digits.len())
    }

    fn group(&mut self, group: usize, digits: &str, offset: usize) -> Result<()> {
        if group > self.regex.group_count() {
            return self.source.fail(&format!("invalid group reference {digits}"), offset);
        }
        self.template.pieces.push(Piece::Group(group));
        Ok(())
    }

    /// Parses `\g<name>` or `\g<number>`.
    fn named(&mut self) -> Result<()> {
        if !self.source.accept('<')? {
            return self.source.fail("missing <", 0);
        }
        let name = self.source.take_until('>', "group name")?;
        let offset = name.chars().count() + 1;
        if is_identifier(&name) {
            let Some(group) = self.regex.group_named(&name) else {
                let message = format!("unknown group name {}", quote(&name));
                return Err(Box::new(Error::new(ErrorClass::Index, message)));
            };
            self.template.pieces.push(Piece::Group(group));
            return Ok(());
        }
        let Some(number) = parse_int(&name) else {
            let message = format!("bad character in group name {}", quote(&name));
            return self.source.fail(&message, offset);
        };
        let group =
            number.value.filter(|value| *value < MAX_GROUPS).map_or(usize::MAX, |value| value as usize);
        self.group(group, &number.digits, offset)
    }
}
