//! The certificate of the server: from when until when it is good.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Setup;
use crate::commands::doctor::finding::Finding;
use crate::commands::doctor::times::{SECOND, days, now_micros};

const CHECK: &str = "certificate";
const DAY: i64 = 24 * 3600 * SECOND;
/// Time enough to get another.
const SOON: i64 = 21 * DAY;

pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let Some(path) = &setup.certificate else { return Vec::new() };
    let shown = path.display();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let help = "name the file, and let the user who runs the server read it";
            return vec![Finding::problem(CHECK, format!("{shown} cannot be read: {error}"), help)];
        }
    };
    let Some((from, until)) = first(&text).as_deref().and_then(validity) else {
        let help = "it must begin with `-----BEGIN CERTIFICATE-----`";
        return vec![Finding::problem(CHECK, format!("{shown} holds no certificate in PEM form"), help)];
    };
    let now = now_micros();
    let n_days = (until - now) / DAY;
    vec![if now < from {
        Finding::problem(CHECK, format!("{shown} is not good yet"), "is the clock of this machine right?")
    } else if now >= until {
        let help = "get another one: nobody who checks it connects";
        Finding::problem(CHECK, format!("{shown} expired {} days ago", -n_days), help)
    } else if until - now < SOON {
        Finding::warning(CHECK, format!("{shown} expires in {n_days} days"), "get another one now")
    } else {
        Finding::ok(CHECK, format!("{shown} is good for {n_days} days"))
    }]
}

/// The first certificate of a PEM file.
fn first(pem: &str) -> Option<Vec<u8>> {
    let body = pem.split_once("-----BEGIN CERTIFICATE-----")?.1.split_once("-----END CERTIFICATE-----")?.0;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()
}

/// From when until when, in micros.
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
    // Serial number, algorithm, issuer.
    for _ in 0..3 {
        to_be_signed = element(to_be_signed)?.2;
    }
    let (_, validity, _) = element(to_be_signed)?;
    let (from_tag, from, rest) = element(validity)?;
    let (until_tag, until, _) = element(rest)?;
    Some((time(from_tag, from)?, time(until_tag, until)?))
}

/// Tag, content and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, mut rest) = rest.split_first()?;
    let mut length = usize::from(*first);
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

/// `YYMMDDHHMMSSZ`, or with four digits for the year.
fn time(tag: u8, text: &[u8]) -> Option<i64> {
    const WITH_TWO_DIGITS: u8 = 0x17;
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = if tag == WITH_TWO_DIGITS {
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
    Some((((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str = include_str!("example.pem");

    #[test]
    fn the_times_of_a_certificate_are_read() {
        let der = first(PEM).unwrap();
        let (from, until) = validity(&der).unwrap();
        assert_eq!((until - from) / DAY, 3650);
        assert_eq!(time(0x18, b"20991231235959Z"), Some(4_102_444_799 * SECOND));
        assert_eq!(time(0x17, b"700101000000Z"), Some(0));
    }

    #[test]
    fn damage_is_no_certificate() {
        let der = first(PEM).unwrap();
        for n_bytes in 0..200.min(der.len()) {
            // No panic, whatever is missing.
            _ = validity(&der[..n_bytes]);
        }
        assert_eq!(validity(b""), None);
        assert_eq!(validity(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(first("no certificate"), None);
    }
}
