//! Layers of a cluster's graph, read from one consistent snapshot.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_graph::{Layer, MergeRules, Source, merge};
use stoker_model::{Cluster, Graph, GraphId, GraphType, JsonMap, Owner, Plugin, Release, Task};
use stoker_registry::scripts::{Scripts, scripts_task};
use stoker_registry::sources::{PackageSource, RemovedSource, removal_tasks, source_tasks};
use stoker_registry::stages::{PluginGraph, has_stages, stage_layers};
use stoker_store::{GraphFilter, List, Session};

use crate::error::{ServiceError, ServiceResult};

use crate::plugins::scripts::scripts_of;
use crate::repositories::{former_sources, sources_of};

use super::Graphs;

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
        let mut filter = Self { release: false, cluster: false, plugins: false };
        for name in names {
            match name.as_str() {
                "release" => filter.release = true,
                "cluster" | "own" => filter.cluster = true,
                "plugins" | "plugin" => filter.plugins = true,
                other => {
                    let excerpt: String = other.chars().take(60).collect();
                    let message = format!(
                        "unknown layer `{excerpt}`; `layers` is a list of `release`, `cluster`, `plugins`"
                    );
                    return Err(ServiceError::invalid(message));
                }
            }
        }
        Ok(filter)
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
}

impl PluginLayer {
    /// Adds generated tasks and returns their names.
    fn add(&mut self, made: Vec<Task>, used_names: &mut HashSet<String>) -> Vec<String> {
        let names: Vec<String> = made.iter().map(|task| task.name.clone()).collect();
        used_names.extend(names.iter().cloned());
        if !made.is_empty() {
            self.tasks = self.tasks.iter().cloned().chain(made).collect();
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
        let plugins =
            if layer_filter.plugins { enabled_plugins(session, cluster).await? } else { Vec::new() };
        let (release, own) = (Owner::Release(cluster.release_id), Owner::Cluster(cluster.id));
        let mut owners: Vec<Owner> = plugins.iter().map(|plugin| Owner::Plugin(plugin.id)).collect();
        // Stage tasks of plugins are anchored to tasks of the other layers, so these are read too.
        owners.extend((layer_filter.release || layer_filter.plugins).then_some(release));
        owners.extend((layer_filter.cluster || layer_filter.plugins).then_some(own));
        let filter = GraphFilter { owners: Some(owners), types: Some(vec![graph_type.clone()]) };
        let stored = session.graph_list(&filter, &List::default()).await?.items;
        let mut by_owner: HashMap<Owner, Graph> =
            stored.into_iter().map(|graph| (graph.owner, graph)).collect();
        let plugins = plugins.into_iter().map(|plugin| {
            let graph = by_owner.remove(&Owner::Plugin(plugin.id));
            let made = |graph| graphs.plugin_tasks.get(&plugin, &graphs.settings.plugin_scripts_root, graph);
            let tasks = graph.as_ref().map_or_else(|| [].into(), made);
            PluginLayer { plugin, graph, tasks }
        });
        let mut layers = Self {
            plugins: plugins.collect(),
            release: by_owner.remove(&release),
            cluster: by_owner.remove(&own),
            rules: MergeRules {
                order: cluster.merge_order.unwrap_or(graphs.settings.merge_order),
                mode: cluster.merge_mode.unwrap_or(graphs.settings.merge_mode),
            },
            findings: Vec::new(),
            helpers: Vec::new(),
            former: Vec::new(),
        };
        if has_stages(graph_type) {
            layers.anchor_stage_tasks(&graphs.settings.plugin_scripts_root);
        }
        let present = layers.add_helpers(graphs, session, cluster).await?;
        if layer_filter.plugins && has_stages(graph_type) {
            layers.former = former_tasks(graphs, session, cluster, &present).await?;
        }
        layers.plugins.retain(|layer| layer.graph.is_some() || !layer.tasks.is_empty());
        layers.release = layers.release.filter(|_| layer_filter.release);
        layers.cluster = layers.cluster.filter(|_| layer_filter.cluster);
        Ok(layers)
    }

    /// Replaces the stage tasks of plugins by tasks with dependencies on the stages.
    fn anchor_stage_tasks(&mut self, scripts_root: &str) {
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
            .map(|layer| PluginGraph { plugin: &layer.plugin, tasks: &layer.tasks })
            .collect();
        let staged = stage_layers(&merge(&self.layers(), self.rules), &plugins, scripts_root);
        for (layer, tasks) in self.plugins.iter_mut().zip(staged.tasks) {
            if let Some(tasks) = tasks {
                layer.tasks = tasks.into();
            }
        }
        self.findings = staged.findings;
    }

    /// Adds generated tasks that distribute the packages and scripts of each plugin installed on this server. Returns
    /// the names of plugins with packages.
    async fn add_helpers(
        &mut self,
        graphs: &Graphs,
        session: &mut Session,
        cluster: &Cluster,
    ) -> ServiceResult<HashSet<String>> {
        let mut with_packages = HashSet::new();
        if self.plugins.is_empty() {
            return Ok(with_packages);
        }
        let Some(release) = session.release_get(cluster.release_id).await? else { return Ok(with_packages) };
        let plugins = self.plugins.iter().map(|layer| &layer.plugin);
        let sources = sources_of(&graphs.repositories, session, cluster, &release, plugins).await?;
        let plugins = self.plugins.iter().map(|layer| &layer.plugin);
        let here = scripts_of(&graphs.packages, session, cluster, &release, plugins).await?;
        let mut used_names: HashSet<String> = HashSet::new();
        for layer in self.layers() {
            used_names.extend(layer.tasks.iter().map(|task| task.name.clone()));
        }
        for layer in &mut self.plugins {
            if let Some(scripts) = here.get(&layer.plugin.id) {
                let scripts = Scripts {
                    plugin: &layer.plugin,
                    source: &scripts.folder.to_string_lossy(),
                    root: &graphs.settings.plugin_scripts_root,
                    digest: scripts.digest.as_deref(),
                };
                let made = scripts_task(scripts, &layer.tasks, |name| used_names.contains(name));
                self.helpers.extend(layer.add(made.into_iter().collect(), &mut used_names));
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
                let made = source_tasks(source, &layer.tasks, |name| used_names.contains(name));
                self.helpers.extend(layer.add(made, &mut used_names));
                with_packages.insert(layer.plugin.body.name.clone());
            }
        }
        Ok(with_packages)
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
async fn former_tasks(
    graphs: &Graphs,
    session: &mut Session,
    cluster: &Cluster,
    present: &HashSet<String>,
) -> ServiceResult<Vec<(Source, Vec<Task>)>> {
    let former = former_sources(session, cluster, present).await?;
    let made = former.into_iter().map(|(plugin, folder)| {
        let root = &graphs.settings.node_root;
        let tasks = removal_tasks(RemovedSource { plugin: &plugin, folder: &folder, root });
        let version = folder.strip_prefix(&*plugin).and_then(|rest| rest.strip_prefix('-'));
        (Source::Plugin { version: version.unwrap_or_default().to_owned(), name: plugin }, tasks)
    });
    Ok(made.collect())
}

/// Returns the tasks of one owner as a layer.
pub fn layer(source: Source, graph: &Graph) -> Layer<'_> {
    Layer {
        source,
        metadata: Some(&graph.metadata),
        tasks: graph.tasks.iter().map(|stored| &stored.task).collect(),
    }
}

async fn enabled_plugins(session: &mut Session, cluster: &Cluster) -> ServiceResult<Vec<Plugin>> {
    let mut plugins = Vec::new();
    for chosen in session.cluster_plugins(cluster.id).await? {
        if chosen.enabled {
            plugins.extend(session.plugin_get(chosen.plugin_id).await?);
        }
    }
    Ok(plugins)
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
