//! Results that NATS keeps, until a server has them: of agents that may be gone for good.
//!
//! All servers share them. What is taken goes the way of a result that an agent says in a conversation, and is done with
//! only when it is in the database. Most of them are by then: whoever spoke with the agent was quicker.

use std::sync::Arc;
use std::time::Duration;

use stoker_bus::{Bus, BusError, KeepSettings, Kept, Pattern, SubjectError};
use stoker_engine::session::{Finished, FromAgent};
use stoker_services::background::TaskMonitor;
use stoker_wire::nats::{RESULTS, RESULTS_NAME, SERVERS};
use stoker_wire::{Decoded, decode_from_agent};
use tokio::sync::Semaphore;

use super::Unheard;
use crate::nats::NatsUsers;
use crate::orchestrator::Orchestrator;
use crate::results::{Hops, Receipt, deliver_and_wait};

/// As much as NATS keeps, half of what the account may.
const BYTES_MAX: u64 = 512 << 20;
/// Nobody waits for a result that is older.
const AGE_MAX: Duration = Duration::from_hours(7 * 24);
/// An agent that does not hear that a result is kept says it again within seconds.
const ONCE_WITHIN: Duration = Duration::from_mins(2);
/// Longer than settling one may take.
const TAKEN_FOR: Duration = Duration::from_secs(30);
/// Results that are dealt with at the same time.
const AT_ONCE: usize = 128;
/// Pauses before one whose run is in nobody's hands is looked at again.
const AGAIN_MIN: Duration = Duration::from_millis(500);
const AGAIN_MAX: Duration = Duration::from_mins(1);
const LISTEN_AGAIN: Duration = Duration::from_secs(3);
/// The connection comes by itself; asking whether it is there costs nothing.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Takes results. Never returns.
pub(crate) async fn take_results(orchestrator: &Orchestrator, users: &NatsUsers, monitor: &TaskMonitor) {
    let (mut told, mut is_away) = (String::new(), false);
    loop {
        if !orchestrator.bus.is_up() {
            // The connection logs it. One outage is one failure, however often it is looked at.
            if !is_away {
                monitor.fail("there is no connection with NATS");
            }
            is_away = true;
            orchestrator.metrics.bus.keeps.set(0);
            tokio::time::sleep(LOOK_AGAIN).await;
            continue;
        }
        is_away = false;
        monitor.start();
        let Err(error) = take_all(orchestrator, users, monitor).await;
        monitor.fail(&error);
        orchestrator.metrics.bus.keeps.set(0);
        if matches!(error, Unheard::Bus(BusError::Away(_))) {
            // Told of already by whoever connects.
            tokio::time::sleep(LOOK_AGAIN).await;
            continue;
        }
        // Said once, not every few seconds for as long as it is so.
        let why = error.to_string();
        if why != told {
            tracing::warn!(
                why,
                "NATS keeps no results of agents: they are with the agents alone until a server has them"
            );
            told = why;
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

/// Until something is wrong with it.
async fn take_all(
    orchestrator: &Orchestrator,
    users: &NatsUsers,
    monitor: &TaskMonitor,
) -> Result<std::convert::Infallible, Unheard> {
    let Bus::Nats(nats) = &orchestrator.bus else { return Err(Unheard::Unguarded) };
    if !nats.is_up() {
        return Err(BusError::Away("there is no connection".to_owned()).into());
    }
    if !nats.is_guarded() {
        return Err(Unheard::Unguarded);
    }
    let mut keeper = orchestrator.bus.keeper(&settings()?).await?;
    monitor.succeed();
    orchestrator.metrics.bus.keeps.set(1);
    tracing::info!("NATS keeps results of agents");
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Err(Unheard::Nonsense) };
        let kept = keeper.next().await?;
        let (orchestrator, users) = (orchestrator.clone(), users.clone());
        let background = orchestrator.background.clone();
        background.spawn(async move {
            deal_with(&orchestrator, &users, kept).await;
            drop(place);
        });
    }
}

fn settings() -> Result<KeepSettings, SubjectError> {
    Ok(KeepSettings {
        name: RESULTS_NAME,
        subjects: Pattern::new(RESULTS)?,
        takers: SERVERS,
        bytes_max: BYTES_MAX,
        age_max: AGE_MAX,
        once_within: ONCE_WITHIN,
        taken_for: TAKEN_FOR,
    })
}

async fn deal_with(orchestrator: &Orchestrator, users: &NatsUsers, kept: Kept) {
    let receipt = match judge(orchestrator, users, &kept).await {
        Ok((uid, finished)) => deliver_and_wait(orchestrator, &uid, finished, Hops::Allowed).await,
        // The database may not have answered.
        Err(Unheard::Store(error)) => {
            tracing::warn!(error = %error, "whose a result is that NATS kept is not known yet");
            Receipt::Pending
        }
        Err(error) => {
            tracing::warn!(subject = %kept.subject, error = %error, "a result that NATS kept is not believed");
            orchestrator.metrics.bus.result("refused");
            return dropped(kept).await;
        }
    };
    match receipt {
        Receipt::Committed => {
            orchestrator.metrics.bus.result("settled");
            dropped(kept).await;
        }
        Receipt::Refused => {
            orchestrator.metrics.bus.result("refused");
            dropped(kept).await;
        }
        Receipt::Pending => {
            orchestrator.metrics.bus.result("later");
            let after = pause(kept.n_times);
            if let Err(error) = kept.again(after).await {
                tracing::debug!(%error, "a result comes again by itself");
            }
        }
    }
}

async fn dropped(kept: Kept) {
    if let Err(error) = kept.done().await {
        tracing::debug!(%error, "a result that is safe comes again");
    }
}

/// Whose it is and what it says. Whoever speaks under the key of an agent has it, on a NATS that asks who somebody is; and
/// an agent that was sent away, or joined again, has another or none.
async fn judge(
    orchestrator: &Orchestrator,
    users: &NatsUsers,
    kept: &Kept,
) -> Result<(String, Finished), Unheard> {
    let words: Vec<&str> = kept.subject.as_str().split('.').collect();
    let [_, _, uid, key, _] = words[..] else { return Err(Unheard::Nonsense) };
    let digest = orchestrator.context.store.read().await?.agent_digest(uid).await?.ok_or(Unheard::Unknown)?;
    if users.key_of(uid, &digest)? != key {
        return Err(Unheard::Unknown);
    }
    match decode_from_agent(&String::from_utf8_lossy(&kept.body)) {
        Ok(Decoded::Message(FromAgent::Finished(finished))) => Ok((uid.to_owned(), finished)),
        _ => Err(Unheard::Nonsense),
    }
}

fn pause(n_times: u64) -> Duration {
    let n_before = u32::try_from(n_times.saturating_sub(1)).unwrap_or(u32::MAX);
    AGAIN_MIN.saturating_mul(2_u32.saturating_pow(n_before.min(16))).min(AGAIN_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_have_an_end() {
        assert_eq!([0, 1, 2, 3].map(pause), [1, 1, 2, 4].map(|n| AGAIN_MIN * n));
        assert_eq!([100, u64::MAX].map(pause), [AGAIN_MAX; 2]);
    }

    #[test]
    fn what_is_kept_can_be_named() {
        assert_eq!(settings().unwrap().subjects.as_str(), "stoker.agent.*.*.result");
    }
}
