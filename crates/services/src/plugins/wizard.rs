//! Wizard of a release, evaluated with answers.

use std::collections::BTreeSet;

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap};
use stoker_registry::components::{BoundModel, Registry, Selection, SelectionCheck};
use stoker_registry::wizard::{
    MergedWizard, WizardEvaluation, WizardResult, answered_components, evaluate, relabeled, validate_answers,
};

use crate::error::ServiceResult;

use super::catalog::Catalog;
use super::condition_models::ConditionModels;

pub struct Wizard<'c> {
    catalog: &'c Catalog,
    mixed: MergedWizard,
    models: ConditionModels,
}

impl<'c> Wizard<'c> {
    /// Creates the wizard for a new cluster of this mode.
    pub fn new(catalog: &'c Catalog, registry: &Registry, mode: &str) -> ServiceResult<Self> {
        let models = ConditionModels::of_new_cluster(mode, &catalog.release, catalog.settings());
        Ok(Self { mixed: catalog.wizard(registry)?, models, catalog })
    }

    /// Reports whether the wizard is generated from components.
    pub fn is_generated(&self) -> bool {
        self.mixed.is_generated
    }

    /// Returns the registry with the labels that the wizard displays.
    pub fn registry(&self, registry: &Registry) -> Registry {
        relabeled(&self.mixed.wizard, registry)
    }

    pub fn choose(&self, answers: &JsonMap) -> Result<WizardResult, Vec<Diagnostic>> {
        let plugins: BTreeSet<&str> =
            self.catalog.plugins().map(|plugin| plugin.body.name.as_str()).collect();
        validate_answers(&self.mixed, answers, &|name| self.models.get(name), &plugins)
    }

    /// Returns the components that the answers select, regardless of whether they are allowed.
    pub fn named_components(&self, answers: &JsonMap) -> Vec<String> {
        answered_components(&self.mixed, answers)
    }

    pub fn evaluate(&self, answers: &JsonMap) -> WizardEvaluation {
        evaluate(&self.mixed, answers, &|name| self.models.get(name))
    }
}

/// Returns the mode that the answers set.
pub fn bound_mode(result: &WizardResult) -> Option<&str> {
    result.final_values().get(&(BoundModel::Cluster, "mode")).and_then(|mode: &&Json| mode.as_str())
}

/// Decides whether components are compatible in clusters of the release.
pub fn decide(catalog: &Catalog, registry: &Registry, components: &[String]) -> SelectionCheck {
    let components: Vec<&str> = components.iter().map(String::as_str).collect();
    let required: Vec<&str> =
        catalog.release.body.required_component_types.iter().map(String::as_str).collect();
    registry.check_selection(Selection { components: &components, required_types: &required })
}
