//! Lexer of the condition language.

use std::ops::Range;

use stoker_diagnostics::quoted;
use stoker_model::Json;

use crate::dialect::Dialect;
use crate::error::ConditionError;
use crate::tree::{Comparison, ModelPath};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Or,
    And,
    Not,
    Compare(Comparison),
    Open,
    Close,
    Constant(Json),
    Path(ModelPath),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Range<usize>,
}

pub(crate) fn tokens(text: &str, dialect: Dialect) -> Result<Vec<Token>, ConditionError> {
    let mut lexer = Lexer { text, at: 0, dialect };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
}

impl<'t> Lexer<'t> {
    fn next(&mut self) -> Result<Option<Token>, ConditionError> {
        self.take_while(char::is_whitespace);
        let (start, rest) = (self.at, &self.text[self.at..]);
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let kind = match first {
            '(' => self.sign(1, TokenKind::Open),
            ')' => self.sign(1, TokenKind::Close),
            _ if rest.starts_with("==") => self.sign(2, TokenKind::Compare(Comparison::Equal)),
            _ if rest.starts_with("!=") => self.sign(2, TokenKind::Compare(Comparison::Unequal)),
            '\'' | '"' => self.quoted(first)?,
            '-' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => {
                self.at += 1;
                self.word(start)?
            }
            ':' => self.word(start)?,
            _ if is_word(first) => self.word(start)?,
            _ => return Err(unknown_character(rest, first, start)),
        };
        Ok(Some(Token { kind, span: start..self.at }))
    }

    fn sign(&mut self, n_bytes: usize, kind: TokenKind) -> TokenKind {
        self.at += n_bytes;
        kind
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn quoted(&mut self, quote: char) -> Result<TokenKind, ConditionError> {
        let start = self.at;
        self.at += 1;
        let inside = self.take_while(|letter| letter != quote && letter != '\n');
        if !self.text[self.at..].starts_with(quote) {
            return Err(ConditionError::syntax(start..self.at, "unterminated string")
                .with_help(format!("end the text with {quote} on the same line; there are no escapes")));
        }
        self.at += 1;
        Ok(TokenKind::Constant(Json::from(inside)))
    }

    /// Parses a keyword, a number or a path.
    fn word(&mut self, start: usize) -> Result<TokenKind, ConditionError> {
        self.take_while(is_word);
        if self.text[self.at..].starts_with(':') {
            let model = &self.text[start..self.at];
            self.at += 1;
            return self.path(start, model);
        }
        if let Some(model) = self.dialect.default_model() {
            self.take_while(is_key);
            let word = &self.text[start..self.at];
            if keyword(word).is_none() && number(word).is_none() {
                self.at = start;
                return self.path(start, model);
            }
        } else if !self.dialect.is_task() {
            self.decimals(start);
        }
        let word = &self.text[start..self.at];
        match keyword(word) {
            Some(kind) => Ok(kind),
            None if word.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()) => {
                integer(word, start)
            }
            None => match number(word) {
                Some(decimal) => Ok(TokenKind::Constant(Json::from(decimal))),
                None => Err(unknown_word(word, start)),
            },
        }
    }

    /// Consumes the `.5` of `1.5`.
    fn decimals(&mut self, start: usize) {
        let is_digits = number(&self.text[start..self.at]).is_some();
        let rest = self.text[self.at..].strip_prefix('.');
        if is_digits && rest.is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit())) {
            self.at += 1;
            self.take_while(|letter| letter.is_ascii_digit());
        }
    }

    fn path(&mut self, start: usize, model: &str) -> Result<TokenKind, ConditionError> {
        let keys = self.take_while(is_key);
        let span = start..self.at;
        let model = if model.is_empty() { self.dialect.default_model().unwrap_or_default() } else { model };
        if model.is_empty() {
            return Err(ConditionError::syntax(span, "the path has no model")
                .with_help("write the model first, as in `settings:storage.ceph.value`"));
        }
        if keys.split('.').any(str::is_empty) {
            return Err(ConditionError::syntax(span, "the path has an empty key")
                .with_help("separate keys by single dots, as in `settings:storage.ceph.value`"));
        }
        if self.text[self.at..].starts_with('?') {
            self.at += 1;
        }
        let keys = keys.split('.').map(str::to_owned).collect();
        Ok(TokenKind::Path(ModelPath { model: model.to_owned(), keys }))
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_key(letter: char) -> bool {
    is_word(letter) || letter == '.' || letter == '-'
}

fn keyword(word: &str) -> Option<TokenKind> {
    Some(match word {
        "or" => TokenKind::Or,
        "and" => TokenKind::And,
        "not" => TokenKind::Not,
        "in" => TokenKind::Compare(Comparison::In),
        "true" => TokenKind::Constant(Json::Bool(true)),
        "false" => TokenKind::Constant(Json::Bool(false)),
        "null" => TokenKind::Constant(Json::Null),
        _ => return None,
    })
}

/// Parses a number such as `-12` or `1.5`; other notations are not supported.
fn number(word: &str) -> Option<f64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits(whole) && is_digits(part) { word.parse().ok() } else { None }
}

fn integer(word: &str, start: usize) -> Result<TokenKind, ConditionError> {
    word.parse::<i64>().map(|value| TokenKind::Constant(Json::from(value))).map_err(|_| {
        let message = format!("the number {} is out of range", quoted(word));
        ConditionError::syntax(start..start + word.len(), message).with_help(format!(
            "numbers must be between {} and {}",
            i64::MIN,
            i64::MAX
        ))
    })
}

fn unknown_word(word: &str, start: usize) -> ConditionError {
    let message = format!("unknown word {}", quoted(word));
    let help = match word {
        "True" | "TRUE" | "yes" | "on" => "write `true`".to_owned(),
        "False" | "FALSE" | "no" | "off" => "write `false`".to_owned(),
        "None" | "NULL" | "Null" | "nil" => "write `null`".to_owned(),
        "AND" | "OR" | "NOT" | "IN" => format!("write `{}`", word.to_ascii_lowercase()),
        _ => "put text in quotes, and write paths with their model, as in `settings:a.b`".to_owned(),
    };
    ConditionError::syntax(start..start + word.len(), message).with_help(help)
}

fn unknown_character(rest: &str, first: char, start: usize) -> ConditionError {
    let (sign, help) = match first {
        '=' => ("=", "write `==`"),
        '!' => ("!", "write `not`, or `!=` between two values"),
        '&' if rest.starts_with("&&") => ("&&", "write `and`"),
        '|' if rest.starts_with("||") => ("||", "write `or`"),
        '<' | '>' => (&rest[..1], "the comparison operators are `==`, `!=` and `in`"),
        '.' => (".", "decimal numbers are supported in restrictions only; paths start with `model:`"),
        '?' => ("?", "it may only follow a path"),
        _ => (&rest[..first.len_utf8()], "remove it"),
    };
    let span = start..start + sign.len();
    ConditionError::syntax(span, format!("unexpected character {}", quoted(sign))).with_help(help)
}
