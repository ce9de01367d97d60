//! Which tasks a name means, and names that mean none.

use std::collections::HashMap;
use std::rc::Rc;

use stoker_yaql::eval::suggest::closest;

use super::effort::{COMPILE_STEPS, Effort};
use super::links::{Kind, Link};
use super::{Definition, Scope, Subject};
use crate::finding::{Finding, codes};
use crate::merge::Merged;
use crate::pattern::Pattern;

/// Finding what may have been meant costs a look at every name, so in a large graph only the first few get it.
const COMPARISONS_MAX: usize = 500_000;

/// Tasks by name and by pattern; each pattern is compiled and tried once.
pub(super) struct Names<'a> {
    all: Vec<&'a str>,
    index_of: HashMap<&'a str, u32>,
    known: HashMap<&'a str, Rc<Meaning>>,
    n_suggestions: usize,
    pub(super) effort: Effort,
}

/// What a name means.
pub(super) enum Meaning {
    /// Ascending.
    Tasks(Vec<u32>),
    /// A pattern that is none, and why.
    Broken(String),
    /// Finding out would cost too much.
    Unknown,
}

impl Meaning {
    pub(super) fn tasks(&self) -> &[u32] {
        match self {
            Self::Tasks(tasks) => tasks,
            Self::Broken(_) | Self::Unknown => &[],
        }
    }
}

impl<'a> Names<'a> {
    pub(super) fn new(merged: &Merged<'a>, effort: Effort) -> Self {
        let all: Vec<&str> = merged.tasks.iter().map(|task| task.name).collect();
        let index_of = (0_u32..).zip(&all).map(|(task_idx, name)| (*name, task_idx)).collect();
        Self { all, index_of, known: HashMap::new(), n_suggestions: 0, effort }
    }

    pub(super) fn meaning(&mut self, name: &'a str) -> Rc<Meaning> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let is_affordable =
            !Pattern::is_regex(name) || self.effort.spend(COMPILE_STEPS + self.all.len() as u64);
        let pattern = if is_affordable { Pattern::new(name) } else { return Rc::new(Meaning::Unknown) };
        let meaning = match pattern {
            Ok(Pattern::Exact(exact)) => {
                Meaning::Tasks(self.index_of.get(exact).copied().into_iter().collect())
            }
            Ok(pattern) => {
                let tasks = (0_u32..).zip(&self.all).filter(|(_, name)| pattern.matches(name));
                Meaning::Tasks(tasks.map(|(task_idx, _)| task_idx).collect())
            }
            Err(why) => Meaning::Broken(why),
        };
        let meaning = Rc::new(meaning);
        self.known.insert(name, meaning.clone());
        meaning
    }

    fn suggestion(&mut self, name: &str) -> Option<String> {
        self.n_suggestions += 1;
        if self.n_suggestions * self.all.len() > COMPARISONS_MAX {
            return None;
        }
        closest(name, self.all.iter().copied()).map(|best| format!("did you mean `{best}`?"))
    }
}

pub(super) fn check<'a>(
    definition: &Definition<'_, 'a>,
    subject: &Subject<'_, 'a>,
    names: &mut Names<'a>,
    findings: &mut Vec<Finding>,
) {
    for link in &definition.links {
        if link.kind == Kind::Member && !definition.is_group() {
            // Only groups have members; elsewhere the field means nothing.
            continue;
        }
        let finding = match &*names.meaning(link.name) {
            Meaning::Broken(why) => {
                Some(Finding::error(codes::PATTERN, format!("`{}` is no pattern: {why}", link.name)))
            }
            Meaning::Unknown => None,
            Meaning::Tasks(tasks) if tasks.is_empty() => Some(dangling(link, subject.scope, names)),
            Meaning::Tasks(tasks) => without_effect(definition, link, tasks, subject),
        };
        findings.extend(finding.map(|finding| finding.at(definition.task.name, link.path())));
    }
}

/// A name that leads nowhere. In one layer it may lead to another.
fn dangling(link: &Link<'_>, scope: Scope, names: &mut Names<'_>) -> Finding {
    if scope == Scope::Layer {
        let message = format!("`{}` is no task of this layer", link.name);
        let help = names.suggestion(link.name).unwrap_or_else(|| "it may come from another layer".to_owned());
        return Finding::warning(codes::DANGLING, message).help(help);
    }
    if link.kind == Kind::Member {
        let message = format!("the group lists `{}`, which is no task", link.name);
        return Finding::error(codes::GROUP_MEMBER, message).help(names.suggestion(link.name));
    }
    if Pattern::is_regex(link.name) {
        let message = format!("no task matches `{}`, so it has no effect", link.name);
        return Finding::warning(codes::DANGLING, message);
    }
    let message = format!("there is no task `{}`, so it has no effect", link.name);
    Finding::warning(codes::DANGLING, message).help(names.suggestion(link.name))
}

/// Dependencies that exist on paper only.
fn without_effect(
    definition: &Definition<'_, '_>,
    link: &Link<'_>,
    tasks: &[u32],
    subject: &Subject<'_, '_>,
) -> Option<Finding> {
    if link.is_cross() || link.kind == Kind::Member {
        return None;
    }
    if let [task_idx] = tasks
        && subject.definition(*task_idx).task.name == definition.task.name
    {
        return Some(Finding::warning(codes::DANGLING, "the task names itself, which has no effect"));
    }
    let is_stage = |task_idx: &u32| subject.definition(*task_idx).is_stage();
    if !definition.is_stage() || tasks.iter().any(is_stage) {
        return None;
    }
    let (said, meant) = match link.kind {
        Kind::Requires => ("requires", "required_for"),
        _ => ("required_for", "requires"),
    };
    let message = format!("`{said}` of a stage reaches only stages, and `{}` is none", link.name);
    let help = format!("write `{meant}: [{}]` in `{}` instead", definition.task.name, link.name);
    Some(Finding::warning(codes::STAGE, message).help(help))
}
