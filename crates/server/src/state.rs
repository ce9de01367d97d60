//! What all operations share.

use std::ops::Deref;
use std::sync::Arc;

use axum::http::StatusCode;
use stoker_bus::Bus;
use stoker_services::Clock;
use stoker_services::FairSemaphore;
use stoker_services::random;
use stoker_services::{Environment, Services};
use stoker_settings::{DatabaseLocation, Server};
use stoker_store::{Store, StoreError, Writing};
use stoker_traces::Tracer;
use tokio::sync::Semaphore;

use crate::access::caller::Authenticated;
use crate::access::first_start::{self, FirstStart, FirstStartFailed};
use crate::access::limiter::FailureLimiter;
use crate::access::password::Passwords;
use crate::access::token::TokenCache;
use crate::api::Joining;
use crate::group::{Group, Seal};
use crate::http::error::ApiError;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::nats::{self, Hosting, NatsUsers};
use crate::runs::{Agents, Leases, Live, Locals, News, OutputWriter, Seen, Sightings};
use crate::tls::Tls;

/// Runs that write at the same time. The database takes one after the other; the second is ready when the first is done.
const WRITERS_AT_ONCE: usize = 2;

/// A server without its socket. Cloning is cheap.
#[derive(Clone)]
pub struct App(Arc<Shared>);

pub struct Shared {
    pub store: Store,
    pub settings: Arc<Server>,
    pub clock: Clock,
    pub(crate) services: Services,
    pub(crate) passwords: Passwords,
    pub(crate) tokens: TokenCache,
    pub(crate) failures: FailureLimiter,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    /// Not there: connections are not encrypted.
    pub(crate) tls: Option<Tls>,
    pub(crate) agents: Agents,
    pub(crate) locals: Locals,
    pub(crate) output: OutputWriter,
    pub(crate) seen: Seen,
    pub(crate) joining: Joining,
    pub(crate) sightings: Sightings,
    pub(crate) news: News,
    pub(crate) live: Live,
    pub(crate) leases: Leases,
    /// Who writes down what happened in runs next: a cluster with many runs waits as long as one with a single run.
    pub(crate) write_turns: FairSemaphore,
    /// Where spans come from.
    pub(crate) tracer: Tracer,
    pub(crate) group: Group,
    /// For lists of modules that are carried out at the same time.
    pub(crate) module_places: Semaphore,
    /// How this server calls itself when it takes a run over.
    pub(crate) owner: String,
    /// Messages to and from other servers, and agents.
    pub(crate) bus: Bus,
    /// Who gives agents users of NATS, where they come over it.
    pub(crate) nats_users: Option<NatsUsers>,
    pub(crate) hosting: Hosting,
}

impl App {
    /// Takes over an open store and makes the first user if there is none.
    pub async fn new(
        store: Store,
        settings: impl Into<Arc<Server>>,
    ) -> Result<(Self, FirstStart), FirstStartFailed> {
        let settings: Arc<Server> = settings.into();
        let passwords = Passwords::new()?;
        let clock = Clock;
        let given = settings.admin_password.as_ref().map(|password| password.reveal().to_owned());
        // An embedded database has one server, which comes back under its own name; others tell themselves apart.
        let owner = match settings.database {
            DatabaseLocation::Folder(_) => "embedded".to_owned(),
            DatabaseLocation::Url(_) => random::uuid()?,
        };
        let is_shared = matches!(settings.database, DatabaseLocation::Url(_));
        let tls = Tls::open(settings.tls.as_ref(), settings.listen, clock.now())?;
        let tracer = settings.traces.as_ref().map_or_else(|| Ok(Tracer::default()), Tracer::start);
        let tracer = tracer.unwrap_or_else(|error| {
            tracing::warn!(error = %error, "no traces are sent");
            Tracer::default()
        });
        let services = Services::open(Environment {
            store: store.clone(),
            settings: Arc::clone(&settings),
            clock,
            tracer: tracer.clone(),
            is_encrypted: tls.is_some(),
            authority: tls.as_ref().and_then(Tls::own_authority),
        })
        .await?;
        let metrics = Metrics::new(&services);
        store.observe(metrics.database.observer());
        let module_places = Semaphore::new(settings.runs.nodes_at_once as usize);
        let first_start = first_start::run(&store, &passwords, clock, given).await?;
        let (bus, nats_users) = nats::connect(settings.nats.as_ref()).await?;
        // One that is inside of this process reaches no other.
        let group_bus = match &settings.nats {
            Some(_) if is_shared => Some((bus.clone(), Seal::agree(&store, clock.now()).await?)),
            _ => None,
        };
        let shared = Shared {
            store,
            limits: Limits::new(&settings.limits),
            settings,
            clock,
            services,
            passwords,
            tokens: TokenCache::default(),
            failures: FailureLimiter::default(),
            metrics,
            tls,
            agents: Agents::default(),
            locals: Locals::default(),
            output: OutputWriter::default(),
            seen: Seen::default(),
            joining: Joining::default(),
            sightings: Sightings::default(),
            news: News::default(),
            live: Live::default(),
            leases: Leases::default(),
            write_turns: FairSemaphore::new(WRITERS_AT_ONCE),
            tracer,
            group: Group::new(&owner, clock.now(), is_shared, group_bus),
            module_places,
            owner,
            bus,
            nats_users,
            hosting: Hosting::default(),
        };
        Ok((Self(Arc::new(shared)), first_start))
    }
}

impl App {
    /// What is kept of a password.
    pub(crate) async fn hash(&self, password: String) -> Result<String, ApiError> {
        self.passwords.hash(password).await.map_err(|error| {
            tracing::error!(error = %error, "a password could not be hashed");
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "the password could not be hashed")
        })
    }

    /// A write transaction on behalf of the caller.
    pub(crate) async fn change(&self, login: &Authenticated) -> Result<Writing, StoreError> {
        self.store.change(&login.actor(), self.clock.now()).await
    }
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
