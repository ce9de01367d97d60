//! Plugins, the clusters that use them, and the folders of their files.

use std::collections::BTreeMap;

use stoker_model::{Cluster, ClusterId, ClusterPlugin, NewPlugin, Owner, Plugin, PluginId};

use crate::sql::{Args, Columns, Record, Table};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TAKEN: StoreError = StoreError::AlreadyExists { what: "plugin name and version" };

impl Record for Plugin {
    const TABLE: Table = Table {
        name: "plugins",
        noun: "plugin",
        columns: &[
            "name",
            "title",
            "version",
            "package_version",
            "description",
            "homepage",
            "is_hotpluggable",
            "fuel_version",
            "groups",
            "authors",
            "licenses",
            "releases",
            "attributes_metadata",
            "roles_metadata",
            "tags_metadata",
            "volumes_metadata",
            "components_metadata",
            "tasks",
            "extra",
            "created_at",
        ],
        orders: &["id", "name", "title", "version", "package_version", "is_hotpluggable", "created_at"],
    };

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: PluginId(columns.int()?),
            generation: columns.int()?,
            body: NewPlugin {
                name: columns.text()?,
                title: columns.text()?,
                version: columns.text()?,
                package_version: columns.text()?,
                description: columns.opt_text()?,
                homepage: columns.opt_text()?,
                is_hotpluggable: columns.bool()?,
                fuel_version: columns.strings()?,
                groups: columns.strings()?,
                authors: columns.strings()?,
                licenses: columns.strings()?,
                releases: columns.documents()?,
                attributes_metadata: columns.map()?,
                roles_metadata: columns.map()?,
                tags_metadata: columns.map()?,
                volumes_metadata: columns.map()?,
                components_metadata: columns.documents()?,
                tasks: columns.documents()?,
                extra: columns.map()?,
            },
            created_at: columns.time()?,
        })
    }
}

fn args(body: &NewPlugin) -> Args {
    Args::new()
        .key(&body.name)
        .text(&body.title)
        .key(&body.version)
        .text(&body.package_version)
        .opt_text(body.description.as_deref())
        .opt_text(body.homepage.as_deref())
        .bool(body.is_hotpluggable)
        .strings(&body.fuel_version)
        .strings(&body.groups)
        .strings(&body.authors)
        .strings(&body.licenses)
        .documents(&body.releases)
        .map(&body.attributes_metadata)
        .map(&body.roles_metadata)
        .map(&body.tags_metadata)
        .map(&body.volumes_metadata)
        .documents(&body.components_metadata)
        .documents(&body.tasks)
        .map(&body.extra)
}

impl Session {
    pub async fn plugin_list(&mut self, list: &List) -> Result<Page<Plugin>, StoreError> {
        self.list(self.select(), list).await
    }

    pub async fn plugin_get(&mut self, id: PluginId) -> Result<Option<Plugin>, StoreError> {
        self.get(id.0).await
    }

    /// Ids of the clusters in which the plugin is enabled, in ascending order.
    pub async fn plugin_clusters(&mut self, id: PluginId) -> Result<Vec<ClusterId>, StoreError> {
        let sql = "SELECT cluster_id FROM cluster_plugins WHERE plugin_id = $1 AND enabled = $2 \
                   ORDER BY cluster_id";
        let rows = self.connection.fetch_all(sql.to_owned(), Args::new().int(id.0).bool(true)).await?;
        rows.iter().map(|row| row.columns("cluster_plugins").int().map(ClusterId)).collect()
    }

    /// Plugins installed from files, by folder name.
    pub async fn plugin_folders(&mut self) -> Result<BTreeMap<String, PluginId>, StoreError> {
        let sql = "SELECT folder, plugin_id FROM plugin_folders".to_owned();
        let rows = self.connection.fetch_all(sql, Args::new()).await?;
        let read = |columns: &mut Columns<'_>| Ok((columns.text()?, PluginId(columns.int()?)));
        rows.iter().map(|row| read(&mut row.columns("plugin_folders"))).collect()
    }

    /// Plugin settings of a cluster, including disabled plugins, ordered by plugin id.
    pub async fn cluster_plugins(&mut self, id: ClusterId) -> Result<Vec<ClusterPlugin>, StoreError> {
        let sql = "SELECT plugin_id, enabled, attributes FROM cluster_plugins WHERE cluster_id = $1 \
                   ORDER BY plugin_id";
        let rows = self.connection.fetch_all(sql.to_owned(), Args::new().int(id.0)).await?;
        let read = |columns: &mut Columns<'_>| {
            Ok(ClusterPlugin {
                plugin_id: PluginId(columns.int()?),
                enabled: columns.bool()?,
                attributes: columns.map()?,
            })
        };
        rows.iter().map(|row| read(&mut row.columns("cluster_plugins"))).collect()
    }
}

impl WriteTransaction {
    pub async fn plugin_create(&mut self, new: &NewPlugin) -> Result<Plugin, StoreError> {
        let created_at = self.now();
        let id = self.insert::<Plugin>("(name, version)", args(new).int(created_at.0)).await?.ok_or(TAKEN)?;
        Ok(Plugin { id: PluginId(id), generation: 1, body: new.clone(), created_at })
    }

    pub async fn plugin_update(&mut self, plugin: &Plugin) -> Result<Plugin, StoreError> {
        let body = &plugin.body;
        let others = "SELECT 1 FROM plugins WHERE name = $1 AND version = $2 AND id <> $3".to_owned();
        let key = Args::new().key(&body.name).key(&body.version).int(plugin.id.0);
        if self.exists(others, key).await? {
            return Err(TAKEN);
        }
        let args = args(body).int(plugin.created_at.0);
        let generation = self.replace::<Plugin>(plugin.id.0, plugin.generation, args).await?;
        Ok(Plugin { generation, ..plugin.clone() })
    }

    /// Deletes a plugin with its graphs and with the settings that clusters have for it. Fails with
    /// [`StoreError::Referenced`] if it is enabled in a cluster. Returns whether the plugin existed.
    pub async fn plugin_delete(&mut self, id: PluginId) -> Result<bool, StoreError> {
        if !self.hold::<Plugin>(id.0).await? {
            return Ok(false);
        }
        if !self.plugin_clusters(id).await?.is_empty() {
            return Err(StoreError::Referenced { what: "cluster" });
        }
        for table in ["cluster_plugins", "plugin_folders"] {
            let unused = format!("DELETE FROM {table} WHERE plugin_id = $1");
            self.connection.execute(unused, Args::new().int(id.0)).await?;
        }
        self.graphs_delete_of_owner(Owner::Plugin(id)).await?;
        self.delete::<Plugin>(id.0).await
    }

    /// Records the folder with the files of a plugin. A folder belongs to at most one plugin.
    pub async fn plugin_folder_set(&mut self, id: PluginId, folder: &str) -> Result<(), StoreError> {
        self.require::<Plugin>(id.0).await?;
        let others = "SELECT 1 FROM plugin_folders WHERE folder = $1 AND plugin_id <> $2".to_owned();
        if self.exists(others, Args::new().key(folder).int(id.0)).await? {
            return Err(StoreError::AlreadyExists { what: "folder of a plugin" });
        }
        let sql = "INSERT INTO plugin_folders (plugin_id, folder) VALUES ($1, $2) \
                   ON CONFLICT (plugin_id) DO UPDATE SET folder = excluded.folder";
        let args = Args::new().int(id.0).key(folder);
        self.connection.execute(sql.to_owned(), args).await.map(drop)
    }

    pub async fn cluster_plugin_set(
        &mut self,
        cluster_id: ClusterId,
        plugin: &ClusterPlugin,
    ) -> Result<(), StoreError> {
        self.require::<Cluster>(cluster_id.0).await?;
        self.require::<Plugin>(plugin.plugin_id.0).await?;
        let sql = "INSERT INTO cluster_plugins (cluster_id, plugin_id, enabled, attributes) \
                   VALUES ($1, $2, $3, $4) ON CONFLICT (cluster_id, plugin_id) \
                   DO UPDATE SET enabled = excluded.enabled, attributes = excluded.attributes";
        let args = Args::new()
            .int(cluster_id.0)
            .int(plugin.plugin_id.0)
            .bool(plugin.enabled)
            .map(&plugin.attributes);
        self.connection.execute(sql.to_owned(), args).await.map(drop)
    }
}
