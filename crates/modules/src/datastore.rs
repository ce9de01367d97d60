//! Datastores: releases, by name and version.

use stoker_model::ModuleBody;

use crate::refusal::{Refusal, Refused, shown};

/// Name and version of every release there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Datastores(pub Vec<(String, String)>);

impl Datastores {
    /// That both exist and belong together.
    pub fn check(&self, datastore: Option<&str>, version: Option<&str>) -> Refused<()> {
        if let Some(name) = datastore
            && !self.has(name)
        {
            return Err(Self::unknown(name));
        }
        let Some(version) = version else { return Ok(()) };
        let Some(name) = datastore else {
            return Err(Refusal::bad(format!("Datastore 'None' has no version '{}'.", shown(version))));
        };
        if self.0.iter().any(|(known, its)| known == name && its == version) {
            return Ok(());
        }
        if self.0.iter().any(|(_, its)| its == version) {
            return Err(Refusal::bad(format!("Datastore '{name}' has no version '{}'.", shown(version))));
        }
        Err(Refusal::bad(format!("Datastore version '{}' cannot be found.", shown(version))))
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    pub fn unknown(name: &str) -> Refusal {
        Refusal::not_found(format!("Datastore '{}' cannot be found.", shown(name)))
    }
}

/// Whether a module may be applied to an instance of this datastore and version.
pub fn fits(module: &ModuleBody, datastore: &str, version: &str) -> bool {
    module.datastore.as_deref().is_none_or(|wanted| wanted == datastore)
        && module.datastore_version.as_deref().is_none_or(|wanted| wanted == version)
}

/// The refusal of one that does not.
pub fn unfit(module: &ModuleBody) -> Refusal {
    let all = |name: &Option<String>| name.clone().unwrap_or_else(|| "all".to_owned());
    Refusal::invalid_module(&format!(
        "Module '{}' cannot be applied: it is for datastore {}, version {}",
        module.name,
        all(&module.datastore),
        all(&module.datastore_version)
    ))
}
