//! MAC addresses.

/// Normalizes a MAC address: six lowercase hexadecimal bytes separated by colons.
pub fn normal_mac(text: &str) -> Option<String> {
    let lower = text.trim().to_ascii_lowercase().replace('-', ":");
    let mut n_parts = 0;
    let is_byte = |part: &str| part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_mac = lower.split(':').inspect(|_| n_parts += 1).all(is_byte);
    (is_mac && n_parts == 6).then_some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mac_is_normalized() {
        assert_eq!(normal_mac("52:54:00:AB:cd:EF").as_deref(), Some("52:54:00:ab:cd:ef"));
        assert_eq!(normal_mac(" 52-54-00-ab-cd-ef ").as_deref(), Some("52:54:00:ab:cd:ef"));
        for wrong in
            ["", "52:54:00:ab:cd", "52:54:00:ab:cd:ef:00", "52:54:00:ab:cd:eg", "525400abcdef", "5:2:5:4:0:0"]
        {
            assert_eq!(normal_mac(wrong), None, "{wrong}");
        }
    }
}
