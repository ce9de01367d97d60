//! Request bodies of the module API, read from JSON. Unknown keys are errors: a request asks for their effect.

use stoker_model::{Json, JsonMap};

use crate::error::{RuleResult, RuleViolation};
use crate::validate::{Fields, unexpected};

pub const APPLY_ORDER_DEFAULT: i64 = 5;
const APPLY_ORDER_MAX: i64 = 9;
/// Maximum delay between two batches, in seconds: one day. A longer delay is probably a typing error.
const BATCH_DELAY_MAX: i64 = 86_400;
/// Fields of responses that an update may repeat, but not change.
const READ_ONLY: &[&str] = &[
    "id",
    "tenant_id",
    "tenant",
    "datastore_id",
    "datastore_version_id",
    "datastore_version",
    "is_admin",
    "md5",
    "created",
    "updated",
];
/// Maximum length of the ID of a flavor and of the type of a volume.
const OPTION_CHARS_MAX: usize = 255;
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
    /// Read-only fields of responses, which must have the stored values.
    pub read_only: JsonMap,
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
    /// `flavorRef` and `volume` as requested; responses repeat them.
    pub options: JsonMap,
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
        let (module_type, alias) = (fields.text("module_type"), fields.text("type"));
        let (module_type, alias) =
            (module_type.map(|text| text.to_lowercase()), alias.map(|text| text.to_lowercase()));
        if module_type.is_some() && alias.is_some() && module_type != alias {
            fields.problem("type", "differs from 'module_type'; set only one of them");
        }
        let module_type = module_type.or(alias);
        let contents = fields.contents("contents");
        let (all_datastores, all_datastore_versions) =
            (fields.has("all_datastores"), fields.has("all_datastore_versions"));
        let options = options(&mut fields);
        // The number of instances changes between the request that reads a module and the one that sends it back.
        fields.take("instance_count");
        let read_only =
            READ_ONLY.iter().filter_map(|key| Some(((*key).to_owned(), fields.take(key)?.clone())));
        let read_only = read_only.collect();
        let update =
            Self { name, module_type, contents, all_datastores, all_datastore_versions, options, read_only };
        let update = fields.finish(Some(update))?;
        update.conflict().map_or(Ok(update), Err)
    }

    /// Rejects read-only fields whose values differ from the stored module, as its response shows it.
    pub fn check_read_only(&self, stored: &Json) -> RuleResult<()> {
        let changed = self.read_only.iter().filter(|(key, value)| stored.get(key) != Some(value));
        let changed: Vec<&str> = changed.map(|(key, _)| key.as_str()).collect();
        if changed.is_empty() {
            return Ok(());
        }
        Err(RuleViolation::bad_request(format!(
            "Validation error: read-only properties of module differ from the stored values: {}; omit them",
            changed.join(", ")
        )))
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
        let unknown = body.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
        let unknown: Vec<&str> = unknown.filter(|key| *key != "modules").collect();
        if let Some(problem) = unexpected(&unknown, &["modules"]) {
            return Err(RuleViolation::bad_request(format!("Validation error: {problem}")));
        }
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
            let keys = item.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
            let unknown: Vec<&str> = keys.filter(|key| *key != "id").collect();
            problems
                .extend(unexpected(&unknown, &["id"]).map(|problem| format!("modules[{index}]: {problem}")));
        }
        if problems.is_empty() {
            return Ok(Self { ids });
        }
        Err(RuleViolation::bad_request(format!("Validation error: {}", problems.join("; "))))
    }
}

impl InstanceRequest {
    /// Reads an instance request. Size options have no effect, because the size of a node is fixed; responses repeat them.
    pub fn read(body: &Json) -> RuleResult<Self> {
        let mut fields = Fields::of(body, "instance")?;
        fields.require("name");
        let name = fields.text("name");
        let (datastore, datastore_version) = fields.datastore();
        let modules = fields.take("modules").map(ApplyRequest::list).transpose()?;
        let modules = modules.map_or_else(Vec::new, |list| list.ids);
        // The client of Trove sends the default with each request.
        fields.integer("replica_count", 1, 1);
        let mut options = JsonMap::new();
        for (key, read) in
            [("flavorRef", flavor as fn(&Json) -> Result<(), &'static str>), ("volume", volume)]
        {
            let Some(value) = fields.take(key) else { continue };
            match read(value) {
                Ok(()) => _ = options.insert(key.to_owned(), value.clone()),
                Err(problem) => fields.problem(key, problem),
            }
        }
        let read = name.map(|name| Self { name, datastore, datastore_version, modules, options });
        fields.finish(read)
    }
}

/// Checks a flavor: its ID, or a URL that ends with it.
fn flavor(value: &Json) -> Result<(), &'static str> {
    let is_text = value.as_str().is_some_and(|text| (1..=OPTION_CHARS_MAX).contains(&text.chars().count()));
    if is_text || value.is_u64() { Ok(()) } else { Err("is not the ID of a flavor") }
}

/// Checks a volume: `{"size", "type"}`, of which `size` is required.
fn volume(value: &Json) -> Result<(), &'static str> {
    let Some(volume) = value.as_object() else { return Err("is not of type 'object'") };
    if volume.keys().any(|key| key != "size" && key != "type") {
        return Err("has properties other than 'size' and 'type'");
    }
    let size = volume.get("size").and_then(|size| size.as_u64().or_else(|| size.as_str()?.parse().ok()));
    if size.is_none_or(|size| size == 0) {
        return Err("needs a 'size' of at least 1, in gigabytes");
    }
    let is_type = |value: &Json| {
        value.is_null() || value.as_str().is_some_and(|text| text.chars().count() <= OPTION_CHARS_MAX)
    };
    if volume.get("type").is_none_or(is_type) {
        Ok(())
    } else {
        Err("has a 'type' that is not of type 'string'")
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
