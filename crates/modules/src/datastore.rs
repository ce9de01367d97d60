//! Datastores of the module API: releases, identified by name and version.

use stoker_model::ModuleBody;

use crate::error::{RuleResult, RuleViolation, truncated};

/// Name and version of every release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Datastores(pub Vec<(String, String)>);

impl Datastores {
    /// Checks that the datastore and the version exist and that the version belongs to the datastore.
    pub fn check(&self, datastore: Option<&str>, version: Option<&str>) -> RuleResult<()> {
        if let Some(name) = datastore
            && !self.has(name)
        {
            return Err(Self::unknown(name));
        }
        let Some(version) = version else { return Ok(()) };
        let Some(name) = datastore else {
            return Err(RuleViolation::bad_request(format!(
                "Datastore 'None' has no version '{}'.",
                truncated(version)
            )));
        };
        if self.0.iter().any(|(other, other_version)| other == name && other_version == version) {
            return Ok(());
        }
        if self.0.iter().any(|(_, other_version)| other_version == version) {
            return Err(RuleViolation::bad_request(format!(
                "Datastore '{name}' has no version '{}'.",
                truncated(version)
            )));
        }
        Err(RuleViolation::bad_request(format!(
            "Datastore version '{}' cannot be found.",
            truncated(version)
        )))
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }

    pub fn unknown(name: &str) -> RuleViolation {
        RuleViolation::not_found(format!("Datastore '{}' cannot be found.", truncated(name)))
    }
}

/// Reports whether a module may be applied to an instance of this datastore and version.
pub fn is_compatible(module: &ModuleBody, datastore: &str, version: &str) -> bool {
    module.datastore.as_deref().is_none_or(|name| name == datastore)
        && module.datastore_version.as_deref().is_none_or(|required| required == version)
}

/// Returns the error for a module that does not fit.
pub fn incompatible_error(module: &ModuleBody) -> RuleViolation {
    let all = |name: &Option<String>| name.clone().unwrap_or_else(|| "all".to_owned());
    RuleViolation::invalid_module(&format!(
        "Module '{}' cannot be applied: it is for datastore {}, version {}",
        module.name,
        all(&module.datastore),
        all(&module.datastore_version)
    ))
}
