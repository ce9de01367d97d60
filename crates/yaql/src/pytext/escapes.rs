//! Escape sequences in string literals.

use std::borrow::Cow;

use super::names::lookup_name;
use crate::error::{Error, ErrorClass, Result};

/// The interpretation of a backslash.
enum Escape {
    /// A character and the length of its escape sequence in bytes.
    Char(char, usize),
    /// Not an escape sequence: the backslash is an ordinary character.
    Literal,
}

/// Decodes the escape sequences in the body of a single- or double-quoted literal.
///
/// The form alone (letter and number of following characters) selects an escape sequence; its content is
/// validated afterwards. A backslash that starts no such form is left unchanged. A surrogate becomes U+FFFD.
pub fn decode_escapes(body: &str) -> Result<Cow<'_, str>> {
    let Some(first) = body.find('\\') else { return Ok(Cow::Borrowed(body)) };
    let mut decoder = Decoder { no_more_braces: false };
    let mut out = String::with_capacity(body.len());
    let (plain, mut rest) = body.split_at(first);
    out.push_str(plain);
    loop {
        // `rest` begins with a backslash.
        let width = match decoder.escape(rest)? {
            Escape::Char(c, width) => {
                out.push(c);
                width
            }
            Escape::Literal => {
                out.push('\\');
                1
            }
        };
        rest = &rest[width..];
        let Some(next) = rest.find('\\') else { break };
        let (plain, tail) = rest.split_at(next);
        out.push_str(plain);
        rest = tail;
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

struct Decoder {
    /// Whether the rest of the text contains no `}`, so that repeated unterminated `\N{` take linear time.
    no_more_braces: bool,
}

impl Decoder {
    /// Decodes the escape at the start of `text`, which begins with a backslash.
    fn escape(&mut self, text: &str) -> Result<Escape> {
        let simple = |c| Ok(Escape::Char(c, 2));
        match text.as_bytes().get(1) {
            Some(b'\\') => simple('\\'),
            Some(b'\'') => simple('\''),
            Some(b'"') => simple('"'),
            Some(b'a') => simple('\x07'),
            Some(b'b') => simple('\x08'),
            Some(b'f') => simple('\x0c'),
            Some(b'n') => simple('\n'),
            Some(b'r') => simple('\r'),
            Some(b't') => simple('\t'),
            Some(b'v') => simple('\x0b'),
            Some(b'0'..=b'7') => Ok(octal(text)),
            Some(b'x') => hex(text, 2, "truncated \\xXX escape"),
            Some(b'u') => hex(text, 4, "truncated \\uXXXX escape"),
            Some(b'U') => hex(text, 8, "truncated \\UXXXXXXXX escape"),
            Some(b'N') => self.named(text),
            _ => Ok(Escape::Literal),
        }
    }

    /// Decodes `\N{…}` with a non-empty name.
    fn named(&mut self, text: &str) -> Result<Escape> {
        let Some(inner) = text.strip_prefix("\\N{") else { return Ok(Escape::Literal) };
        if self.no_more_braces || inner.starts_with('}') {
            return Ok(Escape::Literal);
        }
        let Some(length) = inner.find('}') else {
            self.no_more_braces = true;
            return Ok(Escape::Literal);
        };
        let width = "\\N{}".len() + length;
        match lookup_name(&inner[..length]) {
            Some(c) => Ok(Escape::Char(c, width)),
            None => Err(codec_error(width, "unknown Unicode character name").into()),
        }
    }
}

/// Decodes a backslash and one to three octal digits.
fn octal(text: &str) -> Escape {
    let digits = text.bytes().skip(1).take(3).take_while(|b| matches!(b, b'0'..=b'7'));
    let (code, count) = digits.fold((0, 0), |(code, count), b| (code * 8 + u32::from(b - b'0'), count + 1));
    Escape::Char(character(code), 1 + count)
}

/// Decodes a backslash, a letter and `count` characters other than line breaks, which must be hexadecimal
/// digits.
fn hex(text: &str, count: usize, reason: &str) -> Result<Escape> {
    let content = &text[2..];
    if content.chars().take(count).take_while(|&c| c != '\n').count() < count {
        return Ok(Escape::Literal);
    }
    let mut code: u32 = 0;
    for (position, c) in content.chars().take(count).enumerate() {
        let Some(digit) = c.to_digit(16) else { return Err(codec_error(2 + position, reason).into()) };
        code = code * 16 + digit;
    }
    if code > u32::from(char::MAX) {
        return Err(codec_error(2 + count, "illegal Unicode character").into());
    }
    Ok(Escape::Char(character(code), 2 + count))
}

fn character(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns a decoding error. The codec of Python processes one escape at a time, so positions start at 0;
/// `bytes` is the number of bytes it consumed.
fn codec_error(bytes: usize, reason: &str) -> Error {
    let last = bytes.saturating_sub(1);
    let message = format!("'unicodeescape' codec can't decode bytes in position 0-{last}: {reason}");
    Error::new(ErrorClass::UnicodeDecode, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_escapes_are_decoded() {
        let cases = [
            ("plain", "plain"),
            (r#"\\ \' \" \a\b\f\n\r\t\v"#, "\\ ' \" \x07\x08\x0c\n\r\t\x0b"),
            (r"\0 \12 \1234 \777 \8 \400", "\0 \n S4 ǿ \\8 Ā"),
            (r"\x41\xe9", "Aé"),
            (r"\u0041\U0001f600", "A😀"),
            (r"\d+\.", r"\d+\."),
            (r"\u12", r"\u12"),
            (r"\x4", r"\x4"),
            ("\\x4\n1", "\\x4\n1"),
            (r"\U0001f60", r"\U0001f60"),
            (r"\u\n", "\\u\n"),
            (r"\N{bullet}\N{LF}", "•\n"),
            (r"\N{} \N{x \N \N{", r"\N{} \N{x \N \N{"),
            (r"\ud83d\ude00", "\u{fffd}\u{fffd}"),
            (r"\\x41", r"\x41"),
            (r"é\é\", r"é\é\"),
            ("", ""),
        ];
        for (body, expected) in cases {
            assert_eq!(decode_escapes(body).expect(body), expected, "{body:?}");
        }
        assert!(matches!(decode_escapes("plain"), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn invalid_escapes_are_rejected() {
        let cases = [
            (r"\xzz", "0-1: truncated \\xXX escape"),
            (r"a\x4z", "0-2: truncated \\xXX escape"),
            ("\\x4\r", "0-2: truncated \\xXX escape"),
            (r"\xé1", "0-1: truncated \\xXX escape"),
            (r"\u123z", "0-4: truncated \\uXXXX escape"),
            (r"\u\x41", "0-1: truncated \\uXXXX escape"),
            (r"\U0011000z", "0-8: truncated \\UXXXXXXXX escape"),
            (r"\U00110000", "0-9: illegal Unicode character"),
            (r"\Uffffffff", "0-9: illegal Unicode character"),
            (r"\N{foo}", "0-6: unknown Unicode character name"),
            (r"\N{é}", "0-5: unknown Unicode character name"),
            ("\\N{a\nb}", "0-6: unknown Unicode character name"),
        ];
        for (body, expected) in cases {
            let error = decode_escapes(body).expect_err(body);
            assert_eq!(error.class, ErrorClass::UnicodeDecode);
            let prefix = "'unicodeescape' codec can't decode bytes in position ";
            assert_eq!(error.message, format!("{prefix}{expected}"), "{body:?}");
        }
    }

    #[test]
    fn unterminated_names_are_decoded_in_linear_time() {
        let body = r"\N{".repeat(200_000);
        assert_eq!(decode_escapes(&body).expect("literal"), body);
    }
}
