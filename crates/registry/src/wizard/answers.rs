//! Conversion of wizard answers to a component selection, bindings and plugins.

use std::collections::{BTreeMap, BTreeSet};

use stoker_conditions::Models;
use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap};

use super::control::{Control, ControlKind, WIZARD_MODEL, controls};
use super::mix::MergedWizard;
use crate::components::{Binding, BoundModel};
use crate::patterns::pattern_violation;
use crate::restrictions::{RestrictionAction, RestrictionEffect};

/// Result of valid answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WizardResult {
    /// Value of every control, including defaults.
    pub answers: JsonMap,
    /// Component names in wizard order, without duplicates.
    pub components: Vec<String>,
    /// Bindings in wizard order; later ones overwrite earlier ones.
    pub bindings: Vec<Binding>,
    /// Plugins to enable.
    pub plugins: BTreeSet<String>,
}

/// Kinds of diagnostics about answers.
pub mod kinds {
    /// Unknown pane or control.
    pub const UNKNOWN: &str = "unknown";
    /// Value of the wrong type, or not an option.
    pub const VALUE: &str = "value";
    /// Forbidden by a restriction.
    pub const RESTRICTED: &str = "restricted";
    /// Restriction that cannot be evaluated.
    pub const CONDITION: &str = "condition";
}

/// Validates answers `{Pane: {control: value}}` against a merged wizard. The path of a diagnostic is the pane
/// or `Pane.control`; its kind is one of [`kinds`]. `others` are the models in addition to `wizard` that
/// conditions may refer to, `plugins` the names of installed plugins.
pub fn validate_answers(
    mixed: &MergedWizard,
    answers: &JsonMap,
    others: &Models<'_, '_>,
    plugins: &BTreeSet<&str>,
) -> Result<WizardResult, Vec<Diagnostic>> {
    let controls = controls(&mixed.wizard);
    let mut validator = Validator::new(mixed, others, &controls, answers);
    let mut result = WizardResult::default();
    for control in &controls {
        validator.process(control, answers, plugins, &mut result);
    }
    result.answers = validator.document;
    if validator.problems.is_empty() { Ok(result) } else { Err(validator.problems) }
}

/// Returns the components selected by the answers, regardless of restrictions.
pub fn answered_components(mixed: &MergedWizard, answers: &JsonMap) -> Vec<String> {
    let mut result = WizardResult::default();
    for control in controls(&mixed.wizard) {
        let value = answer(answers, &control).cloned().unwrap_or_else(|| control.default_value());
        match control.kind {
            ControlKind::Checkbox if value == Json::Bool(true) => result.add_component(control.body),
            ControlKind::Choice => {
                let option = control.options().into_iter().find(|option| option.get("data") == Some(&value));
                if let Some(option) = option {
                    result.add_component(option);
                }
            }
            ControlKind::Checkbox | ControlKind::Text => {}
        }
    }
    result.components
}

fn unknown_answers(controls: &[Control<'_>], answers: &JsonMap) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (pane, values) in answers {
        let Some(values) = values.as_object() else {
            let message = "the answers of a pane must be a map";
            problems.push(Diagnostic::plain(message).path(pane).kind(kinds::VALUE));
            continue;
        };
        for name in values.keys() {
            if !controls.iter().any(|control| control.pane == pane && control.name == name) {
                let problem = Diagnostic::plain("unknown pane or control").kind(kinds::UNKNOWN);
                problems.push(problem.path(format!("{pane}.{name}")));
            }
        }
    }
    problems
}

fn answer<'a>(answers: &'a JsonMap, control: &Control<'_>) -> Option<&'a Json> {
    answers.get(control.pane)?.get(control.name)
}

pub(super) struct Validator<'a, 'f, 'm> {
    mixed: &'a MergedWizard,
    others: &'a Models<'f, 'm>,
    pub(super) problems: Vec<Diagnostic>,
    /// Current values, the model `wizard` of conditions.
    pub(super) document: JsonMap,
}

impl<'a, 'f, 'm> Validator<'a, 'f, 'm> {
    pub(super) fn new(
        mixed: &'a MergedWizard,
        others: &'a Models<'f, 'm>,
        controls: &[Control<'_>],
        answers: &JsonMap,
    ) -> Self {
        let mut validator =
            Self { mixed, others, problems: unknown_answers(controls, answers), document: JsonMap::new() };
        validator.fill(controls, answers);
        validator
    }

    /// Sets answers and defaults before validation, because conditions may refer to any control.
    fn fill(&mut self, controls: &[Control<'_>], answers: &JsonMap) {
        for pane in self.mixed.wizard.keys() {
            self.document.insert(pane.clone(), Json::Object(JsonMap::new()));
        }
        for control in controls {
            let value = answer(answers, control).cloned().unwrap_or_else(|| control.default_value());
            self.set(control, value);
        }
        self.bind_answers(controls, answers);
    }

    /// Sets controls without an answer to the values that earlier controls bind to `wizard:Pane.control`.
    fn bind_answers(&mut self, controls: &[Control<'_>], answers: &JsonMap) {
        for (idx, control) in controls.iter().enumerate() {
            for (target, value) in control.bound_values(&self.value(control)) {
                let target = target.strip_prefix(WIZARD_MODEL);
                let later = controls[idx + 1..].iter().find(|later| target == Some(&*later.path()));
                if let Some(later) =
                    later.filter(|later| answer(answers, later).is_none() && later.accepts(&value))
                {
                    self.set(later, value);
                }
            }
        }
    }

    pub(super) fn set(&mut self, control: &Control<'_>, value: Json) {
        if let Some(Json::Object(pane)) = self.document.get_mut(control.pane) {
            pane.insert(control.name.to_owned(), value);
        }
    }

    fn problem(&mut self, control: &Control<'_>, kind: &'static str, message: impl Into<String>) {
        self.problems.push(Diagnostic::plain(message).path(control.path()).kind(kind));
    }

    fn process(
        &mut self,
        control: &Control<'_>,
        answers: &JsonMap,
        plugins: &BTreeSet<&str>,
        result: &mut WizardResult,
    ) {
        let pane = self.restricted(control, control.pane_metadata);
        let own = self.restricted(control, Some(control.body));
        if [&pane, &own].iter().any(|restricted| matches!(restricted, Some((RestrictionAction::Hide, _)))) {
            return;
        }
        let own = own.or(pane);
        let is_answered = answer(answers, control).is_some();
        match control.kind {
            ControlKind::Choice => self.process_option(control, own, is_answered, plugins, result),
            ControlKind::Checkbox | ControlKind::Text => self.process_value(control, own, plugins, result),
        }
    }

    pub(super) fn value(&self, control: &Control<'_>) -> Json {
        self.document.get(control.pane).and_then(|pane| pane.get(control.name)).cloned().unwrap_or_default()
    }

    fn process_value(
        &mut self,
        control: &Control<'_>,
        restricted: Option<(RestrictionAction, String)>,
        plugins: &BTreeSet<&str>,
        result: &mut WizardResult,
    ) {
        let value = self.value(control);
        let is_valid =
            if control.kind == ControlKind::Checkbox { value.is_boolean() } else { value.is_string() };
        if !is_valid {
            let expected = if control.kind == ControlKind::Checkbox { "true or false" } else { "text" };
            return self.problem(control, kinds::VALUE, format!("must be {expected}"));
        }
        let is_on = value == Json::Bool(true);
        match restricted {
            Some((_, message)) if is_on => return self.problem(control, kinds::RESTRICTED, message),
            Some(_) => return,
            None => {}
        }
        if control.kind == ControlKind::Text
            && let Some(message) = pattern_violation(control.body, &value)
        {
            return self.problem(control, kinds::VALUE, message);
        }
        result.bind_all(control.bound_values(&value), plugins);
        if is_on {
            result.add_component(control.body);
            result.plugins.extend(self.mixed.owners.get(&control.path()).cloned());
        }
    }

    fn process_option(
        &mut self,
        control: &Control<'_>,
        restricted: Option<(RestrictionAction, String)>,
        is_answered: bool,
        plugins: &BTreeSet<&str>,
        result: &mut WizardResult,
    ) {
        if let Some((_, message)) = restricted {
            if is_answered {
                self.problem(control, kinds::RESTRICTED, message);
            }
            return;
        }
        let value = self.value(control);
        let options = control.options();
        let mut option = options.iter().find(|option| option.get("data") == Some(&value)).copied();
        let refusal = option.and_then(|option| self.restricted(control, Some(option)));
        match (option, refusal) {
            (None, _) if !is_answered && options.is_empty() => return,
            (None, _) => {
                return self.problem(control, kinds::VALUE, format!("{value} is not an option"));
            }
            (Some(_), Some((_, message))) if is_answered => {
                return self.problem(control, kinds::RESTRICTED, message);
            }
            // The user did not choose the default, so fall back to the first allowed option.
            (Some(_), Some(_)) => {
                option =
                    options.iter().find(|option| self.restricted(control, Some(option)).is_none()).copied();
            }
            (Some(_), None) => {}
        }
        let Some(option) = option else { return };
        let value = option.get("data").cloned().unwrap_or_default();
        self.set(control, value.clone());
        result.bind_all(control.bound_values(&value), plugins);
        result.add_component(option);
        let key = format!("{}.values[{value}]", control.path());
        result.plugins.extend(self.mixed.owners.get(&key).cloned());
    }

    /// Evaluates the restrictions of a control, an option or a pane and returns their action and message.
    fn restricted(
        &mut self,
        control: &Control<'_>,
        body: Option<&JsonMap>,
    ) -> Option<(RestrictionAction, String)> {
        let effect = self.effect(control, body);
        let message = || {
            let words = effect.messages.join(". ");
            if words.is_empty() { "forbidden by a restriction".to_owned() } else { words }
        };
        effect.action().map(|action| (action, message()))
    }

    /// Returns the effect of restrictions. A restriction that cannot be evaluated is reported and has no
    /// effect.
    pub(super) fn effect(&mut self, control: &Control<'_>, body: Option<&JsonMap>) -> RestrictionEffect {
        let restrictions = body.and_then(|body| body.get("restrictions"));
        let wizard = Json::Object(std::mem::take(&mut self.document));
        let lookup = |name: &str| if name == "wizard" { Some(&wizard) } else { (self.others)(name) };
        let (effect, errors) = RestrictionEffect::evaluate(restrictions, &lookup);
        if let Json::Object(document) = wizard {
            self.document = document;
        }
        for error in errors {
            self.problem(control, kinds::CONDITION, error);
        }
        effect
    }
}

impl WizardResult {
    fn bind_all(&mut self, values: Vec<(&str, Json)>, plugins: &BTreeSet<&str>) {
        for (target, value) in values {
            self.bind(target, value, plugins);
        }
    }

    /// Adds a binding. A plugin is enabled by `<plugin>.metadata.enabled`, of which `<plugin>.value` is an
    /// alias.
    fn bind(&mut self, target: &str, value: Json, plugins: &BTreeSet<&str>) {
        let Some(mut binding) = Binding::new(target, value) else { return };
        if binding.model == BoundModel::Settings
            && let Some((section, rest)) = binding.path.split_once('.')
            && plugins.contains(section)
            && matches!(rest, "value" | "metadata.enabled")
        {
            if binding.value == Json::Bool(true) {
                self.plugins.insert(section.to_owned());
            }
            binding.path = format!("{section}.metadata.enabled");
        }
        self.bindings.push(binding);
    }

    fn add_component(&mut self, body: &JsonMap) {
        let component = body.get("component").and_then(Json::as_str);
        if let Some(component) =
            component.filter(|name| !self.components.iter().any(|component| component == name))
        {
            self.components.push(component.to_owned());
        }
    }

    /// Returns the final value of each path.
    pub fn final_values(&self) -> BTreeMap<(BoundModel, &str), &Json> {
        self.bindings.iter().map(|binding| ((binding.model, &*binding.path), &binding.value)).collect()
    }
}
