//! Conversion from Unix timestamps.

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::error::{Error, ErrorClass, Result};

use super::datetime::{DateTime, EPOCH_ORDINAL};
use super::timespan::{MICROS_PER_SECOND, TimeSpan};
use super::zone::Zone;

const SECONDS_PER_DAY: i64 = 86_400;

impl DateTime {
    pub fn from_timestamp_int(seconds: &BigInt, offset: TimeSpan) -> Result<Self> {
        let zone = Zone::of_offset(offset)?;
        let seconds = seconds.to_i64().ok_or_else(out_of_range)?;
        from_seconds(seconds, 0, zone)
    }

    pub fn from_timestamp_float(seconds: f64, offset: TimeSpan) -> Result<Self> {
        let zone = Zone::of_offset(offset)?;
        if seconds.is_nan() {
            return Err(Error::value("Invalid value NaN (not a number)").into());
        }
        let mut whole = seconds.trunc();
        let mut micros = (seconds.fract() * 1e6).round_ties_even();
        if micros >= 1e6 {
            micros -= 1e6;
            whole += 1.0;
        } else if micros < 0.0 {
            micros += 1e6;
            whole -= 1.0;
        }
        // ±2^63 is exactly representable as a double.
        if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole) {
            return Err(out_of_range().into());
        }
        from_seconds(whole as i64, micros as i64, zone)
    }

    /// Creates the local time of a Unix timestamp in microseconds; a naive datetime if there is no offset.
    pub fn from_unix_micros(micros: i64, offset: Option<TimeSpan>) -> Result<Self> {
        let (seconds, micros) = (micros.div_euclid(MICROS_PER_SECOND), micros.rem_euclid(MICROS_PER_SECOND));
        match offset {
            Some(offset) => from_seconds(seconds, micros, Zone::of_offset(offset)?),
            None => from_seconds(seconds, micros, Zone::Utc).map(|moment| moment.with_zone(Zone::Naive)),
        }
    }
}

fn out_of_range() -> Error {
    Error::overflow("timestamp out of range for platform time_t")
}

fn from_seconds(seconds: i64, micros: i64, zone: Zone) -> Result<DateTime> {
    check_year(seconds)?;
    let wall = (i128::from(seconds) + i128::from(EPOCH_ORDINAL * SECONDS_PER_DAY))
        * i128::from(MICROS_PER_SECOND)
        + i128::from(micros);
    // The UTC time must be in range too, before the offset is applied.
    DateTime::from_wall(wall, zone)?.add_span(zone.raw_offset())
}

fn check_year(seconds: i64) -> Result<()> {
    let year = year_of(seconds.div_euclid(SECONDS_PER_DAY));
    if (1..=9999).contains(&year) {
        return Ok(());
    }
    // C stores years since 1900 in an `int`, and adding 1900 wraps around.
    match i32::try_from(year - 1900) {
        Ok(year) => {
            let message = format!("year {} is out of range", year.wrapping_add(1900));
            Err(Error::value(message).into())
        }
        Err(_) => Err(Error::new(ErrorClass::Os, "[Errno 75] Value too large for defined data type").into()),
    }
}

/// Returns the proleptic Gregorian year of a day counted from 1970. Uses years that start in March, so that
/// the leap day is the last day of the year.
fn year_of(day: i64) -> i64 {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let day_of_era = day.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Days 306 and later are in January and February of the next calendar year.
    era * 400 + year_of_era + i64::from(day_of_year >= 306)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(result: Result<DateTime>) -> String {
        result.and_then(|moment| moment.isoformat()).unwrap_or_else(|error| error.message)
    }

    #[test]
    fn floats() {
        let cases = [
            (1.5, "1970-01-01T00:00:01.500000+00:00"),
            (0.000_000_5, "1970-01-01T00:00:00+00:00"),
            (0.000_001_5, "1970-01-01T00:00:00.000002+00:00"),
            (-0.000_000_5, "1970-01-01T00:00:00+00:00"),
            (-1.999_999_6, "1969-12-31T23:59:58+00:00"),
            (253_402_300_799.999_999_9, "year 10000 is out of range"),
            (f64::NAN, "Invalid value NaN (not a number)"),
            (f64::INFINITY, "timestamp out of range for platform time_t"),
            (1e18, "[Errno 75] Value too large for defined data type"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(outcome(DateTime::from_timestamp_float(seconds, TimeSpan::ZERO)), expected);
        }
    }

    #[test]
    fn integers() {
        let hour = TimeSpan::from_micros(3_600_000_000).expect("an hour");
        let cases = [
            (1_500_000_000_i128, TimeSpan::ZERO, "2017-07-14T02:40:00+00:00"),
            (0, hour, "1970-01-01T01:00:00+01:00"),
            (-62_135_596_800, TimeSpan::ZERO, "0001-01-01T00:00:00+00:00"),
            (-62_135_596_801, TimeSpan::ZERO, "year 0 is out of range"),
            (253_402_300_799, hour, "date value out of range"),
            (10_000_000_000_000, TimeSpan::ZERO, "year 318857 is out of range"),
            (67_768_036_191_676_799, TimeSpan::ZERO, "year -2147481749 is out of range"),
            (67_768_036_191_676_800, TimeSpan::ZERO, "[Errno 75] Value too large for defined data type"),
            (1 << 63, TimeSpan::ZERO, "timestamp out of range for platform time_t"),
        ];
        for (seconds, offset, expected) in cases {
            assert_eq!(outcome(DateTime::from_timestamp_int(&BigInt::from(seconds), offset)), expected);
        }
    }
}
