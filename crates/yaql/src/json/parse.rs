//! A JSON parser that produces values directly.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::pytext::{ParsedInt, parse_int};
use crate::value::{Key, Map, MapBuilder, Value};

/// A JSON syntax error.
#[derive(Clone, Debug)]
pub struct JsonError {
    pub message: String,
    /// Byte offset.
    pub at: usize,
    /// Whether the only problem is the nesting depth.
    pub too_deep: bool,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.at)
    }
}

impl std::error::Error for JsonError {}

/// Maximum nesting depth of arrays and objects. Bounds the recursion of the parser.
const DEPTH_MAX: u16 = 500;

/// Parses one JSON document. Arrays become tuples, objects become frozen maps.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, depth: 0, keys: HashMap::default() };
    let value = parser.value()?;
    parser.skip_whitespace();
    if parser.at < text.len() { Err(parser.error("unexpected data after the JSON value")) } else { Ok(value) }
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u16,
    /// Interned keys. Objects of the same structure share their keys, which saves memory and keeps the keys
    /// that lookups compare in the CPU cache.
    keys: HashMap<&'a str, Arc<str>, RandomState>,
}

impl<'a> Parser<'a> {
    fn error(&self, message: &str) -> JsonError {
        JsonError { message: message.to_owned(), at: self.at, too_deep: false }
    }

    fn skip_whitespace(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_whitespace();
        let matched = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(matched);
        matched
    }

    fn value(&mut self) -> Result<Value, JsonError> {
        self.skip_whitespace();
        match self.bytes.get(self.at) {
            Some(b'"') => Ok(Value::str(self.string()?)),
            Some(b'[') => self.nested(Self::array),
            Some(b'{') => self.nested(Self::object),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.word(),
            None => Err(self.error("unexpected end of input: expected a value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, JsonError>) -> Result<Value, JsonError> {
        if self.depth >= DEPTH_MAX {
            return Err(JsonError { too_deep: true, ..self.error("nesting too deep") });
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn word(&mut self) -> Result<Value, JsonError> {
        // Python YAQL's parser also accepts the three float literals that JSON lacks.
        const WORDS: [(&str, Value); 5] = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            ("Infinity", Value::Float(f64::INFINITY)),
        ];
        for (word, value) in WORDS {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.error("expected a JSON value"))
    }

    fn array(&mut self) -> Result<Value, JsonError> {
        let mut items = Vec::new();
        if self.eat(b']') {
            return Ok(Value::tuple(items));
        }
        loop {
            items.push(self.value()?);
            if self.eat(b']') {
                return Ok(Value::tuple(items));
            }
            if !self.eat(b',') {
                return Err(self.error("expected `,` or `]`"));
            }
        }
    }

    fn object(&mut self) -> Result<Value, JsonError> {
        let mut builder: MapBuilder = Map::builder();
        if self.eat(b'}') {
            return Ok(Value::frozen_dict(builder.build()));
        }
        loop {
            self.skip_whitespace();
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(self.error("expected a key in double quotes"));
            }
            let key = Value::Str(self.key()?);
            if !self.eat(b':') {
                return Err(self.error("expected `:`"));
            }
            let value = self.value()?;
            if let Ok(key) = Key::new(key) {
                builder.insert_key(key, value);
            }
            if self.eat(b'}') {
                return Ok(Value::frozen_dict(builder.build()));
            }
            if !self.eat(b',') {
                return Err(self.error("expected `,` or `}`"));
            }
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        if self.text[start..].starts_with("-Infinity") {
            self.at += "-Infinity".len();
            return Ok(Value::Float(f64::NEG_INFINITY));
        }
        self.at += usize::from(self.bytes[start] == b'-');
        let leading_zero = self.bytes.get(self.at) == Some(&b'0');
        let digits = self.digits();
        if digits == 0 || (leading_zero && digits > 1) {
            return Err(self.error("invalid number"));
        }
        let mut whole = true;
        if self.bytes.get(self.at) == Some(&b'.') {
            whole = false;
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.error("expected a digit after the decimal point"));
            }
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.error("expected a digit in the exponent"));
            }
        }
        let text = &self.text[start..self.at];
        if !whole {
            return text.parse().map(Value::Float).map_err(|_| self.error("invalid number"));
        }
        if let Ok(small) = text.parse() {
            return Ok(Value::Int(small));
        }
        match parse_int(text) {
            Ok(ParsedInt::Small(small)) => Ok(Value::Int(small)),
            Ok(ParsedInt::Big(big)) => Ok(Value::int(big)),
            Err(error) => Err(self.error(&error.message)),
        }
    }

    fn key(&mut self) -> Result<Arc<str>, JsonError> {
        match self.plain_string() {
            Some(text) => Ok(self.keys.entry(text).or_insert_with(|| Arc::from(text)).clone()),
            None => self.string(),
        }
    }

    /// Reads a string without escapes as a slice of the input. Consumes nothing and returns `None` if it has
    /// escapes.
    fn plain_string(&mut self) -> Option<&'a str> {
        let start = self.at + 1;
        let end = self.plain_end(start);
        if self.bytes.get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        Some(&self.text[start..end])
    }

    fn string(&mut self) -> Result<Arc<str>, JsonError> {
        if let Some(text) = self.plain_string() {
            return Ok(Arc::from(text));
        }
        self.at += 1;
        let mut out = String::new();
        loop {
            let end = self.plain_end(self.at);
            out.push_str(&self.text[self.at..end]);
            self.at = end;
            match self.bytes.get(end) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Arc::from(out));
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                Some(_) => return Err(self.error("unescaped control character in a string")),
                None => return Err(self.error("unterminated string")),
            }
        }
    }

    /// Returns the end of the run of ordinary characters that starts at `start`.
    fn plain_end(&self, start: usize) -> usize {
        let ordinary = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
        start + self.bytes[start..].iter().take_while(|byte| ordinary(byte)).count()
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let letter = self.bytes.get(self.at).copied();
        self.at += 1;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => self.unicode_escape()?,
            _ => {
                self.at -= 1;
                return Err(self.error("invalid escape sequence"));
            }
        })
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let first = self.hex4()?;
        if (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex4()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        // A lone surrogate is replaced by U+FFFD.
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self.bytes.get(self.at..self.at + 4).filter(|all| all.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else { return Err(self.error("expected four hexadecimal digits")) };
        let code =
            digits.iter().fold(0, |code, digit| code * 16 + char::from(*digit).to_digit(16).unwrap_or(0));
        self.at += 4;
        Ok(code)
    }
}
