//! Module contents: `key=value` lines, and for some drivers a payload after the first empty line.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Error while parsing the contents of a module.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ContentsError {
    #[error("contents are not valid Base64: {0}")]
    Base64(#[from] base64::DecodeError),
    #[error("contents are not valid UTF-8: {0}")]
    Utf8(#[from] std::str::Utf8Error),
    #[error("line {0} has no `=`")]
    NoValue(usize),
}

/// Decodes Base64; whitespace is ignored, because encoders insert line breaks.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, ContentsError> {
    let plain: String = text.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    Ok(STANDARD.decode(plain)?)
}

/// Parses `key=value` lines. `#` starts a comment line; keys are case-insensitive.
pub(super) fn settings(contents: &[u8]) -> Result<BTreeMap<String, String>, ContentsError> {
    let text = std::str::from_utf8(contents)?;
    let mut settings = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(ContentsError::NoValue(number));
        };
        settings.insert(key.trim().to_lowercase(), value.trim().to_owned());
    }
    Ok(settings)
}

/// Splits at the first empty line.
pub(super) fn split(contents: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut start = 0;
    for line in contents.split_inclusive(|byte| *byte == b'\n') {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Some((&contents[..start], &contents[start + line.len()..]));
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_parsed_leniently() {
        let read = settings(b"# a comment\n\n Message = hi = there \nOther=\n").unwrap();
        assert_eq!(read["message"], "hi = there");
        assert_eq!(read["other"], "");
        assert_eq!(settings(b"a=1\nnonsense\n"), Err(ContentsError::NoValue(2)));
        assert!(settings(b"a=\xff").is_err());
    }

    #[test]
    fn payload_follows_the_first_empty_line() {
        assert_eq!(split(b"a=1\n\nx\n\ny"), Some((&b"a=1\n"[..], &b"x\n\ny"[..])));
        assert_eq!(split(b"a=1\r\n\r\nx"), Some((&b"a=1\r\n"[..], &b"x"[..])));
        assert_eq!(split(b"a=1\n"), None);
        assert_eq!(split(b"a=1\n\n"), Some((&b"a=1\n"[..], &b""[..])));
    }

    #[test]
    fn base64_may_have_line_breaks() {
        assert_eq!(decode("bWVz\nc2FnZT1oaQo=\n").unwrap(), b"message=hi\n");
        assert!(decode("%%%").is_err());
    }
}
