//! Node identifiers.

/// Normalizes a MAC address: six lowercase hexadecimal bytes separated by colons.
pub fn normal_mac(text: &str) -> Option<String> {
    let lower = text.trim().to_ascii_lowercase().replace('-', ":");
    let mut n_parts = 0;
    let is_byte = |part: &str| part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_mac = lower.split(':').inspect(|_| n_parts += 1).all(is_byte);
    (is_mac && n_parts == 6).then_some(lower)
}
