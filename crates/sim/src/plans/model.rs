//! The oracle: a slow, obvious second implementation of which instances run.
//!
//! It keeps everything that ever happened to a task on a node and reads that list backwards. It knows no YAQL, no
//! documents, no digests and no caches, and shares no code with the planner.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::expression::{Condition, Parameter, Path};
use super::site::{Scope, Site, SiteTask};
use super::view::View;

/// Graph type, task and node.
pub(crate) type Key = (&'static str, String, String);

#[derive(Debug, Default)]
pub(crate) struct Oracle {
    events: BTreeMap<Key, Vec<Event>>,
}

/// What happened to a task on a node.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// An attempt was sent.
    Sent {
        run: i64,
    },
    /// An attempt ended otherwise than by success.
    NotSucceeded,
    /// The trigger of the task may have changed something.
    Triggered,
    Succeeded {
        run: i64,
        success: Success,
    },
    /// The machine was replaced, was reinstalled, or left the cluster.
    Invalidated,
    /// The process of an attempt that had been given up completed.
    LateResult,
}

/// What a task succeeded with.
#[derive(Clone, Debug)]
pub(crate) struct Success {
    /// The site with the statuses after the run.
    pub(crate) site: Rc<Site>,
    pub(crate) definition: String,
    pub(crate) inputs: Json,
}

/// What is known about a task on a node.
#[derive(Debug)]
enum Applied<'o> {
    Never,
    Known(&'o Success),
    /// The effect of the last attempt is unknown. Holds the last success before it.
    Doubtful(Option<&'o Success>),
}

/// The decision about an instance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    Skip,
    /// With the rendered parameters.
    Run(Json),
}

/// Predictions of the oracle about a plan.
pub(crate) struct Verdicts {
    pub(crate) decisions: BTreeMap<(String, String), Decision>,
    /// Instances without a change; a plan that runs them is not wrong, but useless.
    pub(crate) unaffected: BTreeSet<(String, String)>,
}

impl Oracle {
    pub(crate) fn record(&mut self, key: Key, event: Event) {
        self.events.entry(key).or_default().push(event);
    }

    /// Records that the applied states of a node are invalid.
    pub(crate) fn invalidate(&mut self, node: &str) {
        let of_node = self.events.iter_mut().filter(|((_, _, uid), _)| uid == node);
        of_node.for_each(|(_, events)| events.push(Event::Invalidated));
    }

    fn applied(&self, key: &Key) -> Applied<'_> {
        let events = self.events.get(key).map_or(&[][..], Vec::as_slice);
        let mut is_doubtful = false;
        for (at, event) in events.iter().enumerate().rev() {
            match event {
                Event::Invalidated => break,
                Event::Sent { .. } | Event::NotSucceeded | Event::Triggered => is_doubtful = true,
                // A late result after an invalidation is one of the former machine.
                Event::LateResult => is_doubtful |= has_event_since_invalidation(&events[..at]),
                Event::Succeeded { run, success } => {
                    if !was_sent_since_invalidation(&events[..at], *run) {
                        break;
                    }
                    return if is_doubtful {
                        Applied::Doubtful(Some(success))
                    } else {
                        Applied::Known(success)
                    };
                }
            }
        }
        if is_doubtful { Applied::Doubtful(None) } else { Applied::Never }
    }

    /// Decides all instances of a plan.
    pub(crate) fn decide(&self, site: &Site, graph_type: &'static str, scope: &Scope) -> Verdicts {
        let (included, graph) = (site.included(scope), &site.graphs[graph_type]);
        let steady = site.settled(&site.occupied(graph_type, scope), false);
        let mut verdicts = Verdicts { decisions: BTreeMap::new(), unaffected: BTreeSet::new() };
        // Instances whose last attempt has no known effect.
        let mut tainted: BTreeSet<(String, String)> = BTreeSet::new();
        for (name, task) in &graph.tasks {
            let is_selected = scope.selects_task(name);
            for uid in site.placed(graph, name, &included) {
                let key = (name.clone(), uid.clone());
                let applied = self.applied(&(graph_type, name.clone(), uid.clone()));
                if matches!(applied, Applied::Doubtful(_)) && !scope.force {
                    tainted.insert(key.clone());
                }
                let applied = match applied {
                    _ if scope.force => Applied::Never,
                    Applied::Known(success) if !graph.keep && success.definition != task.definition(site) => {
                        Applied::Doubtful(Some(success))
                    }
                    applied => applied,
                };
                let instance = Instance { task, site, steady: &steady, uid: &uid };
                let groups = site.group_conditions(graph, name, &uid);
                let decision = if !is_selected {
                    Decision::Skip
                } else if let Some(trigger) = graph.trigger_of(name) {
                    let trigger = (trigger.clone(), uid.clone());
                    let runs = matches!(verdicts.decisions.get(&trigger), Some(Decision::Run(_)));
                    instance.decide_handler(&applied, tainted.contains(&key) || runs)
                } else {
                    instance.decide(&applied, groups.as_deref())
                };
                if let Applied::Known(success) = applied
                    && graph.trigger_of(name).is_none()
                    && instance.is_unaffected(success)
                {
                    verdicts.unaffected.insert(key.clone());
                }
                verdicts.decisions.insert(key, decision);
            }
        }
        verdicts
    }
}

fn has_event_since_invalidation(events: &[Event]) -> bool {
    let mut since = events.iter().rev().take_while(|event| !matches!(event, Event::Invalidated));
    since.any(|event| !matches!(event, Event::LateResult))
}

/// Whether the attempt of a success was sent after the last invalidation. If not, the success is one of the former
/// machine.
fn was_sent_since_invalidation(events: &[Event], run: i64) -> bool {
    let newest = events.iter().rev().find(|event| match event {
        Event::Invalidated => true,
        Event::Sent { run: sent } => *sent == run,
        _ => false,
    });
    matches!(newest, Some(Event::Sent { .. }))
}

struct Instance<'i> {
    task: &'i SiteTask,
    site: &'i Site,
    /// The site in a state in which nothing changes, over which inputs are rendered.
    steady: &'i Site,
    uid: &'i str,
}

impl Instance<'_> {
    /// Decides the instance. `groups`: conditions of which one must be true, too.
    fn decide(&self, applied: &Applied<'_>, groups: Option<&[&Condition]>) -> Decision {
        let OwnDecision::Run { old } = self.own_decision(applied) else { return Decision::Skip };
        let run =
            |old: Option<&Site>| Decision::Run(self.task.parameters(self.view(self.site), self.old(old)));
        let follows = |old: Option<&Site>| {
            let holds = |condition: &&Condition| condition.holds(self.view(self.site), self.old(old), true);
            groups.is_none_or(|groups| groups.iter().any(holds))
        };
        if follows(old) {
            return run(old);
        }
        match applied {
            Applied::Doubtful(Some(success)) if follows(Some(&success.site)) => run(Some(&success.site)),
            _ => Decision::Skip,
        }
    }

    /// Decides an instance of a handler, which runs for a condition of its own or because of its trigger: it was triggered
    /// before, or its trigger runs.
    fn decide_handler(&self, applied: &Applied<'_>, may_be_triggered: bool) -> Decision {
        let own = if self.task.condition.is_some() { self.own_decision(applied) } else { OwnDecision::Skip };
        let old = match (own, applied) {
            (OwnDecision::Run { old }, _) => old,
            (OwnDecision::Skip, _) if !may_be_triggered => return Decision::Skip,
            (OwnDecision::Skip, Applied::Known(success)) => Some(&*success.site),
            (OwnDecision::Skip, _) => None,
        };
        Decision::Run(self.task.parameters(self.view(self.site), self.old(old)))
    }

    /// What the condition of the task itself decides.
    fn own_decision<'s>(&self, applied: &'s Applied<'_>) -> OwnDecision<'s> {
        let condition = self.task.effective_condition();
        let holds = |old: Option<&Site>, inputs_changed: bool| {
            let condition = condition.as_ref();
            condition
                .is_none_or(|condition| condition.holds(self.view(self.site), self.old(old), inputs_changed))
        };
        match applied {
            Applied::Known(success) => {
                let inputs_changed = self.task.inputs(self.view(self.steady)) != success.inputs;
                let old = Some(&*success.site);
                OwnDecision::run_if(holds(old, inputs_changed), old)
            }
            _ if holds(None, true) => OwnDecision::Run { old: None },
            Applied::Doubtful(Some(success)) => {
                let retained = Some(&*success.site);
                OwnDecision::run_if(holds(retained, true), retained)
            }
            Applied::Never | Applied::Doubtful(None) => OwnDecision::Skip,
        }
    }

    /// Whether nothing that the instance observes changed since a success, nor will by the run.
    fn is_unaffected(&self, success: &Success) -> bool {
        let Some(condition) = self.task.effective_condition() else { return false };
        let Some(observed) = condition.observed() else { return false };
        let old = View { site: &success.site, uid: self.uid };
        let is_same = |site: &Site, path: &Path| self.view(site).value(path) == old.value(path);
        let are_inputs_same = !condition.uses_inputs() || {
            let mut read = self.task.parameters.iter().flat_map(Parameter::paths);
            self.task.definition(self.site) == success.definition
                && read.all(|path| is_same(self.site, &path) && is_same(self.steady, &path))
        };
        are_inputs_same && observed.iter().all(|path| is_same(self.site, path))
    }

    fn view<'v>(&'v self, site: &'v Site) -> View<'v> {
        View { site, uid: self.uid }
    }

    fn old<'v>(&'v self, site: Option<&'v Site>) -> Option<View<'v>> {
        site.map(|site| View { site, uid: self.uid })
    }
}

/// What the condition of a task decides for an instance.
enum OwnDecision<'s> {
    Skip,
    /// The old state is the one that the condition and the parameters read.
    Run {
        old: Option<&'s Site>,
    },
}

impl<'s> OwnDecision<'s> {
    fn run_if(holds: bool, old: Option<&'s Site>) -> Self {
        if holds { Self::Run { old } } else { Self::Skip }
    }
}

impl Condition {
    /// Whether the condition is true. Without an old state, everything that exists has changed.
    fn holds(&self, new: View<'_>, old: Option<View<'_>>, inputs_changed: bool) -> bool {
        let changed = |path: &Path| new.value(path) != old.and_then(|old| old.value(path));
        match self {
            Self::Changed(path) => changed(path),
            Self::ChangedAny(paths) => paths.iter().any(changed),
            Self::ChangedAll(paths) => paths.iter().all(changed),
            Self::Moved(section) => new.section(section) != old.and_then(|old| old.section(section)),
            Self::Deleted(path) => {
                let items = |view: View<'_>| view.value(path).and_then(|list| list.as_array().cloned());
                let (new, old) = (items(new).unwrap_or_default(), old.and_then(items).unwrap_or_default());
                old.iter().any(|item| !new.contains(item))
            }
            Self::OldIs(path, text) => old.and_then(|old| old.value(path)) == Some(json!(text)),
            Self::InputsChanged => inputs_changed,
            Self::Debug => new.value(&Path::Setting(&["shop", "debug"])) == Some(json!(true)),
            Self::ClusterStatusIn(words) => words.contains(&new.site.status),
            Self::Not(inner) => !inner.holds(new, old, inputs_changed),
            Self::And(left, right) => {
                left.holds(new, old, inputs_changed) && right.holds(new, old, inputs_changed)
            }
            Self::Or(left, right) => {
                left.holds(new, old, inputs_changed) || right.holds(new, old, inputs_changed)
            }
        }
    }
}

impl SiteTask {
    /// The definition of the task: all fields except those for scheduling and placement.
    pub(crate) fn definition(&self, site: &Site) -> String {
        let calls_helper =
            self.parameters.iter().any(|parameter| matches!(parameter, Parameter::Decorated(_)));
        format!(
            "{} {} {:?} file {} helper {}",
            self.copies_file,
            self.command,
            self.parameters,
            if self.copies_file { site.file } else { 0 },
            if calls_helper { site.helper } else { 0 },
        )
    }

    /// The parameters of an instance, by number, with the command.
    fn parameters(&self, new: View<'_>, old: Option<View<'_>>) -> Json {
        let computed = self.parameters.iter().map(|parameter| parameter.value(new, old));
        json!({"command": self.command, "computed": computed.collect::<Vec<_>>()})
    }

    /// The parameters in a state in which nothing changes, and the content of the copied file.
    fn inputs(&self, steady: View<'_>) -> Json {
        let file = if self.copies_file { steady.site.file } else { 0 };
        json!({"copies_file": self.copies_file, "parameters": self.parameters(steady, Some(steady)), "file": file})
    }

    /// The inputs of an instance in a plan of a graph.
    pub(crate) fn inputs_in(&self, site: &Site, uid: &str, graph_type: &str, scope: &Scope) -> Json {
        self.inputs(View { site: &site.settled(&site.occupied(graph_type, scope), false), uid })
    }
}

impl Parameter {
    fn paths(&self) -> Vec<Path> {
        match self {
            Self::Read(path) | Self::Added(path) | Self::Old(path) | Self::Decorated(path) => {
                vec![path.clone()]
            }
            Self::Section("extra") => vec![Path::Setting(&["extra"])],
            Self::Section(_) => vec![Path::Setting(&["db"])],
        }
    }

    fn value(&self, new: View<'_>, old: Option<View<'_>>) -> Json {
        match self {
            Self::Read(path) => new.value(path).unwrap_or_default(),
            Self::Section(section) => new.section(section).unwrap_or_default(),
            Self::Added(path) => {
                let items = |view: View<'_>| view.value(path).and_then(|list| list.as_array().cloned());
                let old = old.and_then(items).unwrap_or_default();
                items(new).unwrap_or_default().into_iter().filter(|item| !old.contains(item)).collect()
            }
            Self::Old(path) => old.and_then(|old| old.value(path)).unwrap_or_else(|| json!("")),
            Self::Decorated(path) => {
                let text = new.value(path).unwrap_or_default();
                json!(format!("{}: {}", new.site.helper, text.as_str().unwrap_or_default()))
            }
        }
    }
}

impl Site {
    /// The site after a run that succeeds on the participants.
    pub(crate) fn settled(&self, participants: &BTreeSet<String>, is_partial: bool) -> Site {
        let mut settled = self.clone();
        for (_, node) in settled.nodes.iter_mut().filter(|(uid, _)| participants.contains(*uid)) {
            node.become_ready();
        }
        settled.status = settled.status_after(is_partial);
        settled
    }
}
