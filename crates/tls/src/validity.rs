//! Validity period of a certificate, in Unix seconds.

use time::OffsetDateTime;

use crate::TlsError;

/// Maximum time by which certificates are backdated to tolerate clock skew between hosts. Short-lived
/// certificates are backdated less, because otherwise they would be close to expiry when issued.
const SKEW_SECONDS_MAX: i64 = 300;
const SKEW_SHARE: i64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    pub not_before: i64,
    pub not_after: i64,
}

impl Validity {
    /// Returns the validity from now on for a number of seconds.
    pub fn from_now(now: i64, seconds: i64) -> Self {
        let skew = (seconds / SKEW_SHARE).min(SKEW_SECONDS_MAX);
        Self { not_before: now.saturating_sub(skew), not_after: now.saturating_add(seconds) }
    }

    pub fn contains(self, now: i64) -> bool {
        (self.not_before..=self.not_after).contains(&now)
    }

    /// Returns the renewal time: after two thirds of the period, so that one third remains for retries.
    pub fn renew_at(self) -> i64 {
        self.not_before + (self.not_after - self.not_before) / 3 * 2
    }

    /// Returns the expiry date in human-readable form.
    pub fn expiry_date(self) -> String {
        OffsetDateTime::from_unix_timestamp(self.not_after)
            .map(|date_time| date_time.date().to_string())
            .unwrap_or_default()
    }

    pub(crate) fn date_times(self) -> Result<(OffsetDateTime, OffsetDateTime), TlsError> {
        let date_time = |seconds| OffsetDateTime::from_unix_timestamp(seconds).map_err(TlsError::making);
        Ok((date_time(self.not_before)?, date_time(self.not_after)?))
    }
}
