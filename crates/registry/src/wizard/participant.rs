//! Wizard choices that represent components, in wizard order.

use stoker_model::{Json, JsonMap};

use crate::components::{Component, ComponentName, Registry};

/// Option or checkbox that represents a component.
#[derive(Clone, Debug)]
pub(super) struct Participant<'a> {
    pub(super) pane: &'a str,
    pub(super) control: &'a str,
    /// Value of the option; `None` for a checkbox.
    pub(super) data: Option<&'a Json>,
    /// The option or checkbox.
    pub(super) body: &'a JsonMap,
    pub(super) component: &'a Component,
    /// Index of the pane.
    pub(super) pane_idx: usize,
}

const PANES: &[&str] =
    &["Mode", "Compute", "Network", "Storage", "Monitoring", "AdditionalServices", "Ready"];

const WEIGHT_DEFAULT: f64 = 100.0;

impl Participant<'_> {
    /// Returns the condition that is true if this choice is selected.
    pub(super) fn reference(&self) -> String {
        let path = format!("wizard:{}.{}", self.pane, self.control);
        match self.data {
            None => format!("{path} == true"),
            Some(Json::String(text)) if text.contains('\'') => format!("{path} == \"{text}\""),
            Some(Json::String(text)) => format!("{path} == '{text}'"),
            Some(other) => format!("{path} == {other}"),
        }
    }

    /// Returns `Pane.control` or `Pane.control[data]`.
    pub(super) fn target(&self) -> String {
        let path = format!("{}.{}", self.pane, self.control);
        match self.data {
            None => path,
            Some(Json::String(text)) => format!("{path}[{text}]"),
            Some(other) => format!("{path}[{other}]"),
        }
    }

    pub(super) fn is_in_control_of(&self, other: &Self) -> bool {
        self.pane == other.pane && self.control == other.control
    }
}

/// Returns all choices with a known component, in wizard order.
pub(super) fn participants<'a>(wizard: &'a JsonMap, registry: &'a Registry) -> Vec<Participant<'a>> {
    let mut participants = Vec::new();
    for (pane_idx, (pane, controls)) in sorted_panes(wizard).into_iter().enumerate() {
        for (control, body) in sorted_controls(controls) {
            for (data, body) in choices(body) {
                if let Some(component) = component_of(body, registry) {
                    participants.push(Participant { pane, control, data, body, component, pane_idx });
                }
            }
        }
    }
    participants
}

/// Panes in display order; unknown panes last, sorted by name.
pub(super) fn sorted_panes(wizard: &JsonMap) -> Vec<(&str, &JsonMap)> {
    let mut panes: Vec<(&str, &JsonMap)> =
        wizard.iter().filter_map(|(name, pane)| Some((&**name, pane.as_object()?))).collect();
    let rank = |name: &str| PANES.iter().position(|pane| *pane == name).unwrap_or(PANES.len());
    panes.sort_by(|(a, _), (b, _)| (rank(a), *a).cmp(&(rank(b), *b)));
    panes
}

/// Controls of a pane, sorted by weight and name.
pub(super) fn sorted_controls(pane: &JsonMap) -> Vec<(&str, &JsonMap)> {
    let mut controls: Vec<(&str, &JsonMap)> = pane
        .iter()
        .filter(|(name, _)| *name != "metadata")
        .filter_map(|(name, control)| Some((&**name, control.as_object()?)))
        .collect();
    let weight = |control: &JsonMap| control.get("weight").and_then(Json::as_f64).unwrap_or(WEIGHT_DEFAULT);
    controls.sort_by(|(a, x), (b, y)| weight(x).total_cmp(&weight(y)).then_with(|| a.cmp(b)));
    controls
}

/// Returns the options of a control, or the control itself if it is a checkbox.
fn choices(control: &JsonMap) -> Vec<(Option<&Json>, &JsonMap)> {
    if control.get("type").and_then(Json::as_str) == Some("checkbox") {
        return vec![(None, control)];
    }
    let options = control.get("values").and_then(Json::as_array).into_iter().flatten();
    options.filter_map(|option| Some((Some(option.get("data")?), option.as_object()?))).collect()
}

fn component_of<'a>(choice: &JsonMap, registry: &'a Registry) -> Option<&'a Component> {
    registry.get(&ComponentName::parse(choice.get("component")?.as_str()?)?)
}
