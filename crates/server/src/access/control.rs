//! Access control: passwords, tokens and the rate limit on failed logins.

use std::sync::Arc;

use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use stoker_model::ErrorChain;
use stoker_orchestrator::OrchestratorContext;

use super::limiter::FailureLimiter;
use super::password::Passwords;
use super::token::TokenCache;
use crate::http::error::{ApiError, ApiResult};

pub(crate) struct AccessControl {
    pub(super) context: OrchestratorContext,
    pub(super) passwords: Passwords,
    pub(super) tokens: Arc<TokenCache>,
    pub(crate) failures: FailureLimiter,
    pub(crate) metrics: LoginMetrics,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct OutcomeLabels {
    outcome: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct LoginMetrics {
    pub(crate) logins: Family<OutcomeLabels, Counter>,
}

impl AccessControl {
    pub(crate) fn new(context: OrchestratorContext, passwords: Passwords, tokens: Arc<TokenCache>) -> Self {
        let (failures, metrics) = (FailureLimiter::default(), LoginMetrics::default());
        Self { context, passwords, tokens, failures, metrics }
    }

    /// Hashes a password for storage.
    pub(crate) async fn hash(&self, password: String) -> ApiResult<String> {
        self.passwords.hash(password).await.map_err(|error| {
            tracing::error!(error = %ErrorChain(&error), "cannot hash a password");
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "cannot hash the password")
        })
    }
}

impl LoginMetrics {
    pub(super) fn login(&self, outcome: &str) {
        self.logins.get_or_create(&OutcomeLabels { outcome: outcome.to_owned() }).inc();
    }
}
