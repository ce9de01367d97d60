//! Lexer. Produces tokens on demand, so that a grammar error to the left of a lexical error is reported
//! first.

use std::borrow::Cow;

use crate::error::{Error, ErrorClass, Result, Span};
use crate::pytext::{self, ParsedInt, decode_escapes, is_letter_start, is_word};
use crate::syntax::node::{BinaryOp, UnaryOp};
use crate::value::Value;

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TokenKind {
    /// `$name`; the span includes the name.
    Variable,
    /// A number, string or constant word: the last element of [`Lexer::constants`].
    Const,
    /// A name and its opening parenthesis.
    CallHead,
    Keyword,
    /// An operator symbol or word.
    Binary(BinaryOp),
    Not,
    Dot,
    SafeDot,
    /// `=>`
    Pair,
    OpenBracket,
    OpenBrace,
    OpenParen,
    CloseParen,
    CloseBracket,
    CloseBrace,
    Comma,
    End,
}

pub(super) struct Lexer<'a> {
    source: &'a str,
    at: usize,
    /// Values of all constants read up to now.
    pub(super) constants: Vec<Value>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, at: 0, constants: Vec::with_capacity(source.len() / 8 + 1) }
    }

    /// Reads the next token into `token`. An out parameter, because a returned token would be read back in
    /// larger units than it was written in, which causes a store-forwarding stall.
    pub(super) fn next(&mut self, token: &mut Token) -> Result<()> {
        let bytes = self.source.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        let start = self.at;
        token.kind = match bytes.get(start).copied() {
            None => TokenKind::End,
            Some(b'$') => {
                self.at += 1;
                self.skip_word();
                TokenKind::Variable
            }
            Some(b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.word()?,
            Some(quote @ (b'\'' | b'"' | b'`')) => self.string(quote)?,
            Some(0x80..) => self.other_script()?,
            Some(first) => self.symbol(first)?,
        };
        token.span = Span::new(start, self.at);
        Ok(())
    }

    fn add_constant(&mut self, constant: Value) -> TokenKind {
        self.constants.push(constant);
        TokenKind::Const
    }

    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn skip_word(&mut self) {
        let bytes = self.source.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if byte.is_ascii_alphanumeric() || *byte == b'_' {
                self.at += 1;
            } else if byte.is_ascii() {
                return;
            } else {
                match self.rest().chars().next() {
                    Some(letter) if is_word(letter) => self.at += letter.len_utf8(),
                    _ => return,
                }
            }
        }
    }

    fn other_script(&mut self) -> Result<TokenKind> {
        match self.rest().chars().next() {
            Some(letter) if is_letter_start(letter) => self.word(),
            Some(digit) if pytext::decimal_value(digit).is_some() => self.number(),
            _ => Err(self.illegal(self.at)),
        }
    }

    /// Returns the end of the run of digits that starts at `from`.
    fn digits_end(&self, from: usize) -> usize {
        let ascii = self.source.as_bytes()[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = from + ascii;
        if self.source.as_bytes().get(end).is_none_or(u8::is_ascii) {
            return end;
        }
        for letter in self.source[end..].chars() {
            if pytext::decimal_value(letter).is_none() {
                break;
            }
            end += letter.len_utf8();
        }
        end
    }

    fn touches_word(&self, at: usize) -> bool {
        if let Some(byte) = self.source.as_bytes().get(at).filter(|byte| byte.is_ascii()) {
            return byte.is_ascii_alphanumeric() || *byte == b'_';
        }
        self.source[at..].chars().next().is_some_and(is_word)
    }

    /// Reads an integer of at most 18 ASCII digits that is not followed by a letter, digit of another script
    /// or period.
    fn short_number(&mut self) -> Option<i64> {
        const DIGITS_MAX: usize = 18;
        let rest = &self.source.as_bytes()[self.at..];
        let mut number = 0;
        let mut length = 0;
        while let Some(digit @ b'0'..=b'9') = rest.get(length) {
            if length == DIGITS_MAX {
                return None;
            }
            number = number * 10 + i64::from(digit - b'0');
            length += 1;
        }
        match rest.get(length) {
            Some(b'.' | b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80..) => None,
            _ if length == 0 => None,
            _ => {
                self.at += length;
                Some(number)
            }
        }
    }

    fn number(&mut self) -> Result<TokenKind> {
        let start = self.at;
        if let Some(number) = self.short_number() {
            return Ok(self.add_constant(Value::Int(number)));
        }
        let whole_end = self.digits_end(start);
        if self.source[whole_end..].starts_with('.') {
            let fraction_end = self.digits_end(whole_end + 1);
            // A fraction followed by a letter is not part of the number: `1.5e3` starts with the token `1`.
            if fraction_end > whole_end + 1 && !self.touches_word(fraction_end) {
                self.at = fraction_end;
                let number = pytext::parse_float(&self.source[start..fraction_end])?;
                return Ok(self.add_constant(Value::Float(number)));
            }
        }
        if self.touches_word(whole_end) {
            return Err(self.illegal(start));
        }
        self.at = whole_end;
        let text = &self.source[start..whole_end];
        let number = match text.parse::<i64>() {
            Ok(small) => Value::Int(small),
            Err(_) => match pytext::parse_int(text)? {
                ParsedInt::Small(small) => Value::Int(small),
                ParsedInt::Big(big) => Value::int(big),
            },
        };
        Ok(self.add_constant(number))
    }

    fn word(&mut self) -> Result<TokenKind> {
        let start = self.at;
        self.skip_word();
        if self.source.as_bytes().get(self.at) == Some(&b'(') {
            self.at += 1;
            return Ok(TokenKind::CallHead);
        }
        let word = &self.source[start..self.at];
        if word.starts_with("__") {
            self.at = start;
            return Err(self.illegal(start));
        }
        Ok(match word {
            "true" => self.add_constant(Value::Bool(true)),
            "false" => self.add_constant(Value::Bool(false)),
            "null" => self.add_constant(Value::Null),
            "and" => TokenKind::Binary(BinaryOp::And),
            "or" => TokenKind::Binary(BinaryOp::Or),
            "in" => TokenKind::Binary(BinaryOp::In),
            "mod" => TokenKind::Binary(BinaryOp::Mod),
            "not" => TokenKind::Not,
            _ => TokenKind::Keyword,
        })
    }

    fn string(&mut self, quote: u8) -> Result<TokenKind> {
        let start = self.at;
        let body_end = string_end(&self.source.as_bytes()[start + 1..], quote)
            .map(|length| start + 1 + length)
            .ok_or_else(|| self.illegal(start))?;
        let body = &self.source[start + 1..body_end];
        self.at = body_end + 1;
        let text: Cow<'_, str> = if !body.contains('\\') {
            body.into()
        } else if quote == b'`' {
            body.replace("\\`", "`").into()
        } else {
            decode_escapes(body).map_err(|error| Box::new(error.at(Span::new(start, self.at))))?
        };
        Ok(self.add_constant(Value::str(&*text)))
    }

    fn symbol(&mut self, first: u8) -> Result<TokenKind> {
        let second = self.source.as_bytes().get(self.at + 1).copied();
        let (length, kind) = match (first, second) {
            (b'?', Some(b'.')) => (2, TokenKind::SafeDot),
            (b'-', Some(b'>')) => (2, TokenKind::Binary(BinaryOp::Arrow)),
            (b'=', Some(b'~')) => (2, TokenKind::Binary(BinaryOp::Matches)),
            (b'!', Some(b'~')) => (2, TokenKind::Binary(BinaryOp::NotMatches)),
            (b'=', Some(b'>')) => (2, TokenKind::Pair),
            (b'>', Some(b'=')) => (2, TokenKind::Binary(BinaryOp::Ge)),
            (b'<', Some(b'=')) => (2, TokenKind::Binary(BinaryOp::Le)),
            (b'!', Some(b'=')) => (2, TokenKind::Binary(BinaryOp::Ne)),
            (b'.', _) => (1, TokenKind::Dot),
            (b'*', _) => (1, TokenKind::Binary(BinaryOp::Mul)),
            (b'+', _) => (1, TokenKind::Binary(BinaryOp::Add)),
            (b'-', _) => (1, TokenKind::Binary(BinaryOp::Sub)),
            (b'/', _) => (1, TokenKind::Binary(BinaryOp::Div)),
            (b'>', _) => (1, TokenKind::Binary(BinaryOp::Gt)),
            (b'<', _) => (1, TokenKind::Binary(BinaryOp::Lt)),
            (b'=', _) => (1, TokenKind::Binary(BinaryOp::Eq)),
            (b'[', _) => (1, TokenKind::OpenBracket),
            (b'{', _) => (1, TokenKind::OpenBrace),
            (b'(', _) => (1, TokenKind::OpenParen),
            (b')', _) => (1, TokenKind::CloseParen),
            (b']', _) => (1, TokenKind::CloseBracket),
            (b'}', _) => (1, TokenKind::CloseBrace),
            (b',', _) => (1, TokenKind::Comma),
            _ => return Err(self.illegal(self.at)),
        };
        self.at += length;
        Ok(kind)
    }

    fn illegal(&self, at: usize) -> Box<Error> {
        let letter = self.source[at..].chars().next().unwrap_or_default();
        let position = char_position(self.source, at);
        let message = format!("Lexical error: illegal character '{letter}' at position {position}");
        let error = Error::new(ErrorClass::Lexical, message).at(Span::new(at, at + letter.len_utf8()));
        Box::new(match letter {
            '\'' | '"' | '`' => error.help("unterminated string: add the closing quote"),
            '&' => error.help("write `and`"),
            '|' => error.help("write `or`"),
            '!' => error.help("write `not`"),
            '%' => error.help("write `mod`"),
            '#' | ';' => error.help("expressions cannot contain comments"),
            letter if letter.is_ascii_digit() => error.help(
                "a number cannot be followed by letters; exponents and hexadecimal numbers are not supported",
            ),
            _ => error,
        })
    }
}

impl TokenKind {
    /// Returns the prefix operator that this token can denote.
    pub(super) fn prefix(self) -> Option<UnaryOp> {
        match self {
            Self::Not => Some(UnaryOp::Not),
            Self::Binary(BinaryOp::Add) => Some(UnaryOp::Plus),
            Self::Binary(BinaryOp::Sub) => Some(UnaryOp::Minus),
            _ => None,
        }
    }
}

/// Returns the length of a string body, up to its closing quote.
fn string_end(body: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        match *body.get(at)? {
            // A backslash escapes any character except a line break.
            b'\\' => match *body.get(at + 1)? {
                b'\n' => return None,
                _ => at += 2,
            },
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
}

/// Converts a byte offset to a count of code points, the unit of positions in messages.
pub(super) fn char_position(source: &str, at: usize) -> usize {
    source[..at].chars().count()
}
