//! A task as planning reads it: which of its fields say what.

use stoker_model::{Json, Task};

use crate::template::{Template, Templates};

/// What a task is, as far as its place is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Runs on nodes.
    Ordinary,
    /// Is a point in time that everyone shares.
    Stage,
    /// Places other tasks.
    Group,
}

#[derive(Debug)]
pub(crate) struct Definition<'a> {
    pub(crate) name: &'a str,
    pub(crate) task_type: Template,
    /// The field that says where it runs.
    pub(crate) place: Option<(&'static str, Template)>,
    /// Tasks of a group.
    pub(crate) members: Option<Template>,
    pub(crate) fault_tolerance: Option<Template>,
    pub(crate) condition: Option<Template>,
    pub(crate) relations: Vec<(&'static str, Template)>,
    /// What an executor gets, beside the type.
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

/// The first of these that a task has decides where it runs.
const PLACES: &[&str] = &["tags", "roles", "groups"];
const RELATIONS: &[&str] = &[REQUIRES, REQUIRED_FOR, CROSS_DEPENDS, CROSS_DEPENDED_BY];

impl<'a> Definition<'a> {
    pub(crate) fn new(task: &'a Task, templates: &mut Templates<'_>) -> Self {
        let mut field = |name: &str| task.field(name).map(|value| templates.template(value));
        let place = PLACES.iter().find(|name| task.field(name).is_some());
        Self {
            name: &task.name,
            task_type: field(TYPE).unwrap_or(Template::Fixed(Json::Null)),
            place: place.and_then(|name| Some((*name, field(name)?))),
            members: field(MEMBERS),
            fault_tolerance: field(FAULT_TOLERANCE),
            // Nothing and empty text are no condition; `false` is one.
            condition: field(CONDITION).filter(|template| {
                !template.fixed().is_some_and(|value| value.is_null() || value.as_str() == Some(""))
            }),
            relations: RELATIONS.iter().filter_map(|name| Some((*name, field(name)?))).collect(),
            parameters: field(PARAMETERS),
            fail_on_error: field(FAIL_ON_ERROR),
        }
    }
}
