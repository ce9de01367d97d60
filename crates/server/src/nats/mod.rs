//! NATS: the bus between servers, and agents that come over it.

mod host;
mod results;
mod users;

use std::path::PathBuf;

use stoker_bus::nats::{Authority, AuthorityError};
use stoker_bus::{Bus, BusError, Memory, Nats, NatsAuth, NatsError, NatsOptions, SubjectError};
use stoker_store::StoreError;

pub(crate) use host::{Hosting, host};
pub(crate) use results::take_results;
pub(crate) use users::NatsUsers;

use crate::state::App;

impl App {
    /// Ends the connection of an agent whose credential is no longer good, wherever it is; NATS lets its bearer in no more.
    pub(crate) fn dismiss_agent(&self, uid: &str, digest: Option<String>) {
        self.close_agent(uid);
        let (Some(users), Some(digest)) = (self.nats_users.clone(), digest) else { return };
        let (uid, now) = (uid.to_owned(), self.clock.now());
        self.spawn(async move {
            if let Err(error) = users.revoke(&uid, &digest, now).await {
                tracing::warn!(agent.uid = uid, error = %error, "NATS was not told that an agent was sent away");
            }
        });
    }
}

/// Why something that came over NATS is not taken.
#[derive(Debug, thiserror::Error)]
enum Unheard {
    #[error(transparent)]
    Bus(#[from] BusError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Subject(#[from] SubjectError),
    #[error(transparent)]
    Keys(#[from] AuthorityError),
    #[error("its credential is no longer good")]
    Unknown,
    #[error("it makes no sense")]
    Nonsense,
    #[error("this NATS lets everybody in, so nobody knows who it is; set it up with `stoker nats init`")]
    Unguarded,
}

/// Why there is no bus as the operator wants it.
#[derive(Debug, thiserror::Error)]
pub enum NatsFailed {
    #[error(transparent)]
    Connect(#[from] NatsError),
    #[error("cannot read `{}`", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("`{}` is not what `stoker nats init` wrote", path.display())]
    Keys { path: PathBuf, source: AuthorityError },
}

/// The bus that was asked for; a NATS that is away is waited for in the background.
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
