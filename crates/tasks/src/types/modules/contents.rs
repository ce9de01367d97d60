//! Module contents: `key=value` lines, and for some drivers a payload after the first empty line.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Decodes Base64; whitespace is ignored, because encoders insert line breaks.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let plain: String = text.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    STANDARD.decode(plain).map_err(|error| format!("contents are not valid Base64: {error}"))
}

/// Parses `key=value` lines. `#` starts a comment line; keys are case-insensitive.
pub(super) fn settings(contents: &[u8]) -> Result<BTreeMap<String, String>, String> {
    let text =
        std::str::from_utf8(contents).map_err(|error| format!("contents are not valid UTF-8: {error}"))?;
    let mut settings = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(format!("line {number} has no `=`"));
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
        assert_eq!(settings(b"a=1\nnonsense\n"), Err("line 2 has no `=`".to_owned()));
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
