//! Execution of a planned run: how attempts end, what they write to machines, and which handlers they trigger.

use std::collections::BTreeSet;
use std::rc::Rc;

use stoker_model::{InstanceIdx, TaintCause};
use stoker_planner::{InstanceAction, Verdict};

use super::history::RunRequest;
use super::machines::{Content, Effect, End};
use super::model::{Event, Key, Success};
use super::replay::Replay;
use super::site::{ERROR, Site};
use super::world::{WorldPlan, running};

/// A run that is being executed.
struct Execution<'r> {
    request: &'r RunRequest,
    planned: &'r WorldPlan,
    run: i64,
    snapshot: usize,
    /// The site after the run.
    settled: Rc<Site>,
    replaced: Option<&'r String>,
    /// Handlers that the run has triggered.
    triggered: BTreeSet<Key>,
}

/// An instance that the plan runs, with what its attempt writes.
#[derive(Clone)]
struct RunningInstance {
    idx: InstanceIdx,
    key: Key,
    content: Content,
    is_handler: bool,
    /// It runs only if it is triggered in this run.
    only_triggered: bool,
}

impl Execution<'_> {
    fn end(&self, key: &Key) -> End {
        End::random(self.request.luck, self.request.failing, &key.1, &key.2)
    }
}

impl Replay {
    pub(super) fn execute(&mut self, request: &RunRequest, planned: &WorldPlan) {
        self.n_runs += 1;
        let run = self.n_runs;
        let snapshot = self.world.store(planned);
        let participants: BTreeSet<String> = if request.scope.tasks.is_some() {
            running(&planned.plan).map(|(_, uid)| uid.to_owned()).collect()
        } else {
            self.site.occupied(request.graph, &request.scope)
        };
        let is_partial = self.site.leaves_out(&request.scope);
        let settled = Rc::new(self.site.settled(&participants, is_partial));
        let replaced = request.replaced.as_ref().filter(|uid| self.site.nodes.contains_key(*uid));
        let triggered = BTreeSet::new();
        let mut execution = Execution { request, planned, run, snapshot, settled, replaced, triggered };
        let instances = self.instances(request, planned);
        // Handlers start after all others: their triggers have ended then.
        let (handlers, first): (Vec<RunningInstance>, Vec<RunningInstance>) =
            instances.into_iter().partition(|instance| instance.is_handler);
        for instance in &first {
            self.send(&execution, &instance.key);
        }
        if let Some(uid) = replaced {
            self.log(|| format!("  the machine of node {uid} is replaced"));
            if let Some(node) = self.site.nodes.get_mut(uid) {
                node.redeploy();
            }
            self.invalidate(uid);
            self.empty(uid);
        }
        // Instances without success.
        let mut open: BTreeSet<Key> = BTreeSet::new();
        let mut failed: BTreeSet<String> = BTreeSet::new();
        for instance in first.into_iter().chain(handlers) {
            if instance.is_handler {
                match self.is_started(&execution, &instance, &open) {
                    Some(true) => self.send(&execution, &instance.key),
                    Some(false) => continue,
                    None => {
                        open.insert(instance.key);
                        continue;
                    }
                }
            }
            let end = execution.end(&instance.key);
            if end != End::Succeeded {
                self.log(|| format!("  {}@{} ends: {end:?}", instance.key.1, instance.key.2));
                open.insert(instance.key.clone());
                failed.insert(instance.key.2.clone());
            }
            self.finish(&mut execution, instance, end);
        }
        for uid in &participants {
            if let Some(node) = self.site.nodes.get_mut(uid) {
                if failed.contains(uid) {
                    node.status = ERROR;
                } else {
                    node.become_ready();
                }
            }
        }
        let has_failed = !failed.is_empty();
        self.site.status = self.site.status_after(is_partial && !has_failed);
    }

    /// The instances that the plan runs, in the order of their names.
    fn instances(&self, request: &RunRequest, planned: &WorldPlan) -> Vec<RunningInstance> {
        let graph = &self.site.graphs[request.graph];
        let instances = planned.plan.instances();
        let running = instances.filter(|instance| instance.verdict.action() == InstanceAction::Run);
        running
            .map(|instance| RunningInstance {
                idx: instance.idx,
                key: (request.graph, instance.task.to_owned(), instance.node.to_owned()),
                content: self.whole(request, &graph.tasks[instance.task], instance.node),
                is_handler: graph.trigger_of(instance.task).is_some(),
                only_triggered: instance.verdict == Verdict::IfTriggered,
            })
            .collect()
    }

    /// Whether a handler is started after its trigger has ended; `None` if the trigger did not succeed or the machine was
    /// lost.
    fn is_started(
        &self,
        execution: &Execution<'_>,
        handler: &RunningInstance,
        open: &BTreeSet<Key>,
    ) -> Option<bool> {
        let (graph, task, uid) = &handler.key;
        let trigger = self.site.graphs[graph].trigger_of(task)?;
        let is_blocked =
            open.contains(&(*graph, trigger.clone(), uid.clone())) || execution.replaced == Some(uid);
        (!is_blocked).then(|| !handler.only_triggered || execution.triggered.contains(&handler.key))
    }

    fn send(&mut self, execution: &Execution<'_>, key: &Key) {
        if execution.end(key) != End::NotStarted {
            self.oracle.record(key.clone(), Event::Sent { run: execution.run });
            self.world.send(key.0, &key.1, &key.2, execution.run);
        }
    }

    /// Ends an attempt.
    fn finish(&mut self, execution: &mut Execution<'_>, instance: RunningInstance, end: End) {
        let RunningInstance { idx, key, content, .. } = instance;
        let is_former = execution.replaced == Some(&key.2);
        let before = self.machines.content(&key).cloned();
        let (run, planned) = (execution.run, execution.planned);
        let is_reported = match end {
            End::NotStarted => false,
            End::Succeeded => {
                let Content::Whole { definition, inputs } = content.clone() else { return };
                let success = Success { site: Rc::clone(&execution.settled), definition, inputs };
                self.oracle.record(key.clone(), Event::Succeeded { run, success });
                self.world.succeed(key.0, planned, execution.snapshot, idx, run);
                if !is_former {
                    self.pending.remove(&key);
                    self.machines.write(key.clone(), content);
                }
                // Some tasks cannot tell that nothing changed.
                self.machines.content(&key) != before.as_ref() || execution.request.luck.is_multiple_of(2)
            }
            End::NotSucceeded { cause, effect } => {
                // A failure that is reported after an invalidation taints the new machine, too.
                if cause != TaintCause::InFlight {
                    self.oracle.record(key.clone(), Event::NotSucceeded);
                    self.world.mark(key.0, &key.1, &key.2, run, cause);
                }
                if !is_former {
                    if cause == TaintCause::Unknown {
                        self.given_up.push((key.clone(), run, content.clone()));
                    }
                    match effect {
                        Effect::None => {}
                        Effect::Whole => self.machines.write(key.clone(), content),
                        Effect::Broken => self.machines.write(key.clone(), Content::Broken),
                    }
                }
                cause != TaintCause::InFlight
            }
        };
        if is_reported {
            let has_changed = self.machines.content(&key) != before.as_ref();
            self.trigger(execution, &key, has_changed);
        }
    }

    /// Triggers the handlers of an instance in the plan.
    fn trigger(&mut self, execution: &mut Execution<'_>, (graph, task, uid): &Key, has_changed: bool) {
        let handlers: Vec<String> = self.site.graphs[graph].handlers_of(task).cloned().collect();
        for handler in handlers {
            let mut instances = execution.planned.plan.instances();
            if !instances.any(|instance| instance.task == handler && instance.node == uid) {
                continue;
            }
            self.log(|| format!("  {handler}@{uid} is triggered"));
            let key = (*graph, handler, uid.clone());
            self.world.trigger(key.0, &key.1, &key.2, execution.run);
            self.oracle.record(key.clone(), Event::Triggered);
            if has_changed {
                self.pending.insert(key.clone());
            }
            execution.triggered.insert(key);
        }
    }
}
