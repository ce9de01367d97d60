//! Connects to NATS and issues NATS users for agents.

mod hosting;
mod users;

use std::path::PathBuf;

use stoker_bus::nats::{AuthorityError, NatsAuthority};
use stoker_bus::{Bus, MemoryBus, NatsAuth, NatsBus, NatsError, NatsOptions};

pub(crate) use hosting::NatsHosting;
pub use users::NatsUsers;

/// Reason why the configured bus is unavailable.
#[derive(Debug, thiserror::Error)]
pub enum NatsStartError {
    #[error(transparent)]
    Connect(#[from] NatsError),
    #[error("cannot read `{}`", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("`{}` is not what `stoker nats init` wrote", path.display())]
    Keys { path: PathBuf, source: AuthorityError },
}

/// Connects to NATS if it is configured, otherwise creates an in-memory bus. An unreachable NATS server is
/// retried in the background.
pub(crate) async fn connect(
    settings: Option<&stoker_settings::NatsSettings>,
) -> Result<(Bus, Option<NatsUsers>), NatsStartError> {
    let Some(settings) = settings else { return Ok((Bus::Memory(MemoryBus::default()), None)) };
    let mut options = NatsOptions::new(settings.url.reveal().to_owned());
    options.ca.clone_from(&settings.ca);
    if let Some(path) = &settings.credentials {
        options.auth = NatsAuth::File(path.clone());
    }
    let users = match &settings.keys {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|source| NatsStartError::File { path: path.clone(), source })?;
            let authority = NatsAuthority::parse(&text)
                .map_err(|source| NatsStartError::Keys { path: path.clone(), source })?;
            Some(NatsUsers::new(authority, options.clone()))
        }
    };
    Ok((Bus::Nats(NatsBus::connect(&options).await?), users))
}
