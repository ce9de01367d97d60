//! Delivery inside of one process.

mod kept;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use self::kept::Shelves;
pub(crate) use self::kept::{MemoryKeeper, MemoryReceipt};
use crate::counts::{BusStats, Counts};
use crate::kept::KeepSettings;
use crate::subject::{Pattern, Subject};
use crate::subscription::{Listener, Message, Subscription};

#[derive(Clone, Default)]
pub struct Memory {
    inner: Arc<Mutex<Inner>>,
    shelves: Shelves,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Inner {
    listeners: Vec<Registered>,
    /// Whose turn it is, by what is listened to and under which name.
    turns: BTreeMap<(Pattern, String), usize>,
}

struct Registered {
    pattern: Pattern,
    group: Option<String>,
    listener: Listener,
}

impl Memory {
    /// How many got it, or should have.
    pub(crate) fn publish(&self, subject: &Subject, body: &[u8]) -> usize {
        self.counts.published();
        let message = || Message { subject: subject.clone(), body: body.to_vec() };
        let mut inner = self.lock();
        inner.listeners.retain(|registered| !registered.listener.is_gone());
        let mut n_listeners = 0;
        let mut groups: BTreeMap<(Pattern, String), Vec<&Listener>> = BTreeMap::new();
        for registered in inner.listeners.iter().filter(|registered| registered.pattern.matches(subject)) {
            n_listeners += 1;
            match &registered.group {
                None => registered.listener.hand(message()),
                Some(group) => {
                    let key = (registered.pattern.clone(), group.clone());
                    groups.entry(key).or_default().push(&registered.listener);
                }
            }
        }
        let mut taken = Vec::new();
        for (key, members) in groups {
            let turn = inner.turns.get(&key).copied().unwrap_or_default();
            if let Some(member) = members.get(turn % members.len()) {
                member.hand(message());
            }
            taken.push((key, turn.wrapping_add(1)));
        }
        inner.turns.extend(taken);
        n_listeners
    }

    pub(crate) fn subscribe(&self, pattern: &Pattern, group: Option<&str>) -> Subscription {
        let (sender, messages) = mpsc::channel(crate::WAITING_MAX);
        let listener = Listener::new(sender, Arc::clone(&self.counts));
        let registered = Registered { pattern: pattern.clone(), group: group.map(str::to_owned), listener };
        self.lock().listeners.push(registered);
        Subscription { messages }
    }

    /// Whether anybody keeps such messages.
    pub(crate) fn keep(&self, subject: &Subject, id: &str, body: &[u8]) -> bool {
        self.counts.published();
        self.shelves.keep(subject, id, body)
    }

    pub(crate) fn keeper(&self, settings: &KeepSettings) -> MemoryKeeper {
        self.shelves.keeper(settings)
    }

    pub(crate) fn stats(&self) -> BusStats {
        self.counts.stats()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
