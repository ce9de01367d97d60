//! Delivery within one process.

mod work_queue;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use self::work_queue::WorkQueues;
pub(crate) use self::work_queue::{MemoryAck, MemoryConsumer};
use crate::counts::{BusStats, Counts};
use crate::durable::StreamSettings;
use crate::subject::{Subject, SubjectPattern};
use crate::subscription::{Listener, Message, Subscription};

#[derive(Clone, Default)]
pub struct MemoryBus {
    inner: Arc<Mutex<Inner>>,
    queues: WorkQueues,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Inner {
    listeners: Vec<Registered>,
    /// Round-robin position of each queue group, by pattern and group name.
    round_robin: BTreeMap<(SubjectPattern, String), usize>,
}

struct Registered {
    pattern: SubjectPattern,
    group: Option<String>,
    listener: Listener,
}

impl MemoryBus {
    /// Returns the number of matching subscribers.
    pub(crate) fn publish(&self, subject: &Subject, body: &[u8]) -> usize {
        self.counts.add_published();
        let message = || Message { subject: subject.clone(), body: body.to_vec() };
        let mut inner = self.lock();
        inner.listeners.retain(|registered| !registered.listener.is_closed());
        let mut n_listeners = 0;
        let mut groups: BTreeMap<(SubjectPattern, String), Vec<&Listener>> = BTreeMap::new();
        for registered in inner.listeners.iter().filter(|registered| registered.pattern.matches(subject)) {
            n_listeners += 1;
            match &registered.group {
                None => registered.listener.deliver(message()),
                Some(group) => {
                    let key = (registered.pattern.clone(), group.clone());
                    groups.entry(key).or_default().push(&registered.listener);
                }
            }
        }
        let mut advanced = Vec::new();
        for (key, members) in groups {
            let position = inner.round_robin.get(&key).copied().unwrap_or_default();
            if let Some(member) = members.get(position % members.len()) {
                member.deliver(message());
            }
            advanced.push((key, position.wrapping_add(1)));
        }
        inner.round_robin.extend(advanced);
        n_listeners
    }

    pub(crate) fn subscribe(&self, pattern: &SubjectPattern, group: Option<&str>) -> Subscription {
        let (sender, messages) = mpsc::channel(crate::SUBSCRIBER_BUFFER_MAX);
        let listener = Listener::new(sender, Arc::clone(&self.counts));
        let registered = Registered { pattern: pattern.clone(), group: group.map(str::to_owned), listener };
        self.lock().listeners.push(registered);
        Subscription { messages }
    }

    /// Returns whether a queue stores messages of this subject.
    pub(crate) fn store(&self, subject: &Subject, id: &str, body: &[u8]) -> bool {
        self.counts.add_published();
        self.queues.store(subject, id, body)
    }

    pub(crate) fn consumer(&self, settings: &StreamSettings) -> MemoryConsumer {
        self.queues.consumer(settings)
    }

    pub(crate) fn stats(&self) -> BusStats {
        self.counts.stats()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
