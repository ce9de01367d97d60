//! Random numbers. The only module of this crate that draws them.

use crate::error::{ServiceError, ServiceResult};

const LETTERS_AND_DIGITS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

pub fn bytes<const N: usize>() -> ServiceResult<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

fn fill(bytes: &mut [u8]) -> ServiceResult<()> {
    getrandom::fill(bytes)
        .map_err(|error| ServiceError::internal_from("the system random source failed", error))
}

/// Returns a random UUID (version 4).
pub fn uuid() -> ServiceResult<String> {
    Ok(uuid::Builder::from_random_bytes(bytes()?).into_uuid().to_string())
}

/// Returns a random number below `limit`, for jitter: 0 if the system random source fails.
pub fn below(limit: u64) -> u64 {
    getrandom::u64().map_or(0, |drawn| drawn % limit.max(1))
}

/// Returns random hexadecimal digits.
pub fn hex_text(n_chars: usize) -> ServiceResult<String> {
    let mut drawn = vec![0; n_chars.div_ceil(2)];
    fill(&mut drawn)?;
    let mut text = hex::encode(drawn);
    text.truncate(n_chars);
    Ok(text)
}

/// Returns a random password. It is alphanumeric, so that it needs no quoting in configuration files.
pub fn password(n_chars: usize) -> ServiceResult<String> {
    let alphabet = LETTERS_AND_DIGITS;
    // Rejection sampling: bytes beyond the last full multiple of the alphabet would bias towards its beginning.
    let n_usable = 256 / alphabet.len() * alphabet.len();
    let mut text = String::with_capacity(n_chars);
    while text.len() < n_chars {
        let drawn = bytes::<64>()?;
        let usable = drawn.iter().map(|byte| usize::from(*byte)).filter(|byte| *byte < n_usable);
        let missing = n_chars - text.len();
        text.extend(usable.take(missing).map(|byte| char::from(alphabet[byte % alphabet.len()])));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_text_has_requested_length_and_alphabet() {
        for n_chars in [0, 1, 24, 64, 200] {
            let password = password(n_chars).unwrap();
            assert_eq!(password.len(), n_chars);
            assert!(password.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            let hex = hex_text(n_chars).unwrap();
            assert_eq!(hex.len(), n_chars);
            assert!(hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
        }
        assert_ne!(password(24).unwrap(), password(24).unwrap());
    }

    #[test]
    fn uuid_has_version_4() {
        let uuid = uuid().unwrap();
        let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(&uuid[14..15], "4");
        assert!("89ab".contains(&uuid[19..20]));
    }
}
