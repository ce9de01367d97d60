//! Points in time with a zone: Python's `datetime`.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use jiff::SignedDuration;
use jiff::civil::Date;

use crate::error::{Error, Result};

use super::timespan::{MICROS_PER_DAY, MICROS_PER_SECOND, TimeSpan};
use super::zone::Zone;

/// Year, month, day, hour, minute, second, microsecond. Represents integers of any size: those beyond 64 bits
/// may be saturated.
pub type Fields = [i128; 7];

/// A local date and time with a zone.
///
/// Equality, order and hash compare the instant. A naive datetime (without a zone) counts as UTC, but never
/// equals an aware datetime.
#[derive(Clone, Copy, Debug)]
pub struct DateTime {
    date: Date,
    /// Microseconds since midnight.
    micros: i64,
    zone: Zone,
}

impl DateTime {
    pub fn new(fields: Fields, offset: TimeSpan) -> Result<Self> {
        Self::from_fields(fields, Zone::of_offset(offset)?)
    }

    pub(super) fn from_fields(fields: Fields, zone: Zone) -> Result<Self> {
        for field in fields {
            check_c_int(field)?;
        }
        let [year, month, day, clock @ ..] = fields;
        Ok(Self { date: checked_date(year, month, day)?, micros: checked_clock(clock)?, zone })
    }

    /// Creates a datetime from local microseconds since 0001-01-01.
    pub(super) fn from_wall(micros: i128, zone: Zone) -> Result<Self> {
        let per_day = i128::from(MICROS_PER_DAY);
        let date = date_of_ordinal(micros.div_euclid(per_day))
            .ok_or_else(|| Error::overflow("date value out of range"))?;
        Ok(Self { date, micros: micros.rem_euclid(per_day) as i64, zone })
    }

    pub(super) fn wall(&self) -> i128 {
        ordinal(self.date) * i128::from(MICROS_PER_DAY) + i128::from(self.micros)
    }

    /// Returns the instant in microseconds since 0001-01-01 UTC.
    pub fn instant(&self) -> i128 {
        self.wall() - self.zone.raw_offset().as_micros()
    }

    #[must_use]
    pub(super) fn with_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    pub fn zone(&self) -> Zone {
        self.zone
    }

    pub fn is_naive(&self) -> bool {
        self.zone == Zone::Naive
    }

    /// Interprets a naive datetime as UTC; aware datetimes are returned unchanged.
    #[must_use]
    pub fn aware(self) -> Self {
        if self.is_naive() { self.with_zone(Zone::Utc) } else { self }
    }

    pub(super) fn civil(&self) -> Date {
        self.date
    }

    pub(super) fn fields(&self) -> Fields {
        let second = self.micros / MICROS_PER_SECOND;
        [
            i128::from(self.date.year()),
            i128::from(self.date.month()),
            i128::from(self.date.day()),
            i128::from(second / 3600),
            i128::from(second / 60 % 60),
            i128::from(second % 60),
            i128::from(self.micros % MICROS_PER_SECOND),
        ]
    }

    pub fn year(&self) -> i64 {
        i64::from(self.date.year())
    }

    pub fn month(&self) -> i64 {
        i64::from(self.date.month())
    }

    pub fn day(&self) -> i64 {
        i64::from(self.date.day())
    }

    pub fn hour(&self) -> i64 {
        self.micros / (3600 * MICROS_PER_SECOND)
    }

    pub fn minute(&self) -> i64 {
        self.micros / (60 * MICROS_PER_SECOND) % 60
    }

    pub fn second(&self) -> i64 {
        self.micros / MICROS_PER_SECOND % 60
    }

    pub fn microsecond(&self) -> i64 {
        self.micros % MICROS_PER_SECOND
    }

    /// Returns the weekday; Monday is 0.
    pub fn weekday(&self) -> i64 {
        i64::from(self.date.weekday().to_monday_zero_offset())
    }

    /// Returns the UTC offset. Fails if its magnitude is a day or more, which construction permits.
    pub fn offset(&self) -> Result<TimeSpan> {
        self.zone.utc_offset()
    }

    /// Returns seconds since 1970. Subtracts the offset twice, like Python YAQL (a bug preserved for
    /// compatibility).
    pub fn timestamp(&self) -> Result<f64> {
        if self.is_naive() {
            let message = "unsupported operand type(s) for -: 'datetime.datetime' and 'NoneType'";
            return Err(Error::kind(message).into());
        }
        let epoch = Self { date: EPOCH, micros: 0, zone: Zone::Utc };
        Ok(self.utc()?.since(&epoch)?.total_seconds())
    }

    /// Returns midnight of the same day in the same zone.
    #[must_use]
    pub fn date(&self) -> Self {
        Self { micros: 0, ..self.aware() }
    }

    /// Returns the time since midnight.
    pub fn time(&self) -> TimeSpan {
        TimeSpan::of_day(self.micros)
    }

    /// Converts the clock to UTC. Keeps the original zone, like Python YAQL (a bug preserved for
    /// compatibility).
    pub fn utc(&self) -> Result<Self> {
        let this = self.aware();
        this.sub_span(this.offset()?)
    }

    pub fn replace(&self, changes: [Option<i128>; 7], offset: Option<TimeSpan>) -> Result<Self> {
        let zone = offset.map_or(Ok(self.aware().zone), Zone::of_offset)?;
        let mut fields = self.fields();
        for (field, change) in fields.iter_mut().zip(changes) {
            *field = change.unwrap_or(*field);
        }
        Self::from_fields(fields, zone)
    }

    pub fn add_span(&self, span: TimeSpan) -> Result<Self> {
        Self::from_wall(self.wall() + span.as_micros(), self.aware().zone)
    }

    pub fn sub_span(&self, span: TimeSpan) -> Result<Self> {
        Self::from_wall(self.wall() - span.as_micros(), self.aware().zone)
    }

    pub fn since(&self, other: &Self) -> Result<TimeSpan> {
        let (this, other) = (self.aware(), other.aware());
        this.check_offsets(&other)?;
        TimeSpan::from_micros(this.instant() - other.instant())
    }

    /// Compares instants like the operators of the language: naive datetimes count as UTC, invalid offsets
    /// fail.
    pub fn compare(&self, other: &Self) -> Result<Ordering> {
        let (this, other) = (self.aware(), other.aware());
        this.check_offsets(&other)?;
        Ok(this.instant().cmp(&other.instant()))
    }

    /// Compares for equality and fails for invalid offsets, unlike `==`, which cannot fail.
    pub fn equals(&self, other: &Self) -> Result<bool> {
        if !self.is_naive() && !other.is_naive() {
            self.check_offsets(other)?;
        }
        Ok(self == other)
    }

    /// Fails if an offset is out of range. Offsets are not needed, and not checked, if both zones are the
    /// same.
    fn check_offsets(&self, other: &Self) -> Result<()> {
        if self.zone != other.zone {
            self.offset()?;
            other.offset()?;
        }
        Ok(())
    }
}

impl PartialEq for DateTime {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for DateTime {}

impl PartialOrd for DateTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DateTime {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.instant().cmp(&other.instant())).then(other.is_naive().cmp(&self.is_naive()))
    }
}

impl Hash for DateTime {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.instant().hash(state);
        self.is_naive().hash(state);
    }
}

const EPOCH: Date = Date::constant(1970, 1, 1);
/// Days from 0001-01-01 to 1970-01-01.
pub(super) const EPOCH_ORDINAL: i64 = 719_162;

/// Returns the days since 0001-01-01.
pub(super) fn ordinal(date: Date) -> i128 {
    i128::from(date.duration_since(EPOCH).as_hours() / 24 + EPOCH_ORDINAL)
}

/// Returns the inverse of [`ordinal`], for the years 1 to 9999.
pub(super) fn date_of_ordinal(days: i128) -> Option<Date> {
    let days = i64::try_from(days).ok().filter(|days| (0..=3_652_058).contains(days))?;
    EPOCH.checked_add(SignedDuration::from_hours((days - EPOCH_ORDINAL) * 24)).ok()
}

/// Fails if a field exceeds a C `int`, with the messages of Python YAQL.
fn check_c_int(value: i128) -> Result<()> {
    let message = if i64::try_from(value).is_err() {
        "Python int too large to convert to C long"
    } else if value > i128::from(i32::MAX) {
        "signed integer is greater than maximum"
    } else if value < i128::from(i32::MIN) {
        "signed integer is less than minimum"
    } else {
        return Ok(());
    };
    Err(Error::overflow(message).into())
}

pub(super) fn checked_date(year: i128, month: i128, day: i128) -> Result<Date> {
    let fail = |message: &str| Err(Error::value(message).into());
    let Some(year) = i16::try_from(year).ok().filter(|year| (1..=9999).contains(year)) else {
        return fail(&format!("year {year} is out of range"));
    };
    let Some(month) = i8::try_from(month).ok().filter(|month| (1..=12).contains(month)) else {
        return fail("month must be in 1..12");
    };
    i8::try_from(day)
        .ok()
        .and_then(|day| Date::new(year, month, day).ok())
        .map_or_else(|| fail("day is out of range for month"), Ok)
}

fn checked_clock([hour, minute, second, micro]: [i128; 4]) -> Result<i64> {
    let limits = [
        (hour, 24, "hour must be in 0..23"),
        (minute, 60, "minute must be in 0..59"),
        (second, 60, "second must be in 0..59"),
        (micro, 1_000_000, "microsecond must be in 0..999999"),
    ];
    for (value, limit, message) in limits {
        if !(0..limit).contains(&value) {
            return Err(Error::value(message).into());
        }
    }
    Ok((((hour * 60 + minute) * 60 + second) * i128::from(MICROS_PER_SECOND) + micro) as i64)
}
