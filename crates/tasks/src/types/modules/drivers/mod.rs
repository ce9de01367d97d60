//! Drivers: how a module of a type is applied and removed. A new one is a folder and a line here.

use crate::host::{HostError, StopReason, Work};
use crate::task_type::Context;

mod keyed;

/// Declares the folder of each driver and lists it.
macro_rules! drivers {
    ($($name:ident,)+) => {
        $(mod $name;)+

        /// Every driver, by the type of module it is for.
        pub const DRIVERS: &[&Driver] = &[$(&$name::DRIVER),+];
    };
}

drivers! {
    // sorted
    file,
    new_relic_license,
    ping,
    script,
    // end sorted
}

/// How modules of one type are applied and removed.
pub struct Driver {
    pub name: &'static str,
    /// A line.
    pub about: &'static str,
    /// What could be done with it belongs to admins: others' modules are refused.
    pub(super) admin_only: bool,
    pub(super) apply: Run,
    pub(super) remove: Run,
}

pub(super) type Run = for<'a> fn(Payload<'a>, Context<'a>) -> Work<'a, Told>;

/// What it says, or why it did not work.
pub(super) type Told = Result<String, Trouble>;

/// A module as its driver sees it.
#[derive(Clone, Copy)]
pub(super) struct Payload<'a> {
    pub(super) name: &'a str,
    pub(super) contents: &'a [u8],
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    Failed(String),
    Stopped(StopReason),
}

impl Trouble {
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

impl From<HostError> for Trouble {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Stopped(reason) => Self::Stopped(reason),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// The driver of that type.
pub(super) fn find(name: &str) -> Option<&'static Driver> {
    DRIVERS.iter().copied().find(|driver| driver.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_driver_is_described_and_found_under_a_name_in_lower_case() {
        for driver in DRIVERS {
            assert!(driver.about.ends_with('.'), "{}", driver.name);
            assert_eq!(driver.name, driver.name.to_lowercase());
            assert_eq!(find(driver.name).map(|found| found.name), Some(driver.name));
        }
        assert!(find("nonesuch").is_none());
    }
}
