//! Datetimes and timespans with the arithmetic, parsing and formatting of Python's `datetime`.
//!
//! This module reads neither the clock nor the time zone of the host: functions that depend on the current
//! day take it as an argument, and the local zone is UTC.

mod chars;
mod datetime;
mod decimal;
mod freeform;
mod isoparse;
mod lexer;
mod numeric;
mod printing;
mod strftime;
mod strptime;
mod template;
#[cfg(test)]
mod tests;
mod timespan;
mod timestamp;
mod ymd;
mod zone;

pub use datetime::{DateTime, Fields};
pub use jiff::civil::Date as CivilDate;
pub use timespan::TimeSpan;
pub use zone::{Label, Zone};
