//! Connects to NATS and issues NATS users for agents.

mod hosting;
mod users;

use std::path::PathBuf;

use stoker_bus::nats::{Authority, AuthorityError};
use stoker_bus::{Bus, Memory, Nats, NatsAuth, NatsError, NatsOptions};

pub(crate) use hosting::NatsHosting;
pub use users::NatsUsers;

/// Reason why the configured bus is unavailable.
#[derive(Debug, thiserror::Error)]
pub enum NatsFailed {
    #[error(transparent)]
    Connect(#[from] NatsError),
    #[error("cannot read `{}`", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("`{}` is not a key file created by `stoker nats init`", path.display())]
    Keys { path: PathBuf, source: AuthorityError },
}

/// Connects to NATS if it is configured, otherwise creates an in-memory bus. An unreachable NATS server is
/// retried in the background.
pub(crate) async fn connect(
    settings: Option<&stoker_settings::Nats>,
) -> Result<(Bus, Option<NatsUsers>), NatsFailed> {
    let Some(settings) = settings else { return Ok((Bus::Memory(Memory::default()), None)) };
    let mut options = NatsOptions::new(settings.url.reveal().to_owned());
    options.ca.clone_from(&settings.ca);
    if let Some(path) = &settings.credentials {
        options.auth = NatsAuth::File(path.clone());
    }
    let users = match &settings.keys {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|source| NatsFailed::File { path: path.clone(), source })?;
            let authority =
                Authority::parse(&text).map_err(|source| NatsFailed::Keys { path: path.clone(), source })?;
            Some(NatsUsers::new(authority, options.clone()))
        }
    };
    Ok((Bus::Nats(Nats::connect(&options).await?), users))
}
