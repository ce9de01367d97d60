//! Diagram of the task definitions of a graph, without placement and evaluation.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use stoker_graph::NamePattern;
use stoker_model::{Json, Task, TaskType};

use crate::appearance::Appearance;
use crate::drawing::{Diagram, Vertex};

/// Selects the part of a graph to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinitionFilter {
    /// Draws all other ordinary tasks as skipped.
    pub tasks: Option<Vec<String>>,
    /// Restricts the drawing to this task and its direct predecessors.
    pub parents_for: Option<String>,
    /// Task types to hide: `group`, `stage`, `skipped`.
    pub remove: Vec<String>,
}

/// The filter contains an unknown name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    #[error("Tasks {} are not present in deployment graph", .0.join(", "))]
    Tasks(Vec<String>),
    #[error("Task {0} is not present in graph")]
    Task(String),
    #[error("Task types {} do not exist", .0.join(", "))]
    Types(Vec<String>),
}

/// Draws the tasks of a graph. Relations across nodes and computed relations are not drawn.
///
/// Fails if the filter contains an unknown name.
pub fn draw_definitions(tasks: &[Task], filter: &DefinitionFilter) -> Result<Diagram, FilterError> {
    let names: HashSet<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
    check(filter, &names)?;
    let is_selected =
        |name: &str| filter.tasks.as_ref().is_none_or(|selected| selected.iter().any(|task| task == name));
    let mut looks: BTreeMap<String, Appearance> = BTreeMap::new();
    for task in tasks {
        looks.insert(task.name.clone(), looks_of(task, is_selected(&task.name)));
    }
    let groups: Vec<&str> = tasks
        .iter()
        .filter(|task| type_of(task) == Some(TaskType::Group))
        .map(|task| task.name.as_str())
        .collect();
    let mut edges: BTreeSet<(String, String)> = BTreeSet::new();
    for task in tasks {
        edges.extend(edges_of(task, &groups));
    }
    for (from, to) in &edges {
        for name in [from, to] {
            if !looks.contains_key(name) {
                looks.insert(name.clone(), Appearance::Unknown);
            }
        }
    }
    let numbers: BTreeMap<&String, u32> = looks.keys().zip(0..).collect();
    let drawing = Diagram {
        title: "Tasks of a graph".to_owned(),
        edges: edges.iter().map(|(from, to)| (numbers[from], numbers[to])).collect(),
        vertices: looks
            .iter()
            .map(|(name, looks)| Vertex {
                id: name.clone(),
                label: name.clone(),
                appearance: *looks,
                cluster: None,
            })
            .collect(),
        n_omitted: 0,
    };
    let is_removed =
        |looks: Appearance| filter.remove.iter().any(|type_name| looks_of_type(type_name) == Some(looks));
    let mut drawing = drawing.filter_vertices(|_, vertex| !is_removed(vertex.appearance));
    if let Some(name) = &filter.parents_for {
        drawing = drawing.with_predecessors(|vertex| vertex.id == *name);
    }
    Ok(drawing)
}

fn check(filter: &DefinitionFilter, names: &HashSet<&str>) -> Result<(), FilterError> {
    let unknown = |requested: &[String]| -> Vec<String> {
        requested.iter().filter(|name| !names.contains(name.as_str())).cloned().collect()
    };
    let missing = filter.tasks.as_deref().map(unknown).unwrap_or_default();
    if !missing.is_empty() {
        return Err(FilterError::Tasks(missing));
    }
    if let Some(name) = filter.parents_for.as_ref().filter(|name| !names.contains(name.as_str())) {
        return Err(FilterError::Task(name.clone()));
    }
    let types: Vec<String> =
        filter.remove.iter().filter(|type_name| looks_of_type(type_name).is_none()).cloned().collect();
    if types.is_empty() { Ok(()) } else { Err(FilterError::Types(types)) }
}

fn looks_of_type(type_name: &str) -> Option<Appearance> {
    match TaskType::parse(type_name)? {
        TaskType::Group => Some(Appearance::Group),
        TaskType::Stage => Some(Appearance::Stage),
        TaskType::Skipped => Some(Appearance::SkippedTask),
        _ => None,
    }
}

fn type_of(task: &Task) -> Option<TaskType> {
    task.field("type").and_then(Json::as_str).and_then(TaskType::parse)
}

fn looks_of(task: &Task, is_selected: bool) -> Appearance {
    match type_of(task) {
        Some(TaskType::Group) => Appearance::Group,
        Some(TaskType::Stage) => Appearance::Stage,
        Some(TaskType::Skipped) => Appearance::SkippedTask,
        _ if is_selected => Appearance::Task,
        _ => Appearance::SkippedTask,
    }
}

fn edges_of(task: &Task, groups: &[&str]) -> Vec<(String, String)> {
    let own = || task.name.clone();
    let mut edges: Vec<(String, String)> = Vec::new();
    edges.extend(texts(task, "required_for").map(|other| (own(), other.to_owned())));
    edges.extend(texts(task, "requires").map(|other| (other.to_owned(), own())));
    edges.extend(texts(task, "stage").map(|stage| (own(), stage.to_owned())));
    if type_of(task) == Some(TaskType::Group) {
        edges.extend(texts(task, "tasks").map(|member| (member.to_owned(), own())));
    }
    for name in texts(task, "groups") {
        let matching: Vec<&str> = match NamePattern::new(name) {
            Ok(pattern) => groups.iter().copied().filter(|group| pattern.matches(group)).collect(),
            Err(_) => Vec::new(),
        };
        if matching.is_empty() {
            edges.push((own(), name.to_owned()));
        }
        edges.extend(matching.into_iter().map(|group| (own(), group.to_owned())));
    }
    edges
}

/// Returns the strings of a field that is a string or a list of strings.
fn texts<'t>(task: &'t Task, field: &str) -> impl Iterator<Item = &'t str> {
    let (one, list) = match task.field(field) {
        Some(Json::String(text)) => (Some(text.as_str()), None),
        Some(Json::Array(items)) => (None, Some(items)),
        _ => (None, None),
    };
    one.into_iter().chain(list.into_iter().flatten().filter_map(Json::as_str))
}
