//! Fields shared by `module create` and `module update`.

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use crate::exit::{Failure, Outcome};

/// Size limit of the server, checked before the upload.
const PAYLOAD_BYTES_MAX: u64 = 3 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Fields {
    /// Description of the module
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Name of the release that the module is for [default for new modules: all releases]
    #[arg(long, value_name = "RELEASE")]
    datastore: Option<String>,

    /// Version of the release that the module is for [default for new modules: all versions]
    #[arg(long, value_name = "VERSION")]
    datastore_version: Option<String>,

    /// Share the module with all tenants (administrators only) [default for new modules: false]
    #[arg(long, value_name = "true|false", hide_possible_values = true, num_args = 0..=1, default_missing_value = "true")]
    all_tenants: Option<bool>,

    /// Apply the module automatically to new nodes (administrators only) [default for new modules: false]
    #[arg(long, value_name = "true|false", hide_possible_values = true, num_args = 0..=1, default_missing_value = "true")]
    auto_apply: Option<bool>,

    /// Hide the module from other users (administrators only) [default for new modules: false]
    #[arg(long, value_name = "true|false", hide_possible_values = true, num_args = 0..=1, default_missing_value = "true")]
    hidden: Option<bool>,

    /// Allow updates while the module is applied to nodes [default for new modules: false]
    #[arg(long, value_name = "true|false", hide_possible_values = true, num_args = 0..=1, default_missing_value = "true")]
    live_update: Option<bool>,

    /// Apply the module before modules without priority (administrators only) [default for new modules: false]
    #[arg(long, value_name = "true|false", hide_possible_values = true, num_args = 0..=1, default_missing_value = "true")]
    priority_apply: Option<bool>,

    /// Position in the apply order, from 0 (first) to 9 [default for new modules: 5]
    #[arg(long, value_name = "0..9", value_parser = clap::value_parser!(u8).range(0..=9))]
    apply_order: Option<u8>,

    /// Allow the tenant to change a module created by an administrator (administrators only) [default for new modules: false]
    #[arg(long, value_name = "true|false", hide_possible_values = true, num_args = 0..=1, default_missing_value = "true")]
    full_access: Option<bool>,
}

impl Fields {
    /// Inserts the fields that were passed.
    pub(super) fn apply_to(&self, module: &mut Map<String, Json>) {
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

/// Reads a payload file and encodes it as Base64.
pub(super) fn read_payload(path: &Path) -> Outcome<String> {
    let read_error =
        |error: std::io::Error| Failure::input(format!("cannot read `{}`: {error}", path.display()));
    let mut bytes = Vec::new();
    let limit = PAYLOAD_BYTES_MAX + 1;
    let result = if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).map_err(read_error)?.take(limit).read_to_end(&mut bytes)
    };
    result.map_err(read_error)?;
    if bytes.is_empty() {
        return Err(Failure::input(format!("`{}` is empty; a module needs a payload", path.display())));
    }
    if bytes.len() as u64 > PAYLOAD_BYTES_MAX {
        return Err(Failure::input(format!("`{}` is larger than {PAYLOAD_BYTES_MAX} bytes", path.display())));
    }
    Ok(STANDARD.encode(bytes))
}
