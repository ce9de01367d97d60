//! Serialization of merged tasks. Serializes directly from the layers, so that large graphs are not copied.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use stoker_graph::{MergedField, MergedGraph, MergedTask, Source};
use stoker_manifest::task::alias_of;

/// All merged tasks, optionally with the provenance of each attribute.
pub(super) struct MergedTasks<'m, 'a> {
    pub(super) merged: &'m MergedGraph<'a>,
    pub(super) with_provenance: bool,
}

impl Serialize for MergedTasks<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.merged.tasks.len()))?;
        for task in &self.merged.tasks {
            let sources = self.with_provenance.then_some(self.merged.sources.as_slice());
            list.serialize_element(&TaskView { task, sources })?;
        }
        list.end()
    }
}

struct TaskView<'m, 'a> {
    task: &'m MergedTask<'a>,
    sources: Option<&'m [Source]>,
}

/// Serializes the same fields as an unmerged task.
impl Serialize for TaskView<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", self.task.name)?;
        map.serialize_entry("task_name", self.task.name)?;
        for field in self.task.fields() {
            map.serialize_entry(field.name, field.value)?;
            if let Some(alias) = alias_of(field.name) {
                map.serialize_entry(alias, field.value)?;
            }
        }
        if let Some(sources) = self.sources {
            map.serialize_entry("provenance", &Provenance { task: self.task, sources })?;
        }
        map.end()
    }
}

/// For each attribute, the layer that set it and the layers it overrides.
struct Provenance<'m, 'a> {
    task: &'m MergedTask<'a>,
    sources: &'m [Source],
}

impl Serialize for Provenance<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for field in self.task.fields() {
            map.serialize_entry(field.name, &FieldProvenance { field: &field, sources: self.sources })?;
        }
        map.end()
    }
}

struct FieldProvenance<'m, 'a> {
    field: &'m MergedField<'a>,
    sources: &'m [Source],
}

impl Serialize for FieldProvenance<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let setter = &self.sources[self.field.set_by as usize];
        map.serialize_entry("layer", layer_name(setter))?;
        if let Source::Plugin { name, version } = setter {
            map.serialize_entry("plugin", name)?;
            map.serialize_entry("version", version)?;
        }
        if !self.field.overridden_layers.is_empty() {
            let overrode =
                self.field.overridden_layers.iter().map(|layer| self.sources[*layer as usize].to_string());
            map.serialize_entry("overrides", &overrode.collect::<Vec<_>>())?;
        }
        map.end()
    }
}

/// Returns the name of the layer in the API, as in the parameter `layers`.
pub(super) const fn layer_name(source: &Source) -> &'static str {
    match source {
        Source::Release => "release",
        Source::Cluster => "cluster",
        Source::Plugin { .. } => "plugins",
    }
}
