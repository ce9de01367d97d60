//! Request bodies of the module API, read from JSON. Unknown keys are ignored, for compatibility.

use stoker_model::Json;

use crate::error::{RuleResult, RuleViolation};
use crate::validate::Fields;

pub const APPLY_ORDER_DEFAULT: i64 = 5;
const APPLY_ORDER_MAX: i64 = 9;
/// Maximum delay between two batches, in seconds: one day. A longer delay is probably a typing error.
const BATCH_DELAY_MAX: i64 = 86_400;
/// Maximum number of modules in one request.
const MODULES_MAX: usize = 1000;

/// Request to create a module.
#[derive(Clone, PartialEq, Eq)]
pub struct CreateRequest {
    pub name: String,
    pub module_type: String,
    pub contents: String,
    pub options: ModuleOptions,
}

/// Request to change a module; absent fields keep their values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct UpdateRequest {
    pub name: Option<String>,
    pub module_type: Option<String>,
    pub contents: Option<String>,
    pub all_datastores: bool,
    pub all_datastore_versions: bool,
    pub options: ModuleOptions,
}

/// Options common to creation and change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleOptions {
    pub description: Option<String>,
    pub datastore: Option<String>,
    pub datastore_version: Option<String>,
    pub all_tenants: Option<bool>,
    pub auto_apply: Option<bool>,
    pub visible: Option<bool>,
    pub live_update: Option<bool>,
    pub priority_apply: Option<bool>,
    pub apply_order: Option<i64>,
    pub full_access: Option<bool>,
}

/// Request to apply modules to one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyRequest {
    pub ids: Vec<String>,
}

/// Request to create an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceRequest {
    pub name: String,
    pub datastore: Option<String>,
    pub datastore_version: Option<String>,
    /// Ids of modules, without duplicates.
    pub modules: Vec<String>,
}

/// Request to apply a module again to all instances that have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReapplyRequest {
    pub md5: Option<String>,
    pub include_clustered: bool,
    pub batch_size: Option<u64>,
    pub batch_delay_s: Option<u64>,
    pub force: bool,
}

impl CreateRequest {
    pub fn read(body: &Json) -> RuleResult<Self> {
        let mut fields = Fields::of(body, "module")?;
        for key in ["name", "module_type", "contents"] {
            fields.require(key);
        }
        let name = fields.text("name");
        let module_type = fields.text("module_type").map(|text| text.to_lowercase());
        let contents = fields.contents("contents");
        let options = options(&mut fields);
        let read = || Some(Self { name: name?, module_type: module_type?, contents: contents?, options });
        let read = read();
        fields.finish(read)
    }
}

impl UpdateRequest {
    pub fn read(body: &Json) -> RuleResult<Self> {
        let mut fields = Fields::of(body, "module")?;
        let name = fields.text("name");
        // The client sends `type`, the API documents `module_type`.
        let own = fields.text("module_type");
        let module_type = own.or_else(|| fields.text("type")).map(|text| text.to_lowercase());
        let contents = fields.contents("contents");
        let (all_datastores, all_datastore_versions) =
            (fields.has("all_datastores"), fields.has("all_datastore_versions"));
        let options = options(&mut fields);
        let update = Self { name, module_type, contents, all_datastores, all_datastore_versions, options };
        let update = fields.finish(Some(update))?;
        update.conflict().map_or(Ok(update), Err)
    }

    fn conflict(&self) -> Option<RuleViolation> {
        let conflict = |field: &str, option: &str| {
            RuleViolation::invalid_module(&format!("You cannot set a {field} and specify {option}"))
        };
        if self.all_datastores && self.options.datastore.is_some() {
            return Some(conflict("datastore", "--all_datastores"));
        }
        (self.all_datastore_versions && self.options.datastore_version.is_some())
            .then(|| conflict("datastore version", "--all_datastore_versions"))
    }
}

fn options(fields: &mut Fields<'_>) -> ModuleOptions {
    let (datastore, datastore_version) = fields.datastore();
    ModuleOptions {
        description: fields.text("description"),
        datastore,
        datastore_version,
        all_tenants: fields.flag("all_tenants"),
        auto_apply: fields.flag("auto_apply"),
        visible: fields.flag("visible"),
        live_update: fields.flag("live_update"),
        priority_apply: fields.flag("priority_apply"),
        apply_order: fields.integer("apply_order", 0, APPLY_ORDER_MAX),
        full_access: fields.flag("full_access"),
    }
}

impl ApplyRequest {
    /// Reads `{"modules": [{"id"}…]}` without duplicates.
    pub fn read(body: &Json) -> RuleResult<Self> {
        let Some(modules) = body.as_object().and_then(|map| map.get("modules")) else {
            return Err(RuleViolation::bad_request("Validation error: 'modules' is a required property"));
        };
        Self::list(modules)
    }

    /// Reads the list itself, as in requests to create an instance.
    pub fn list(modules: &Json) -> RuleResult<Self> {
        let Some(items) = modules.as_array() else {
            return Err(RuleViolation::bad_request("Validation error: modules is not of type 'array'"));
        };
        if items.len() > MODULES_MAX {
            return Err(RuleViolation::bad_request(format!(
                "Validation error: modules has more than {MODULES_MAX} items"
            )));
        }
        let mut ids: Vec<String> = Vec::new();
        let mut problems = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.get("id").and_then(Json::as_str) {
                Some(id) if !ids.iter().any(|other| other == id) => ids.push(id.to_owned()),
                Some(_) => {}
                None => problems.push(format!("modules[{index}] 'id' is a required property")),
            }
        }
        if problems.is_empty() {
            return Ok(Self { ids });
        }
        Err(RuleViolation::bad_request(format!("Validation error: {}", problems.join("; "))))
    }
}

impl InstanceRequest {
    /// Reads an instance request. Size options are ignored: the size of a node is fixed.
    pub fn read(body: &Json) -> RuleResult<Self> {
        let mut fields = Fields::of(body, "instance")?;
        fields.require("name");
        let name = fields.text("name");
        let (datastore, datastore_version) = fields.datastore();
        let modules = body.get("instance").and_then(|instance| instance.get("modules"));
        let modules = modules.map(ApplyRequest::list).transpose()?.map_or_else(Vec::new, |list| list.ids);
        let read = name.map(|name| Self { name, datastore, datastore_version, modules });
        fields.finish(read)
    }
}

impl ReapplyRequest {
    pub fn read(body: &Json) -> RuleResult<Self> {
        let mut fields = Fields::of(body, "reapply")?;
        let positive = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok());
        let request = Self {
            md5: fields.text("md5"),
            include_clustered: fields.flag("include_clustered").unwrap_or(false),
            batch_size: positive(fields.integer("batch_size", 1, i64::MAX)),
            batch_delay_s: positive(fields.integer("batch_delay", 0, BATCH_DELAY_MAX)),
            force: fields.flag("force").unwrap_or(false),
        };
        fields.finish(Some(request))
    }
}
