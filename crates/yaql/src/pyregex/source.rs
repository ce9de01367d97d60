//! Tokenizer for patterns and templates with one token of lookahead, and errors with positions.

use crate::error::{Error, ErrorClass, Result};
use std::fmt::Write;

/// A character, or a backslash followed by a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) ch: char,
    pub(super) escaped: bool,
}

impl Token {
    pub(super) fn len(self) -> usize {
        1 + usize::from(self.escaped)
    }

    pub(super) fn is(self, ch: char) -> bool {
        !self.escaped && self.ch == ch
    }

    /// Returns the character, unless it is escaped.
    pub(super) fn plain(self) -> Option<char> {
        (!self.escaped).then_some(self.ch)
    }

    pub(super) fn push_to(self, text: &mut String) {
        if self.escaped {
            text.push('\\');
        }
        text.push(self.ch);
    }

    pub(super) fn text(self) -> String {
        let mut text = String::new();
        self.push_to(&mut text);
        text
    }
}

/// The input. Positions count characters, as in the messages of Python.
pub(super) struct Source {
    chars: Vec<char>,
    index: usize,
    next: Option<Token>,
}

impl Source {
    pub(super) fn new(text: &str) -> Result<Self> {
        let mut source = Self { chars: text.chars().collect(), index: 0, next: None };
        source.advance()?;
        Ok(source)
    }

    /// Reads the next token. A trailing backslash fails here, one token before it would be consumed, so that
    /// it takes precedence over other errors, as in Python.
    fn advance(&mut self) -> Result<()> {
        let Some(&first) = self.chars.get(self.index) else {
            self.next = None;
            return Ok(());
        };
        let escaped = first == '\\';
        let ch = if escaped {
            let Some(&second) = self.chars.get(self.index + 1) else {
                return self.fail_at("bad escape (end of pattern)", self.chars.len() - 1);
            };
            second
        } else {
            first
        };
        self.index += 1 + usize::from(escaped);
        self.next = Some(Token { ch, escaped });
        Ok(())
    }

    pub(super) fn peek(&self) -> Option<Token> {
        self.next
    }

    pub(super) fn peek_is(&self, ch: char) -> bool {
        self.next.is_some_and(|token| token.is(ch))
    }

    /// Returns the next unescaped character if it satisfies the test.
    pub(super) fn peek_if(&self, test: impl Fn(char) -> bool) -> Option<char> {
        self.next.and_then(Token::plain).filter(|&ch| test(ch))
    }

    pub(super) fn get(&mut self) -> Result<Option<Token>> {
        let token = self.next;
        self.advance()?;
        Ok(token)
    }

    pub(super) fn accept(&mut self, ch: char) -> Result<bool> {
        let accepted = self.peek_is(ch);
        if accepted {
            self.advance()?;
        }
        Ok(accepted)
    }

    /// Appends up to `limit` characters that satisfy the test.
    pub(super) fn take_while(
        &mut self,
        limit: usize,
        test: impl Fn(char) -> bool,
        into: &mut String,
    ) -> Result<()> {
        for _ in 0..limit {
            let Some(ch) = self.peek_if(&test) else { break };
            into.push(ch);
            self.advance()?;
        }
        Ok(())
    }

    /// Reads up to and including a terminator and returns the text before it. `what` names the text in
    /// messages.
    pub(super) fn take_until(&mut self, terminator: char, what: &str) -> Result<String> {
        let mut text = String::new();
        loop {
            let token = self.get()?;
            match token {
                None if text.is_empty() => return self.fail(&format!("missing {what}"), 0),
                None => {
                    let message = format!("missing {terminator}, unterminated name");
                    return self.fail(&message, text.chars().count());
                }
                Some(token) if token.is(terminator) => break,
                Some(token) => token.push_to(&mut text),
            }
        }
        if text.is_empty() {
            return self.fail(&format!("missing {what}"), 1);
        }
        Ok(text)
    }

    /// Returns the position of the next token.
    pub(super) fn tell(&self) -> usize {
        self.index - self.next.map_or(0, Token::len)
    }

    pub(super) fn seek(&mut self, index: usize) -> Result<()> {
        self.index = index;
        self.advance()
    }

    /// Fails with an error `offset` characters before the next token.
    pub(super) fn fail<T>(&self, message: &str, offset: usize) -> Result<T> {
        self.fail_at(message, self.tell().saturating_sub(offset))
    }

    pub(super) fn fail_at<T>(&self, message: &str, position: usize) -> Result<T> {
        let mut text = format!("{message} at position {position}");
        if self.chars.contains(&'\n') {
            let before = self.chars.get(..position).unwrap_or(&self.chars);
            let line = before.iter().filter(|&&ch| ch == '\n').count() + 1;
            let column = match before.iter().rposition(|&ch| ch == '\n') {
                Some(newline) => position - newline,
                None => position + 1,
            };
            // Writing to a string does not fail.
            let _ = write!(text, " (line {line}, column {column})");
        }
        fail(text)
    }
}

/// Fails with an error of the whole pattern, without a position.
pub(super) fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(Box::new(Error::new(ErrorClass::Regex, message)))
}
