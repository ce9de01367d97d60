//! systemd over the system bus. All attempts of an agent share one connection, and no operation starts a process.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::Mutex;
use zbus::message::Type;
use zbus::{Connection, MatchRule, Message, MessageStream, OwnedObjectPath, OwnedVariant};

use super::super::{HostError, UnitChange, UnitState};

const SERVICE: &str = "org.freedesktop.systemd1";
const MANAGER: &str = "org.freedesktop.systemd1.Manager";
const MANAGER_PATH: &str = "/org/freedesktop/systemd1";

/// Maximum time from the end of a job until its unit is active. Longer starts are part of the job, whose timeout is
/// configured in the unit; a unit that is still activating afterwards fails at each restart by systemd.
const ACTIVATION: Duration = Duration::from_secs(15);

const POLL: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, Default)]
pub(super) struct Systemd {
    connection: Arc<Mutex<Option<Connection>>>,
}

/// A failed change of a unit.
#[derive(Debug)]
pub(super) enum UnitError {
    /// The unit failed or does not become active; its journal says why.
    Failed(String),
    Other(HostError),
}

impl From<HostError> for UnitError {
    fn from(error: HostError) -> Self {
        Self::Other(error)
    }
}

impl Systemd {
    pub(super) async fn unit(&self, name: &str) -> Result<UnitState, HostError> {
        let first = self.unit_state(name).await;
        let state = match first {
            // The bus or systemd was restarted since the last attempt.
            Err(zbus::Error::InputOutput(_)) => {
                self.connection.lock().await.take();
                self.unit_state(name).await
            }
            other => other,
        };
        state.map_err(|error| bus_error(&format!("query `{name}`"), &error))
    }

    async fn unit_state(&self, name: &str) -> zbus::Result<UnitState> {
        let path: OwnedObjectPath = reply(&self.manager("LoadUnit", &(name,)).await?)?;
        let arguments = &("org.freedesktop.systemd1.Unit",);
        let connection = self.connect().await?;
        let properties = "org.freedesktop.DBus.Properties";
        let message =
            connection.call_method(Some(SERVICE), &path, Some(properties), "GetAll", arguments).await?;
        let mut values: HashMap<String, OwnedVariant> = reply(&message)?;
        let mut text = |name: &str| {
            values.remove(name).and_then(|value| String::try_from(value).ok()).unwrap_or_default()
        };
        let (load, active, file) = (text("LoadState"), text("ActiveState"), text("UnitFileState"));
        let needs_reload = values.remove("NeedDaemonReload").and_then(|value| bool::try_from(value).ok());
        Ok(UnitState { load, active, file, needs_reload: needs_reload.unwrap_or_default() })
    }

    pub(super) async fn change(&self, unit: &str, change: UnitChange) -> Result<(), UnitError> {
        let method = match change {
            UnitChange::Start => "StartUnit",
            UnitChange::Stop => "StopUnit",
            UnitChange::Restart => "RestartUnit",
            UnitChange::Reload => "ReloadOrRestartUnit",
            UnitChange::Enable | UnitChange::Disable | UnitChange::Mask | UnitChange::Unmask => {
                return Ok(self.change_file(unit, change).await?);
            }
        };
        let failed = |error| bus_error(&format!("{change} `{unit}`"), &error);
        let result = self.run_job(method, unit).await.map_err(failed)?;
        if !matches!(result.as_str(), "done" | "skipped") {
            return Err(UnitError::Failed(format!(
                "cannot {change} `{unit}`: the job ended with `{result}`"
            )));
        }
        if change == UnitChange::Stop { Ok(()) } else { self.wait_until_active(unit).await }
    }

    /// Queues a job and waits for its result.
    async fn run_job(&self, method: &str, unit: &str) -> zbus::Result<String> {
        let connection = self.connect().await?;
        let rule = MatchRule::builder()
            .msg_type(Type::Signal)
            .sender(SERVICE)
            .interface(MANAGER)
            .member("JobRemoved")
            .build()?;
        // Before the job: it may end before the call returns.
        let mut removed = MessageStream::for_match_rule(rule, &connection, None).await?;
        let job: OwnedObjectPath = reply(&self.manager(method, &(unit, "replace")).await?)?;
        while let Some(message) = removed.next().await {
            let message = message?;
            let (_, path, _, result): (u32, OwnedObjectPath, String, String) = reply(&message)?;
            if path == job {
                return Ok(result);
            }
        }
        Err(zbus::Error::Failure("the connection was closed before the job ended".to_owned()))
    }

    async fn wait_until_active(&self, unit: &str) -> Result<(), UnitError> {
        let mut waited = Duration::ZERO;
        loop {
            let UnitState { active, .. } = self.unit(unit).await?;
            match active.as_str() {
                // A unit of type `oneshot` is inactive after its success.
                "active" | "inactive" => return Ok(()),
                "failed" => return Err(UnitError::Failed(format!("`{unit}` failed"))),
                _ if waited >= ACTIVATION => {
                    let seconds = ACTIVATION.as_secs();
                    return Err(UnitError::Failed(format!(
                        "`{unit}` is not active after {seconds} seconds, but {active}"
                    )));
                }
                _ => {}
            }
            tokio::time::sleep(POLL).await;
            waited += POLL;
        }
    }

    async fn change_file(&self, unit: &str, change: UnitChange) -> Result<(), HostError> {
        let units = [unit];
        let (in_run, replaces) = (false, true);
        let changed = match change {
            UnitChange::Enable => {
                let reply_of_enable = self.manager("EnableUnitFiles", &(&units[..], in_run, replaces)).await;
                let (is_installable, _): (bool, Vec<(String, String, String)>) = reply_of_enable
                    .and_then(|message| reply(&message))
                    .map_err(|error| bus_error(&format!("enable `{unit}`"), &error))?;
                if !is_installable {
                    let message = format!("cannot enable `{unit}`: its unit file has no section `[Install]`");
                    return Err(HostError::Other(message));
                }
                Ok(())
            }
            // Both kinds of links: those in `/run` last until the next boot.
            UnitChange::Disable => match self.manager("DisableUnitFiles", &(&units[..], false)).await {
                Ok(_) => self.manager("DisableUnitFiles", &(&units[..], true)).await.map(drop),
                Err(error) => Err(error),
            },
            UnitChange::Mask => {
                self.manager("MaskUnitFiles", &(&units[..], in_run, replaces)).await.map(drop)
            }
            _ => self.manager("UnmaskUnitFiles", &(&units[..], in_run)).await.map(drop),
        };
        changed.map_err(|error| bus_error(&format!("{change} `{unit}`"), &error))?;
        self.reload().await
    }

    /// Lets systemd read all unit files again.
    pub(super) async fn reload(&self) -> Result<(), HostError> {
        self.manager("Reload", &())
            .await
            .map(drop)
            .map_err(|error| bus_error("reload the unit files", &error))
    }

    async fn manager<B>(&self, method: &str, arguments: &B) -> zbus::Result<Message>
    where
        B: serde::Serialize + zbus::DynamicType,
    {
        let connection = self.connect().await?;
        connection.call_method(Some(SERVICE), MANAGER_PATH, Some(MANAGER), method, arguments).await
    }

    async fn connect(&self) -> zbus::Result<Connection> {
        let mut current = self.connection.lock().await;
        if let Some(connection) = &*current {
            return Ok(connection.clone());
        }
        let connection = Connection::system().await?;
        // Without a subscription systemd sends no signals.
        connection.call_method(Some(SERVICE), MANAGER_PATH, Some(MANAGER), "Subscribe", &()).await?;
        *current = Some(connection.clone());
        Ok(connection)
    }
}

fn reply<T>(message: &Message) -> zbus::Result<T>
where
    T: serde::de::DeserializeOwned + zbus::Type,
{
    message.body().deserialize()
}

fn bus_error(operation: &str, error: &zbus::Error) -> HostError {
    let reason = match error {
        zbus::Error::MethodError(name, None, _) => name.to_string(),
        zbus::Error::MethodError(_, Some(message), _) => message.clone(),
        zbus::Error::InputOutput(error) => {
            format!("there is no system bus ({error}); services need systemd and D-Bus on the node")
        }
        other => other.to_string(),
    };
    HostError::Other(format!("cannot {operation}: {}", reason.trim_end_matches('.')))
}
