//! The use cases of one server and their shared dependencies.

use std::sync::Arc;

use stoker_settings::{DatabaseLocation, Server};
use stoker_store::{List, ModuleFilter, Store, StoreError};
use stoker_traces::Tracer;

use crate::clock::Clock;
use crate::error::ServiceError;
use crate::graphs::{CheckCache, Graphs, PluginTaskCache};
use crate::modules::ModuleKeys;
use crate::modules::key_agreement::{self, AgreementError};
use crate::modules::keys::KeyError;
use crate::planning::{PlanCache, PlanMetrics, Planning, agree_inputs_key};
use crate::plugins::Plugins;
use crate::plugins::files::Packages;
use crate::repositories::{PackageAccess, Repositories};
use crate::webhooks::WebhookOutbox;

/// Cloning is cheap.
#[derive(Clone)]
pub struct Services {
    /// Files of plugins.
    pub packages: Packages,
    pub plugins: Plugins,
    pub repositories: Repositories,
    pub graphs: Graphs,
    pub planning: Planning,
    /// Encrypt module contents and webhook secrets at rest.
    pub module_keys: ModuleKeys,
    pub webhooks: WebhookOutbox,
}

/// Dependencies supplied by the composition root.
pub struct Environment {
    pub store: Store,
    pub settings: Arc<Server>,
    pub clock: Clock,
    pub tracer: Tracer,
    pub is_encrypted: bool,
    /// PEM certificate of the internal certificate authority that clients have to trust, if the server has one.
    pub authority: Option<Arc<str>>,
}

/// Error while initializing the services.
#[derive(Debug, thiserror::Error)]
pub enum ServicesError {
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error(transparent)]
    Agreement(#[from] AgreementError),
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl Services {
    /// Opens the module keys and agrees with the other servers of the database on shared secrets.
    pub async fn open(environment: Environment) -> Result<Self, ServicesError> {
        let Environment { store, settings, clock, tracer, is_encrypted, authority } = environment;
        let has_encrypted_data = has_encrypted_data(&store).await?;
        let module_keys = ModuleKeys::open(&settings.modules.key_file, has_encrypted_data)?;
        if matches!(settings.database, DatabaseLocation::Url(_)) {
            key_agreement::agree(&store, &module_keys, has_encrypted_data, clock.now()).await?;
        }
        let packages = Packages::new(&settings);
        let repositories = Repositories {
            access: Arc::new(PackageAccess::agree(&store, clock.now()).await?),
            packages: packages.clone(),
            settings: Arc::clone(&settings),
            is_encrypted,
            authority,
        };
        let graphs = Graphs {
            store: store.clone(),
            clock,
            settings: Arc::clone(&settings),
            packages: packages.clone(),
            repositories: repositories.clone(),
            plugin_tasks: Arc::new(PluginTaskCache::default()),
            checks: Arc::new(CheckCache::default()),
        };
        let planning = Planning {
            store: store.clone(),
            settings: Arc::clone(&settings),
            clock,
            tracer,
            graphs: graphs.clone(),
            plans: Arc::new(PlanCache::default()),
            metrics: PlanMetrics::default(),
            inputs_key: agree_inputs_key(&store, clock.now()).await?,
        };
        let plugins = Plugins { store: store.clone(), clock, packages: packages.clone() };
        let webhooks = WebhookOutbox::new(store, settings, clock, module_keys.clone());
        Ok(Self { packages, plugins, repositories, graphs, planning, module_keys, webhooks })
    }
}

async fn has_encrypted_data(store: &Store) -> Result<bool, StoreError> {
    let mut session = store.read().await?;
    let has_modules = !session.module_list(&ModuleFilter::default()).await?.is_empty();
    Ok(has_modules || !session.webhook_list(&List::default()).await?.items.is_empty())
}
