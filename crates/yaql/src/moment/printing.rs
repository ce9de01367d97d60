//! Standard text formats of a datetime.

use std::fmt::Write as _;

use crate::error::Result;

use super::datetime::DateTime;
use super::zone::offset_text;

impl DateTime {
    /// Formats as `2017-03-04T10:00:00[.ffffff][+HH:MM[:SS[.ffffff]]]`.
    pub fn isoformat(&self) -> Result<String> {
        self.iso_text('T')
    }

    /// Formats like `str(datetime)`.
    pub fn to_text(&self) -> Result<String> {
        self.iso_text(' ')
    }

    fn iso_text(&self, separator: char) -> Result<String> {
        let [year, month, day, hour, minute, second, micro] = self.fields();
        let mut out = format!("{year:04}-{month:02}-{day:02}{separator}{hour:02}:{minute:02}:{second:02}");
        if micro != 0 {
            let _ = write!(out, ".{micro:06}");
        }
        if !self.is_naive() {
            out.push_str(&offset_text(self.offset()?, ":"));
        }
        Ok(out)
    }

    /// Formats like `repr(datetime)`.
    pub fn to_repr(&self) -> String {
        let [year, month, day, hour, minute, second, micro] = self.fields();
        let mut out = format!("datetime.datetime({year}, {month}, {day}, {hour}, {minute}");
        if second != 0 || micro != 0 {
            let _ = write!(out, ", {second}");
        }
        if micro != 0 {
            let _ = write!(out, ", {micro}");
        }
        if !self.is_naive() {
            let _ = write!(out, ", tzinfo={}", self.zone().to_repr());
        }
        out.push(')');
        out
    }
}
