//! State of the wizard after some answers: possible choices and effective values.

use stoker_conditions::Models;
use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap};

use super::answers::Validator;
use super::control::{Control, ControlKind, controls};
use super::mix::MergedWizard;
use crate::restrictions::RestrictionEffect;

/// State of the wizard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WizardEvaluation {
    /// Controls in display order.
    pub controls: Vec<ControlState>,
    /// Effective value of every control.
    pub answers: JsonMap,
    /// Unknown answers, and restrictions that cannot be evaluated.
    pub problems: Vec<Diagnostic>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ControlState {
    pub pane: String,
    pub control: String,
    /// Effective value: the answer, the default, or the first possible option if both are forbidden.
    pub value: Json,
    /// Answer that was discarded because a restriction forbids it.
    pub dropped: Option<Json>,
    pub effect: RestrictionEffect,
    /// Options of a choice, in order.
    pub options: Vec<OptionState>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OptionState {
    pub data: Json,
    pub effect: RestrictionEffect,
}

/// Evaluates all restrictions over answers `{Pane: {control: value}}`. Forbidden values are replaced: a
/// checkbox is unchecked, a choice falls back to the first possible option. Controls are processed in wizard
/// order, so that later panes see effective values.
pub fn evaluate(mixed: &MergedWizard, answers: &JsonMap, others: &Models<'_, '_>) -> WizardEvaluation {
    let controls = controls(&mixed.wizard);
    let mut validator = Validator::new(mixed, others, &controls, answers);
    let answer: Vec<Json> = controls.iter().map(|control| validator.value(control)).collect();
    for control in &controls {
        validator.replace_forbidden(control);
    }
    // Report evaluation errors once, for the effective values.
    validator.problems.retain(|problem| problem.kind != Some(super::answer_kinds::CONDITION));
    let states =
        controls.iter().zip(answer).map(|(control, answer)| validator.state(control, answer)).collect();
    validator.problems.dedup();
    WizardEvaluation { controls: states, answers: validator.document, problems: validator.problems }
}

impl Validator<'_, '_, '_> {
    fn combined_effect(&mut self, control: &Control<'_>) -> RestrictionEffect {
        let pane = self.effect(control, control.pane_metadata);
        pane.merge(self.effect(control, Some(control.body)))
    }

    /// Replaces a forbidden value.
    fn replace_forbidden(&mut self, control: &Control<'_>) {
        match control.kind {
            ControlKind::Checkbox => {
                if self.combined_effect(control).action().is_some() {
                    self.set(control, Json::Bool(false));
                }
            }
            ControlKind::Choice => self.replace_forbidden_choice(control),
            ControlKind::Text => {}
        }
    }

    fn replace_forbidden_choice(&mut self, control: &Control<'_>) {
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
        if let Some(fallback) = default.or_else(|| possible.into_iter().next()) {
            self.set(control, fallback);
        }
    }

    fn state(&mut self, control: &Control<'_>, answer: Json) -> ControlState {
        let value = self.value(control);
        let option = |option: &JsonMap, validator: &mut Self| OptionState {
            data: option.get("data").cloned().unwrap_or_default(),
            effect: validator.effect(control, Some(option)),
        };
        ControlState {
            pane: control.pane.to_owned(),
            control: control.name.to_owned(),
            dropped: (answer != value).then_some(answer),
            value,
            effect: self.combined_effect(control),
            options: control.options().into_iter().map(|body| option(body, self)).collect(),
        }
    }
}
