//! What can be chosen, after the answers so far.

use stoker_conditions::Models;
use stoker_model::{Json, JsonMap};

use super::answers::{AnswerProblem, Judge};
use super::control::{Control, Kind, controls};
use super::mix::Mixed;
use crate::restrictions::Effect;

/// The wizard as it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// In the order in which they are asked.
    pub controls: Vec<ControlState>,
    /// Every control with the value that counts.
    pub answers: JsonMap,
    /// Answers to nothing, and restrictions that cannot be evaluated.
    pub problems: Vec<AnswerProblem>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ControlState {
    pub pane: String,
    pub control: String,
    /// What counts: the answer, the default, or what is left when neither is possible any more.
    pub value: Json,
    /// The answer that was given up because something else forbids it.
    pub dropped: Option<Json>,
    pub effect: Effect,
    /// Of a choice, in its order.
    pub options: Vec<OptionState>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OptionState {
    pub data: Json,
    pub effect: Effect,
}

/// Evaluates every restriction over answers `{Pane: {control: value}}`. What has become impossible does not stay chosen:
/// a checkbox is unchecked, a choice falls to the first option that is left; in the order of the wizard, so that later
/// panes see what counts.
pub fn evaluate(mixed: &Mixed, answers: &JsonMap, others: &Models<'_, '_>) -> Evaluation {
    let controls = controls(&mixed.wizard);
    let mut judge = Judge::new(mixed, others, &controls, answers);
    let given: Vec<Json> = controls.iter().map(|control| judge.value(control)).collect();
    for control in &controls {
        judge.settle(control);
    }
    // What cannot be evaluated is told once, of what counts in the end.
    judge.problems.retain(|problem| problem.kind != super::answer_kinds::CONDITION);
    let states = controls.iter().zip(given).map(|(control, given)| judge.state(control, given)).collect();
    judge.problems.dedup();
    Evaluation { controls: states, answers: judge.document, problems: judge.problems }
}

impl Judge<'_, '_, '_> {
    fn whole_effect(&mut self, control: &Control<'_>) -> Effect {
        let pane = self.effect(control, control.pane_metadata);
        pane.and(self.effect(control, Some(control.body)))
    }

    /// Gives up a value that is impossible.
    fn settle(&mut self, control: &Control<'_>) {
        match control.kind {
            Kind::Checkbox => {
                if self.whole_effect(control).action().is_some() {
                    self.set(control, Json::Bool(false));
                }
            }
            Kind::Choice => self.settle_choice(control),
            Kind::Text => {}
        }
    }

    fn settle_choice(&mut self, control: &Control<'_>) {
        let value = self.value(control);
        let mut possible = Vec::new();
        for option in control.options() {
            if self.effect(control, Some(option)).action().is_none() {
                possible.extend(option.get("data").cloned());
            }
        }
        if possible.contains(&value) {
            return;
        }
        let default = Some(control.default_value()).filter(|default| possible.contains(default));
        if let Some(left) = default.or_else(|| possible.into_iter().next()) {
            self.set(control, left);
        }
    }

    fn state(&mut self, control: &Control<'_>, given: Json) -> ControlState {
        let value = self.value(control);
        let option = |option: &JsonMap, judge: &mut Self| OptionState {
            data: option.get("data").cloned().unwrap_or_default(),
            effect: judge.effect(control, Some(option)),
        };
        ControlState {
            pane: control.pane.to_owned(),
            control: control.name.to_owned(),
            dropped: (given != value).then_some(given),
            value,
            effect: self.whole_effect(control),
            options: control.options().into_iter().map(|found| option(found, self)).collect(),
        }
    }
}
