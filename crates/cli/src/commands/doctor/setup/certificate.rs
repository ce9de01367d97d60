//! Checks the validity period of the server certificate.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Setup;
use crate::commands::doctor::check_result::CheckResult;
use crate::commands::doctor::clocks::{SECOND_MICROS, days, now_micros};

const CHECK: &str = "certificate";
const DAY: i64 = 24 * 3600 * SECOND_MICROS;
/// Remaining validity below which a warning is reported: three weeks, to leave time for the renewal.
const RENEWAL_PERIOD: i64 = 21 * DAY;

pub(super) fn check(setup: &Setup) -> Vec<CheckResult> {
    let Some(path) = &setup.certificate else { return Vec::new() };
    let file = path.display();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let help = "check the path, and make it readable by the user of the server";
            return vec![CheckResult::problem(CHECK, format!("cannot read {file}: {error}"), help)];
        }
    };
    let Some((not_before, not_after)) = first_certificate(&text).as_deref().and_then(validity) else {
        let help = "pass a file with a `-----BEGIN CERTIFICATE-----` block";
        return vec![CheckResult::problem(CHECK, format!("{file} contains no PEM certificate"), help)];
    };
    let now = now_micros();
    let n_days = (not_after - now) / DAY;
    vec![if now < not_before {
        CheckResult::problem(CHECK, format!("{file} is not valid yet"), "check the clock of this machine")
    } else if now >= not_after {
        let help = "renew it: clients reject it";
        CheckResult::problem(CHECK, format!("{file} expired {} days ago", -n_days), help)
    } else if not_after - now < RENEWAL_PERIOD {
        CheckResult::warning(CHECK, format!("{file} expires in {n_days} days"), "renew it now")
    } else {
        CheckResult::ok(CHECK, format!("{file} is valid for {n_days} days"))
    }]
}

/// Decodes the first certificate of a PEM file.
fn first_certificate(pem: &str) -> Option<Vec<u8>> {
    let body = pem.split_once("-----BEGIN CERTIFICATE-----")?.1.split_once("-----END CERTIFICATE-----")?.0;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()
}

/// Parses the validity period of a DER certificate, in microseconds since 1970.
fn validity(der: &[u8]) -> Option<(i64, i64)> {
    const SEQUENCE: u8 = 0x30;
    const VERSION: u8 = 0xa0;
    let (tag, certificate, _) = element(der)?;
    let (inner_tag, mut to_be_signed, _) = element(certificate)?;
    if (tag, inner_tag) != (SEQUENCE, SEQUENCE) {
        return None;
    }
    if let Some((VERSION, _, rest)) = element(to_be_signed) {
        to_be_signed = rest;
    }
    // Skip serial number, algorithm and issuer.
    for _ in 0..3 {
        to_be_signed = element(to_be_signed)?.2;
    }
    let (_, validity, _) = element(to_be_signed)?;
    let (not_before_tag, not_before, rest) = element(validity)?;
    let (not_after_tag, not_after, _) = element(rest)?;
    Some((time(not_before_tag, not_before)?, time(not_after_tag, not_after)?))
}

/// Splits off a DER element: tag, content, rest.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length_byte, mut rest) = rest.split_first()?;
    let mut length = usize::from(*length_byte);
    if length >= 0x80 {
        let n_bytes = length - 0x80;
        if n_bytes == 0 || n_bytes > 4 {
            return None;
        }
        let (digits, others) = rest.split_at_checked(n_bytes)?;
        length = digits.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        rest = others;
    }
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// Parses `YYMMDDHHMMSSZ` (`UTCTime`) or `YYYYMMDDHHMMSSZ` (`GeneralizedTime`).
fn time(tag: u8, text: &[u8]) -> Option<i64> {
    const UTC_TIME: u8 = 0x17;
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = if tag == UTC_TIME {
        let (year, rest) = text.split_at_checked(2)?;
        let year: i64 = year.parse().ok()?;
        (if year < 50 { 2000 + year } else { 1900 + year }, rest)
    } else {
        let (year, rest) = text.split_at_checked(4)?;
        (year.parse().ok()?, rest)
    };
    let mut parts = (0..5).map(|at| rest.get(at * 2..at * 2 + 2).and_then(|part| part.parse::<i64>().ok()));
    let (month, day, hour) = (parts.next()??, parts.next()??, parts.next()??);
    let (minute, second) = (parts.next()??, parts.next()??);
    Some((((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * SECOND_MICROS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str = include_str!("example.pem");

    #[test]
    fn validity_period_is_parsed() {
        let der = first_certificate(PEM).unwrap();
        let (not_before, not_after) = validity(&der).unwrap();
        assert_eq!((not_after - not_before) / DAY, 3650);
        assert_eq!(time(0x18, b"20991231235959Z"), Some(4_102_444_799 * SECOND_MICROS));
        assert_eq!(time(0x17, b"700101000000Z"), Some(0));
    }

    #[test]
    fn damaged_certificates_are_rejected() {
        let der = first_certificate(PEM).unwrap();
        for n_bytes in 0..200.min(der.len()) {
            // Must not panic on a truncated certificate.
            _ = validity(&der[..n_bytes]);
        }
        assert_eq!(validity(b""), None);
        assert_eq!(validity(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(first_certificate("no certificate"), None);
    }
}
