//! Parameters of `modules`.

use stoker_model::ModuleAction;
use stoker_modules::{ApplyKey, sort_for_apply};

use super::drivers::{Driver, find};
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::values::Values;

const MODULE: &[Parameter] = &[
    Parameter::required("id", ParameterType::Text, "Module ID."),
    Parameter::required("name", ParameterType::Text, "Module name."),
    Parameter::required("type", ParameterType::Text, "Module type, which selects the driver."),
    Parameter::required("contents", ParameterType::Data, "Contents in Base64."),
    Parameter::default(
        "priority_apply",
        ParameterType::Boolean,
        "false",
        "Apply before modules without priority.",
    ),
    Parameter::default("apply_order", ParameterType::Count, "5", "Position in the order, 0 to 9."),
    Parameter::default("is_admin", ParameterType::Boolean, "false", "Whether an admin approved the module."),
];

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("action", ParameterType::Text, "`apply` or `remove`."),
    Parameter::required("modules", ParameterType::MapList(MODULE), "Modules to process."),
    Parameter::timeout("180"),
    Parameter::retries("0"),
    Parameter::interval(),
];

pub(super) struct Spec {
    pub(super) action: ModuleAction,
    /// Sorted by order of application.
    pub(super) modules: Vec<Module>,
}

pub(super) struct Module {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) driver: &'static Driver,
    pub(super) contents: String,
    pub(super) is_admin: bool,
    priority_apply: bool,
    apply_order: i64,
}

impl Spec {
    /// Parses and validates all modules before any is processed.
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let action = ModuleAction::parse(&values.text("action"))
            .ok_or_else(|| Failure::refused("`action` must be `apply` or `remove`"))?;
        let modules: Result<Vec<Module>, Failure> = values.maps("modules").iter().map(module).collect();
        let mut modules = modules?;
        sort_for_apply(&mut modules, |module| ApplyKey {
            priority_apply: module.priority_apply,
            apply_order: module.apply_order,
            name: &module.name,
            id: &module.id,
        });
        Ok(Self { action, modules })
    }
}

fn module(values: &Values) -> Result<Module, Failure> {
    let module_type = values.text("type");
    let driver = find(&module_type).ok_or_else(|| {
        Failure::refused(format!("this agent has no driver for modules of type `{module_type}`"))
    })?;
    let number = values.json("apply_order").and_then(stoker_model::Json::as_i64);
    Ok(Module {
        id: values.text("id"),
        name: values.text("name"),
        driver,
        contents: values.text("contents"),
        is_admin: values.flag("is_admin"),
        priority_apply: values.flag("priority_apply"),
        apply_order: number.unwrap_or(stoker_modules::input::APPLY_ORDER_DEFAULT),
    })
}
