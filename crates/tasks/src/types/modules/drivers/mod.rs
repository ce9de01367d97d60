//! Module drivers, which apply and remove modules of a type. To add a driver, create a directory and a line
//! here.

use stoker_model::ErrorChain;

use crate::context::Context;
use crate::host::{HostError, HostFuture, StopReason};
use crate::types::modules::contents::ContentsError;

mod keyed;

/// Declares the module of each driver and lists it.
macro_rules! drivers {
    ($($name:ident,)+) => {
        $(mod $name;)+

        /// All drivers, sorted by module type.
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

/// Applies and removes modules of one type.
pub struct Driver {
    pub name: &'static str,
    /// One-line description.
    pub description: &'static str,
    /// Whether to refuse modules that no admin has approved, because the driver can change any part of the
    /// node.
    pub(super) admin_only: bool,
    pub(super) apply: DriverOperation,
    pub(super) remove: DriverOperation,
}

pub(super) type DriverOperation = for<'a> fn(Payload<'a>, Context<'a>) -> HostFuture<'a, DriverResult>;

/// Message for the user, or the error.
pub(super) type DriverResult = Result<String, DriverError>;

/// Input of a driver.
#[derive(Clone, Copy)]
pub(super) struct Payload<'a> {
    pub(super) name: &'a str,
    pub(super) contents: &'a [u8],
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum DriverError {
    Failed(String),
    Stopped(StopReason),
}

impl DriverError {
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

impl From<ContentsError> for DriverError {
    fn from(error: ContentsError) -> Self {
        Self::Failed(ErrorChain(&error).to_string())
    }
}

impl From<HostError> for DriverError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Stopped(reason) => Self::Stopped(reason),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// Returns the driver for a module type.
pub(super) fn find(name: &str) -> Option<&'static Driver> {
    DRIVERS.iter().copied().find(|driver| driver.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_described_and_have_lowercase_names() {
        for driver in DRIVERS {
            assert!(driver.description.ends_with('.'), "{}", driver.name);
            assert_eq!(driver.name, driver.name.to_lowercase());
            assert_eq!(find(driver.name).map(|driver| driver.name), Some(driver.name));
        }
        assert!(find("nonesuch").is_none());
    }
}
