//! A task definition as planning reads it, with its fields parsed into templates.

use stoker_model::{Json, Task, TaskType, placement_field};

use crate::template::{Template, Templates};

/// Placement of a task on nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskKind {
    /// Runs on nodes.
    Ordinary,
    /// A synchronization point on the virtual node `sync`.
    Stage,
    /// A group: assigns its nodes to its member tasks.
    Group,
}

#[derive(Debug)]
pub(crate) struct Definition<'a> {
    pub(crate) name: &'a str,
    pub(crate) task_type: Template,
    /// The field that decides where the task runs, with its name.
    pub(crate) placement: Option<(&'static str, Template)>,
    /// Member tasks of a group.
    pub(crate) members: Option<Template>,
    pub(crate) fault_tolerance: Option<Template>,
    pub(crate) condition: Option<Template>,
    /// Whether the task sets its condition itself; otherwise it is the default of its version.
    pub(crate) has_own_condition: bool,
    pub(crate) relations: Vec<(&'static str, Template)>,
    /// Executor parameters of the task.
    pub(crate) parameters: Option<Template>,
    pub(crate) fail_on_error: Option<Template>,
}

pub(crate) const TYPE: &str = "type";
pub(crate) const CONDITION: &str = "condition";
pub(crate) const PARAMETERS: &str = "parameters";
pub(crate) const FAIL_ON_ERROR: &str = "fail_on_error";
pub(crate) const FAULT_TOLERANCE: &str = "fault_tolerance";
pub(crate) const MEMBERS: &str = "tasks";
pub(crate) const REQUIRES: &str = "requires";
pub(crate) const REQUIRED_FOR: &str = "required_for";
pub(crate) const CROSS_DEPENDS: &str = "cross_depends";
pub(crate) const CROSS_DEPENDED_BY: &str = "cross_depended_by";

pub(crate) const REFRESH_ON: &str = "refresh_on";

const RELATIONS: &[&str] = &[REQUIRES, REQUIRED_FOR, CROSS_DEPENDS, CROSS_DEPENDED_BY, REFRESH_ON];

/// The condition of a task without one.
pub fn default_condition(task: &Task) -> Option<&'static str> {
    match task.field(CONDITION) {
        None | Some(Json::Null) => type_default(task),
        Some(Json::String(text)) if text.is_empty() => type_default(task),
        Some(_) => None,
    }
}

/// The default condition by type and version.
fn type_default(task: &Task) -> Option<&'static str> {
    let task_type = task.field(TYPE).and_then(Json::as_str).and_then(TaskType::parse);
    if task_type.is_some_and(TaskType::has_desired_state) {
        return Some("inputsChanged()");
    }
    let version = task.field("version")?;
    let major = match version {
        Json::String(text) => text.trim().split('.').next()?.parse::<u64>().ok()?,
        number => number.as_f64()? as u64,
    };
    (major >= INPUTS_VERSION).then_some("inputsChanged()")
}

/// The text of the computed condition of a task, the default included.
pub(crate) fn condition_text(task: &Task) -> Option<&str> {
    default_condition(task).or_else(|| task.field(CONDITION)?.get("yaql_exp")?.as_str())
}

/// Whether the condition of a task may call `inputsChanged()` itself. A call inside of a helper is not found.
pub fn compares_inputs(task: &Task) -> bool {
    condition_text(task).is_some_and(|text| text.contains("inputsChanged"))
}

/// First major version of tasks that run only if their inputs changed; earlier ones always run.
const INPUTS_VERSION: u64 = 3;

impl<'a> Definition<'a> {
    pub(crate) fn new(task: &'a Task, templates: &mut Templates<'_>) -> Self {
        let mut field = |name: &str| task.field(name).map(|value| templates.template(value));
        // Null and the empty string mean "no condition"; `false` is a condition.
        let is_absent = |template: &Template| {
            template.fixed().is_some_and(|value| value.is_null() || value.as_str() == Some(""))
        };
        let condition = field(CONDITION).filter(|template| !is_absent(template));
        let has_own_condition = condition.is_some();
        let condition = condition.or_else(|| default_condition(task).map(|text| templates.computed(text)));
        let mut field = |name: &str| task.field(name).map(|value| templates.template(value));
        let placement = placement_field(|name| task.field(name));
        Self {
            name: &task.name,
            task_type: field(TYPE).unwrap_or(Template::Fixed(Json::Null)),
            placement: placement.and_then(|name| Some((name, field(name)?))),
            members: field(MEMBERS),
            fault_tolerance: field(FAULT_TOLERANCE),
            condition,
            has_own_condition,
            relations: RELATIONS.iter().filter_map(|name| Some((*name, field(name)?))).collect(),
            parameters: field(PARAMETERS),
            fail_on_error: field(FAIL_ON_ERROR),
        }
    }
}
