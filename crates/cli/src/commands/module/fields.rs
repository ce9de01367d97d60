//! What can be said of a module when it is made and when it is changed.

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use crate::exit::{Failure, Outcome};

/// More is no licence and no setting; the server takes no more either.
const CONTENTS_BYTES_MAX: u64 = 3 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Fields {
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Release it is for, by name; all if not given
    #[arg(long, value_name = "RELEASE")]
    datastore: Option<String>,

    /// Version of that release; all if not given
    #[arg(long, value_name = "VERSION")]
    datastore_version: Option<String>,

    /// Whether it is for every tenant; for admins
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    all_tenants: Option<bool>,

    /// Whether nodes get it by themselves; for admins
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    auto_apply: Option<bool>,

    /// Whether only admins see it; for admins
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    hidden: Option<bool>,

    /// Whether it may be changed while nodes carry it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    live_update: Option<bool>,

    /// Whether it goes before all that have it not; for admins
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    priority_apply: Option<bool>,

    /// Its place among the others, lower ones first; 5 if nothing is said
    #[arg(long, value_name = "0..9", value_parser = clap::value_parser!(u8).range(0..=9))]
    apply_order: Option<u8>,

    /// Whether its tenant may change a module that an admin made; for admins
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    full_access: Option<bool>,
}

impl Fields {
    /// Those that were given.
    pub(super) fn lay(&self, module: &mut Map<String, Json>) {
        let mut set = |key: &str, value: Option<Json>| {
            if let Some(value) = value {
                module.insert(key.to_owned(), value);
            }
        };
        set("description", self.description.clone().map(Json::from));
        set("all_tenants", self.all_tenants.map(Json::from));
        set("auto_apply", self.auto_apply.map(Json::from));
        set("visible", self.hidden.map(|hidden| Json::from(!hidden)));
        set("live_update", self.live_update.map(Json::from));
        set("priority_apply", self.priority_apply.map(Json::from));
        set("apply_order", self.apply_order.map(Json::from));
        set("full_access", self.full_access.map(Json::from));
        let mut datastore = Map::new();
        datastore.extend(self.datastore.clone().map(|name| ("type".to_owned(), Json::from(name))));
        datastore.extend(self.datastore_version.clone().map(|name| ("version".to_owned(), Json::from(name))));
        set("datastore", (!datastore.is_empty()).then(|| json!(datastore)));
    }
}

/// The contents of a file, as they are sent.
pub(super) fn contents(path: &Path) -> Outcome<String> {
    let cannot = |error: std::io::Error| Failure::input(format!("cannot read `{}`: {error}", path.display()));
    let mut bytes = Vec::new();
    let limit = CONTENTS_BYTES_MAX + 1;
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).map_err(cannot)?.take(limit).read_to_end(&mut bytes)
    };
    read.map_err(cannot)?;
    if bytes.is_empty() {
        return Err(Failure::input(format!("`{}` is empty; a module has contents", path.display())));
    }
    if bytes.len() as u64 > CONTENTS_BYTES_MAX {
        return Err(Failure::input(format!(
            "`{}` is larger than {CONTENTS_BYTES_MAX} bytes",
            path.display()
        )));
    }
    Ok(STANDARD.encode(bytes))
}
