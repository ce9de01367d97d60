//! Errors of the module API, whose clients distinguish more cases than [`ServiceError`].

use stoker_modules::RuleViolation;
use stoker_store::StoreError;

use super::keys::KeyError;
use crate::error::ServiceError;

/// Error of a module operation.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// A rule of modules rejects the request.
    #[error("{}", .0.message)]
    Refused(RuleViolation),
    #[error("{what} larger than {bytes_max} bytes")]
    TooLarge { what: &'static str, bytes_max: usize },
    /// The request is valid, but the current state does not permit it.
    #[error("{0}")]
    Unprocessable(String),
    /// The quota of the tenant is exceeded.
    #[error("{0}")]
    OverQuota(String),
    #[error("cannot encrypt or decrypt module contents")]
    Keys(#[from] KeyError),
    #[error(transparent)]
    Service(#[from] ServiceError),
}

pub type ModuleResult<T> = Result<T, ModuleError>;

impl ModuleError {
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::Unprocessable(message.into())
    }

    /// Converts the result of a quota check.
    pub fn over_quota(error: ServiceError) -> Self {
        match error {
            ServiceError::Conflict(report) => Self::OverQuota(report.message),
            error => error.into(),
        }
    }
}

impl From<RuleViolation> for ModuleError {
    fn from(refusal: RuleViolation) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for ModuleError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}
