//! Load limits: concurrent requests, plans per minute and event streams.
//!
//! A rejected request has had no effect; the response has a `Retry-After` header. Work that is queued instead
//! of rejected is scheduled fairly (`FairSemaphore` of `stoker-services`).

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use stoker_model::UserId;
use stoker_services::Clock;
use stoker_settings::RequestLimits as Settings;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::access::caller::Authenticated;
use crate::http::error::{ApiError, ApiResult};
use crate::rate_limiter::{RateLimit, RateLimiter};

/// `Retry-After` of rejected requests, in seconds.
const REQUESTS_PAUSE: i64 = 1;
const STREAMS_PAUSE: i64 = 10;
/// Operations that must work under overload.
const ALWAYS: &[&str] = &["/api/v1/health", "/api/v1/metrics", "/api/v1/agents/session"];

pub(crate) struct Limits {
    requests: Semaphore,
    streams: Arc<Semaphore>,
    plans: RateLimiter<UserId>,
    plans_per_minute: u32,
    clock: Clock,
    pub(crate) metrics: RefusalMetrics,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct LimitLabels {
    limit: &'static str,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RefusalMetrics {
    pub(crate) refused: Family<LimitLabels, Counter>,
}

impl RefusalMetrics {
    fn refused(&self, limit: &'static str) {
        self.refused.get_or_create(&LimitLabels { limit }).inc();
    }
}

impl Limits {
    pub(crate) fn new(settings: &Settings, clock: Clock) -> Self {
        Self {
            requests: Semaphore::new(settings.max_concurrent_requests as usize),
            streams: Arc::new(Semaphore::new(settings.max_concurrent_streams as usize)),
            plans: RateLimiter::default(),
            plans_per_minute: settings.plans_per_minute,
            clock,
            metrics: RefusalMetrics::default(),
        }
    }

    /// Checks the rate limit for plans.
    pub(crate) fn check_plan_rate(&self, login: &Authenticated) -> ApiResult<()> {
        let limit = RateLimit::per_minute(self.plans_per_minute);
        self.plans.take([(login.caller.user_id, limit)], self.clock.now()).map_err(|seconds| {
            self.metrics.refused("plans");
            let message = format!(
                "rate limit of {} plans per minute exceeded; try again in {seconds} s",
                self.plans_per_minute
            );
            later(StatusCode::TOO_MANY_REQUESTS, message, seconds)
        })
    }

    /// Acquires a slot for an event stream; released when dropped.
    pub(crate) fn stream_permit(&self) -> ApiResult<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().map_err(|_| {
            self.metrics.refused("streams");
            let message = "too many event streams; poll the list of events instead, or try again later";
            later(StatusCode::SERVICE_UNAVAILABLE, message, STREAMS_PAUSE)
        })
    }
}

/// Limits the number of concurrent requests.
pub(crate) async fn admit(State(limits): State<Arc<Limits>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if ALWAYS.contains(&route) {
        return next.run(request).await;
    }
    let Ok(_place) = limits.requests.try_acquire() else {
        limits.metrics.refused("requests");
        let message = "the server is overloaded: too many concurrent requests; try again";
        return later(StatusCode::SERVICE_UNAVAILABLE, message, REQUESTS_PAUSE).into_response();
    };
    next.run(request).await
}

fn later(status: StatusCode, message: impl Into<String>, seconds: i64) -> ApiError {
    ApiError::new(status, message).with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
}
