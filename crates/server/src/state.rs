//! The composition root: the parts of a server, and how they are wired.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use stoker_model::ErrorChain;
use stoker_orchestrator::{AgentSpawner, Orchestrator, OrchestratorContext, StartError, lifecycle};
use stoker_services::{Clock, Environment, ServiceError, Services, ServicesError, random};
use stoker_settings::{DatabaseLocation, Server};
use stoker_store::{Store, StoreError, WriteTransaction};
use stoker_traces::Tracer;

use crate::access::caller::Authenticated;
use crate::access::control::AccessControl;
use crate::access::first_start::{self, FirstStart, FirstStartFailed};
use crate::access::password::{HashingFailed, Passwords};
use crate::access::token::TokenCache;
use crate::gc;
use crate::http::body::BodyLimit;
use crate::joining::Joining;
use crate::limits::Limits;
use crate::metrics::{Counters, Metrics};
use crate::tls::{self, Tls};

/// A server without its socket. Cloning is cheap.
#[derive(Clone)]
pub struct App(Arc<AppParts>);

pub struct AppParts {
    pub store: Store,
    pub settings: Arc<Server>,
    pub clock: Clock,
    pub(crate) services: Services,
    pub(crate) orchestrator: Orchestrator,
    pub(crate) access: Arc<AccessControl>,
    pub(crate) joining: Joining,
    pub(crate) limits: Arc<Limits>,
    pub(crate) metrics: Arc<Metrics>,
    /// TLS state; `None` if connections are not encrypted.
    pub(crate) tls: Option<Arc<Tls>>,
}

/// Error while initializing a server.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error("cannot create the first user")]
    FirstStart(#[from] FirstStartFailed),
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    #[error(transparent)]
    Tls(#[from] stoker_tls::TlsError),
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error(transparent)]
    Services(#[from] ServicesError),
    #[error(transparent)]
    Orchestrator(#[from] StartError),
}

impl App {
    /// Takes over an open store and creates the first user if there is none.
    pub async fn new(store: Store, settings: impl Into<Arc<Server>>) -> Result<(Self, FirstStart), AppError> {
        let settings: Arc<Server> = settings.into();
        let passwords = Passwords::new()?;
        let clock = Clock;
        let tls = Tls::open(settings.tls.as_ref(), settings.listen, clock.now())?.map(Arc::new);
        let tracer = settings.traces.as_ref().map_or_else(|| Ok(Tracer::default()), Tracer::start);
        let tracer = tracer.unwrap_or_else(|error| {
            tracing::warn!(error = %ErrorChain(&error), "cannot export traces");
            Tracer::default()
        });
        let services = Services::open(Environment {
            store: store.clone(),
            settings: Arc::clone(&settings),
            clock,
            tracer: tracer.clone(),
            is_encrypted: tls.is_some(),
            authority: tls.as_ref().and_then(|tls| tls.own_authority()),
        })
        .await?;
        let password = settings.admin_password.as_ref().map(|password| password.reveal().to_owned());
        let first_start = first_start::run(&store, &passwords, clock, password).await?;
        // An embedded database has one server, which resumes its runs immediately. Servers that share a
        // database get a new id at each start.
        let owner = match settings.database {
            DatabaseLocation::Folder(_) => "embedded".to_owned(),
            DatabaseLocation::Url(_) => random::uuid()?,
        };
        let context = OrchestratorContext {
            store: store.clone(),
            settings: Arc::clone(&settings),
            clock,
            services: services.clone(),
            tracer,
            owner,
            is_shared: matches!(settings.database, DatabaseLocation::Url(_)),
            started_at: clock.now(),
        };
        let tokens = Arc::new(TokenCache::default());
        let forgetting = Arc::clone(&tokens);
        let orchestrator = Orchestrator::open(context.clone(), Box::new(move || forgetting.forget())).await?;
        let access = Arc::new(AccessControl::new(context, passwords, tokens));
        let limits = Arc::new(Limits::new(&settings.limits, clock));
        let counters = Counters {
            plans: services.planning.metrics.clone(),
            deliveries: services.webhooks.metrics.clone(),
            orchestrator: orchestrator.metrics.clone(),
            logins: access.metrics.clone(),
            refusals: limits.metrics.clone(),
        };
        let parts = AppParts {
            metrics: Arc::new(Metrics::new(orchestrator.clone(), &counters)),
            joining: Joining::new(Arc::clone(&access), orchestrator.clone(), tls.clone()),
            store,
            settings,
            clock,
            services,
            orchestrator,
            access,
            limits,
            tls,
        };
        Ok((Self(Arc::new(parts)), first_start))
    }

    /// Enables agents inside this process.
    pub fn set_agent_spawner(&self, spawner: AgentSpawner) {
        self.orchestrator.local_agents.set_spawner(spawner);
    }

    /// Starts the background tasks that execute runs.
    pub fn start_background(&self) {
        lifecycle::start(&self.orchestrator);
    }

    /// Starts the maintenance tasks of a listening server.
    pub(crate) fn start_maintenance(&self) {
        let background = &self.orchestrator.background;
        let context = self.orchestrator.context.clone();
        background.run("garbage collection", Some(gc::INTERVAL), |monitor| gc::run(context, monitor));
        if let Some(tls) = self.tls.clone() {
            let clock = self.clock;
            let period = Some(tls::CHECK_INTERVAL);
            background.run("certificates", period, |monitor| async move {
                tls.watch_certificates(clock, monitor).await;
            });
        }
    }

    /// Aborts all background tasks.
    pub fn stop_background(&self) {
        lifecycle::stop(&self.orchestrator);
    }

    /// Begins a write transaction on behalf of the caller.
    pub(crate) async fn change(&self, login: &Authenticated) -> Result<WriteTransaction, StoreError> {
        self.store.begin_write(&login.actor(), self.clock.now()).await
    }
}

impl FromRef<App> for BodyLimit {
    fn from_ref(app: &App) -> Self {
        Self(app.settings.body_bytes_max)
    }
}

impl Deref for App {
    type Target = AppParts;

    fn deref(&self) -> &AppParts {
        &self.0
    }
}
