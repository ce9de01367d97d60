//! From when until when a certificate is good, in seconds since 1970.

use time::OffsetDateTime;

use crate::TlsError;

/// Clocks of machines differ; a certificate that was made a moment ago is good everywhere. One that lives for a short time
/// only begins less early, or it would be old when it is made.
const SKEW_SECONDS_MAX: i64 = 300;
const SKEW_SHARE: i64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    pub not_before: i64,
    pub not_after: i64,
}

impl Validity {
    /// From now on, for so many seconds.
    pub fn starting(now: i64, seconds: i64) -> Self {
        let skew = (seconds / SKEW_SHARE).min(SKEW_SECONDS_MAX);
        Self { not_before: now.saturating_sub(skew), not_after: now.saturating_add(seconds) }
    }

    pub fn holds(self, now: i64) -> bool {
        (self.not_before..=self.not_after).contains(&now)
    }

    /// When to ask for the next one: a third of its life is left for trying again.
    pub fn renew_at(self) -> i64 {
        self.not_before + (self.not_after - self.not_before) / 3 * 2
    }

    /// The day on which it ends, as people write it.
    pub fn last_day(self) -> String {
        OffsetDateTime::from_unix_timestamp(self.not_after)
            .map(|moment| moment.date().to_string())
            .unwrap_or_default()
    }

    pub(crate) fn moments(self) -> Result<(OffsetDateTime, OffsetDateTime), TlsError> {
        let moment = |seconds| OffsetDateTime::from_unix_timestamp(seconds).map_err(TlsError::making);
        Ok((moment(self.not_before)?, moment(self.not_after)?))
    }
}
