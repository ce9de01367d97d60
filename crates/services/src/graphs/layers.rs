//! Layers of a cluster's graph, built from its records.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_graph::{Layer, MergeRules, MergedTask, Source, add_folder, merge, runs_in_folder};
use stoker_model::{
    Cluster, Graph, GraphId, GraphType, Json, JsonMap, Owner, PLACEMENT_FIELDS, Plugin, PluginId, Release,
    Task,
};
use stoker_registry::scripts::{Scripts, scripts_task};
use stoker_registry::sources::{PackageSource, RemovedSource, removal_tasks, source_tasks};
use stoker_registry::stages::{PluginGraph, has_stages, stage_layers};
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};

use crate::plugins::scripts::{ScriptsHere, scripts_of};
use crate::repositories::{AppliedSources, SourceHere, sources_of};

use super::Graphs;
use super::layer_records::LayerRecords;

/// Selection of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerFilter {
    pub release: bool,
    pub cluster: bool,
    pub plugins: bool,
}

impl LayerFilter {
    pub const ALL: Self = Self { release: true, cluster: true, plugins: true };
    pub const RELEASE: Self = Self { release: true, cluster: false, plugins: false };
    pub const CLUSTER: Self = Self { release: false, cluster: true, plugins: false };
    pub const PLUGINS: Self = Self { release: false, cluster: false, plugins: true };

    /// Parses a list such as `release,cluster`.
    pub fn parse(names: &[String]) -> ServiceResult<Self> {
        let mut layer_filter = Self { release: false, cluster: false, plugins: false };
        for name in names {
            match name.as_str() {
                "release" => layer_filter.release = true,
                "cluster" | "own" => layer_filter.cluster = true,
                "plugins" | "plugin" => layer_filter.plugins = true,
                other => {
                    let name: String = other.chars().take(60).collect();
                    let message = format!(
                        "unknown layer `{name}`; `layers` is a list of `release`, `cluster`, `plugins`"
                    );
                    return Err(ServiceError::invalid(message));
                }
            }
        }
        Ok(layer_filter)
    }
}

/// Graphs of one type that are merged for a cluster.
pub struct Layers {
    release: Option<Graph>,
    cluster: Option<Graph>,
    plugins: Vec<PluginLayer>,
    rules: MergeRules,
    /// Problems of plugin stage tasks; the affected tasks are left out of the graph.
    pub findings: Vec<Diagnostic>,
    /// Names of generated tasks, which distribute the packages and scripts of plugins.
    pub helpers: Vec<String>,
    /// Generated tasks that remove package sources of plugins that are no longer enabled.
    former: Vec<(Source, Vec<Task>)>,
}

struct PluginLayer {
    plugin: Plugin,
    /// Graph of the plugin; `None` if the plugin contributes only stage tasks to graphs of this type.
    graph: Option<Graph>,
    tasks: Arc<[Task]>,
    /// Scripts of the plugin on this server.
    scripts: Option<ScriptsHere>,
    /// Directory on nodes in which the plugin's commands run, if the plugin has one.
    folder: Option<String>,
}

impl PluginLayer {
    fn new(graphs: &Graphs, plugin: Plugin, graph: Option<Graph>, scripts: Option<ScriptsHere>) -> Self {
        let folder = plugin.scripts_folder(&graphs.settings.plugin_scripts_root);
        let has_folder = scripts.is_some() || creates_folder(&plugin, graph.as_ref(), &folder);
        let folder = has_folder.then_some(folder);
        let tasks_of = |graph| graphs.plugin_tasks.get(&plugin, folder.as_deref(), graph);
        let tasks = graph.as_ref().map_or_else(|| [].into(), tasks_of);
        Self { plugin, graph, tasks, scripts, folder }
    }

    /// Adds generated tasks and returns their names.
    fn add(&mut self, tasks: Vec<Task>, used_names: &mut HashSet<String>) -> Vec<String> {
        let names: Vec<String> = tasks.iter().map(|task| task.name.clone()).collect();
        used_names.extend(names.iter().cloned());
        if !tasks.is_empty() {
            self.tasks = self.tasks.iter().cloned().chain(tasks).collect();
        }
        names
    }

    fn source(&self) -> Source {
        Source::Plugin { name: self.plugin.body.name.clone(), version: self.plugin.body.version.clone() }
    }
}

impl Layers {
    pub async fn read(
        graphs: &Graphs,
        session: &mut Session,
        cluster: &Cluster,
        graph_type: &GraphType,
        layer_filter: LayerFilter,
    ) -> ServiceResult<Self> {
        let records = LayerRecords::read(session, cluster, graph_type, layer_filter).await?;
        Self::new(graphs, records).await
    }

    pub async fn new(graphs: &Graphs, records: LayerRecords) -> ServiceResult<Self> {
        let LayerRecords { cluster, graph_type, layer_filter, plugins, folders, .. } = records;
        let mut by_owner = records.graphs;
        let (mut scripts, mut sources) = (HashMap::new(), HashMap::new());
        if let Some(release) = &records.cluster_release {
            scripts = scripts_of(&graphs.packages, &folders, &cluster, release, plugins.iter()).await?;
            if layer_filter == LayerFilter::ALL {
                sources =
                    sources_of(&graphs.repositories, &folders, &cluster, release, plugins.iter()).await?;
            }
        }
        let plugins = plugins.into_iter().map(|plugin| {
            let graph = by_owner.remove(&Owner::Plugin(plugin.id));
            let scripts = scripts.remove(&plugin.id);
            PluginLayer::new(graphs, plugin, graph, scripts)
        });
        let mut layers = Self {
            plugins: plugins.collect(),
            release: by_owner.remove(&Owner::Release(cluster.release_id)),
            cluster: by_owner.remove(&Owner::Cluster(cluster.id)),
            rules: MergeRules {
                order: cluster.merge_order.unwrap_or(graphs.settings.merge_order),
                mode: cluster.merge_mode.unwrap_or(graphs.settings.merge_mode),
            },
            findings: Vec::new(),
            helpers: Vec::new(),
            former: Vec::new(),
        };
        layers.complete_overrides();
        if has_stages(&graph_type) {
            layers.anchor_stage_tasks();
        }
        // Generated tasks belong to the merged graph. A layer alone has the tasks of its owners, to be uploaded again.
        if layer_filter == LayerFilter::ALL {
            let present = layers.add_helpers(graphs, &sources);
            layers.former = former_tasks(graphs, &records.applied_sources, &present);
        }
        layers.plugins.retain(|layer| layer.graph.is_some() || !layer.tasks.is_empty());
        layers.release = layers.release.filter(|_| layer_filter.release);
        layers.cluster = layers.cluster.filter(|_| layer_filter.cluster);
        Ok(layers)
    }

    /// Sets the working directory in overrides of plugins that replace the parameters of a task but not its type: they run
    /// in the directory of the plugin's scripts, like its own tasks.
    fn complete_overrides(&mut self) {
        let is_override = |layer: &PluginLayer, task: &Task| {
            layer.folder.is_some() && task.field("type").is_none() && task.field("parameters").is_some()
        };
        if !self.plugins.iter().any(|layer| layer.tasks.iter().any(|task| is_override(layer, task))) {
            return;
        }
        let mut in_folder: HashSet<String> = HashSet::new();
        {
            let layers = self.layers();
            let merged = merge(&layers, self.rules);
            let tasks = merged.tasks.iter().filter(|task| task.value("type").is_some_and(runs_in_folder));
            in_folder.extend(tasks.map(|task| task.name.to_owned()));
        }
        for layer in &mut self.plugins {
            let Some(folder) = &layer.folder else { continue };
            let completed = layer.tasks.iter().map(|task| {
                let mut task = task.clone();
                if task.field("type").is_none() && in_folder.contains(&task.name) {
                    add_folder(&mut task, folder);
                }
                task
            });
            layer.tasks = completed.collect();
        }
    }

    /// Replaces the stage tasks of plugins by tasks with dependencies on the stages.
    fn anchor_stage_tasks(&mut self) {
        let has_stage = |layer: &PluginLayer| {
            !layer.plugin.body.tasks.is_empty()
                || layer.tasks.iter().any(|task| task.field("stage").is_some())
        };
        if !self.plugins.iter().any(has_stage) {
            return;
        }
        let plugins: Vec<PluginGraph<'_>> = self
            .plugins
            .iter()
            .map(|layer| PluginGraph {
                plugin: &layer.plugin,
                tasks: &layer.tasks,
                scripts: layer.folder.as_deref(),
            })
            .collect();
        let staged = stage_layers(&merge(&self.layers(), self.rules), &plugins);
        for (layer, tasks) in self.plugins.iter_mut().zip(staged.tasks) {
            if let Some(tasks) = tasks {
                layer.tasks = tasks.into();
            }
        }
        self.findings = staged.findings;
    }

    /// Adds generated tasks that distribute the packages and scripts of each plugin installed on this server. Returns
    /// the names of plugins with packages.
    fn add_helpers(&mut self, graphs: &Graphs, sources: &HashMap<PluginId, SourceHere>) -> HashSet<String> {
        let mut with_packages = HashSet::new();
        if sources.is_empty() && self.plugins.iter().all(|layer| layer.scripts.is_none()) {
            return with_packages;
        }
        let merged = self.merged_tasks_of_plugins();
        let mut used_names: HashSet<String> = HashSet::new();
        for layer in self.layers() {
            used_names.extend(layer.tasks.iter().map(|task| task.name.clone()));
        }
        for (layer, merged) in self.plugins.iter_mut().zip(merged) {
            if let Some(scripts) = &layer.scripts {
                let scripts = Scripts {
                    plugin: &layer.plugin,
                    source: &scripts.folder.to_string_lossy(),
                    root: &graphs.settings.plugin_scripts_root,
                    digest: scripts.digest.as_deref(),
                };
                let tasks = scripts_task(scripts, &merged, |name| used_names.contains(name));
                self.helpers.extend(layer.add(tasks.into_iter().collect(), &mut used_names));
            }
            if let Some(source) = sources.get(&layer.plugin.id) {
                let source = PackageSource {
                    plugin: &layer.plugin,
                    kind: source.kind,
                    address: &source.address,
                    authority: graphs.repositories.authority.as_deref(),
                    root: &graphs.settings.node_root,
                    digest: &source.digest,
                };
                let tasks = source_tasks(source, &merged, |name| used_names.contains(name));
                self.helpers.extend(layer.add(tasks, &mut used_names));
                with_packages.insert(layer.plugin.body.name.clone());
            }
        }
        with_packages
    }

    /// Returns the tasks of each plugin as merged with the other layers, which may place them, and the groups that list them.
    /// An override that sets neither parameters nor placement runs nothing of the plugin.
    fn merged_tasks_of_plugins(&self) -> Vec<Vec<Task>> {
        let layers = self.layers();
        let merged = merge(&layers, self.rules);
        let is_group = |task: &&MergedTask<'_>| task.value("type").and_then(Json::as_str) == Some("group");
        let groups: Vec<&MergedTask<'_>> = merged.tasks.iter().filter(is_group).collect();
        let of_plugin = |layer: &PluginLayer| {
            let written: HashMap<&str, &Task> =
                layer.tasks.iter().map(|task| (task.name.as_str(), task)).collect();
            let is_own = |task: &&MergedTask<'_>| {
                written.get(task.name).is_some_and(|written| {
                    let mut decisive = PLACEMENT_FIELDS.iter().chain(&["parameters"]);
                    task.defined_by().count() == 1 || decisive.any(|field| written.field(field).is_some())
                })
            };
            let own: Vec<&MergedTask<'_>> = merged.tasks.iter().filter(is_own).collect();
            let names: HashSet<&str> = own.iter().map(|task| task.name).collect();
            let lists = |group: &&MergedTask<'_>| {
                let members = group.value("tasks").and_then(Json::as_array).into_iter().flatten();
                !names.contains(group.name)
                    && members.filter_map(Json::as_str).any(|member| names.contains(member))
            };
            let groups = groups.iter().copied().filter(lists);
            own.iter().copied().chain(groups).map(MergedTask::to_task).collect()
        };
        self.plugins.iter().map(of_plugin).collect()
    }

    pub fn rules(&self) -> MergeRules {
        self.rules
    }

    /// Returns the names of roles and tags that nodes of the cluster can have.
    pub async fn places(&self, session: &mut Session, cluster: &Cluster) -> ServiceResult<Vec<String>> {
        let release = session.release_get(cluster.release_id).await?;
        let of_release = release
            .iter()
            .flat_map(|release| names(&release.body.roles_metadata, &release.body.tags_metadata));
        let of_plugins = self.plugins.iter().map(|layer| &layer.plugin.body);
        let of_plugins = of_plugins.flat_map(|body| names(&body.roles_metadata, &body.tags_metadata));
        let own = names(&cluster.roles_metadata, &cluster.tags_metadata);
        Ok(of_release.chain(of_plugins).chain(own).collect())
    }

    /// Returns the stored graphs by layer.
    pub fn graph_ids(&self) -> Vec<(Source, GraphId)> {
        let release = self.release.iter().map(|graph| (Source::Release, graph.id));
        let cluster = self.cluster.iter().map(|graph| (Source::Cluster, graph.id));
        let plugins =
            self.plugins.iter().filter_map(|layer| Some((layer.source(), layer.graph.as_ref()?.id)));
        release.chain(cluster).chain(plugins).collect()
    }

    pub fn layers(&self) -> Vec<Layer<'_>> {
        let release = self.release.as_ref().map(|graph| layer(Source::Release, graph));
        let cluster = self.cluster.as_ref().map(|graph| layer(Source::Cluster, graph));
        let plugins = self.plugins.iter().map(|layer| {
            let metadata = layer.graph.as_ref().map(|graph| &graph.metadata);
            Layer { source: layer.source(), metadata, tasks: layer.tasks.iter().collect() }
        });
        let former = self.former.iter().map(|(source, tasks)| Layer {
            source: source.clone(),
            metadata: None,
            tasks: tasks.iter().collect(),
        });
        release.into_iter().chain(cluster).chain(plugins).chain(former).collect()
    }
}

/// Generates tasks that remove package sources of plugins that are no longer enabled.
fn former_tasks(
    graphs: &Graphs,
    applied_sources: &AppliedSources,
    present: &HashSet<String>,
) -> Vec<(Source, Vec<Task>)> {
    let layers = applied_sources.former(present).into_iter().map(|(plugin, folder)| {
        let root = &graphs.settings.node_root;
        let tasks = removal_tasks(RemovedSource { plugin: &plugin, folder: &folder, root });
        let version = folder.strip_prefix(&*plugin).and_then(|rest| rest.strip_prefix('-'));
        (Source::Plugin { version: version.unwrap_or_default().to_owned(), name: plugin }, tasks)
    });
    layers.collect()
}

/// Returns the tasks of one owner as a layer.
pub fn layer(source: Source, graph: &Graph) -> Layer<'_> {
    Layer {
        source,
        metadata: Some(&graph.metadata),
        tasks: graph.tasks.iter().map(|stored| &stored.task).collect(),
    }
}

/// Reports whether a plugin without scripts on this server refers to its directory on nodes itself: a plugin that was created
/// over REST copies its scripts with its own tasks.
fn creates_folder(plugin: &Plugin, graph: Option<&Graph>, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    let refers =
        |task: &Json| task.get("parameters").is_some_and(|written| written.to_string().contains(folder));
    let graph_tasks = graph.into_iter().flat_map(|graph| graph.tasks.iter());
    let mut parameters = graph_tasks.filter_map(|stored| stored.task.field("parameters"));
    plugin.body.tasks.iter().any(refers) || parameters.any(|written| written.to_string().contains(folder))
}

/// Returns the role and tag names of a release alone.
pub fn places_of_release(release: &Release) -> Vec<String> {
    names(&release.body.roles_metadata, &release.body.tags_metadata)
}

/// Returns the role names, tags of roles, and tag names.
fn names(roles: &JsonMap, tags: &JsonMap) -> Vec<String> {
    let of_roles = roles.values().filter_map(|meta| meta.get("tags")?.as_array()).flatten();
    let of_roles = of_roles.filter_map(|tag| tag.as_str().map(str::to_owned));
    roles.keys().chain(tags.keys()).cloned().chain(of_roles).collect()
}
