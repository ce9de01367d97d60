//! Plugins, the clusters that use them, and the directories of their files.

use std::collections::BTreeMap;

use stoker_model::{Cluster, ClusterId, ClusterPlugin, NewPlugin, Owner, Plugin, PluginId};

use crate::sql::{Args, Record as _, Values, read_column, read_pairs, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const DUPLICATE: StoreError = StoreError::AlreadyExists { what: "plugin name and version" };

record! {
    NewPlugin {
        name [key sort],
        title [sort],
        version [key sort],
        package_version [sort],
        description,
        homepage,
        is_hotpluggable [sort],
        fuel_version,
        groups,
        authors,
        licenses,
        releases,
        attributes_metadata,
        roles_metadata,
        tags_metadata,
        volumes_metadata,
        components_metadata,
        tasks,
        extra,
    }
}

record! {
    Plugin in "plugins", "plugin" { id [auto sort], generation [auto], body: NewPlugin, created_at [sort] }
}

// Written with the id of the cluster.
record! {
    ClusterPlugin in "cluster_plugins", "plugin of the cluster" { plugin_id, enabled, attributes }
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
        read_column(&rows, "cluster_plugins", "cluster_id")
    }

    /// Returns the plugins installed from files, by directory name.
    pub async fn plugin_folders(&mut self) -> Result<BTreeMap<String, PluginId>, StoreError> {
        let sql = "SELECT folder, plugin_id FROM plugin_folders".to_owned();
        let rows = self.connection.fetch_all(sql, Args::new()).await?;
        read_pairs(&rows, "plugin_folders", ["folder", "plugin_id"])
    }

    /// Returns the plugin settings of a cluster, including disabled plugins, ordered by plugin id.
    pub async fn cluster_plugins(&mut self, id: ClusterId) -> Result<Vec<ClusterPlugin>, StoreError> {
        let sql = format!("{} WHERE cluster_id = $1 ORDER BY plugin_id", ClusterPlugin::table().select_sql());
        self.read_all(sql, Args::new().int(id.0)).await
    }
}

impl WriteTransaction {
    pub async fn plugin_create(&mut self, new: &NewPlugin) -> Result<Plugin, StoreError> {
        let mut plugin = Plugin { id: PluginId(0), generation: 1, body: new.clone(), created_at: self.now() };
        let id = self.insert::<Plugin>("(name, version)", Values::of(&plugin)).await?;
        plugin.id = PluginId(id.ok_or(DUPLICATE)?);
        Ok(plugin)
    }

    pub async fn plugin_update(&mut self, plugin: &Plugin) -> Result<Plugin, StoreError> {
        let body = &plugin.body;
        let others = "SELECT 1 FROM plugins WHERE name = $1 AND version = $2 AND id <> $3".to_owned();
        let key = Args::new().key(&body.name).key(&body.version).int(plugin.id.0);
        if self.exists(others, key).await? {
            return Err(DUPLICATE);
        }
        let generation = self.replace(plugin.id.0, plugin.generation, plugin).await?;
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

    /// Records the directory with the files of a plugin. A directory belongs to at most one plugin.
    pub async fn plugin_folder_set(&mut self, id: PluginId, folder: &str) -> Result<(), StoreError> {
        self.require::<Plugin>(id.0).await?;
        let others = "SELECT 1 FROM plugin_folders WHERE folder = $1 AND plugin_id <> $2".to_owned();
        if self.exists(others, Args::new().key(folder).int(id.0)).await? {
            return Err(StoreError::AlreadyExists { what: "directory of a plugin" });
        }
        let values = Values::new().set("plugin_id", &id).key("folder", folder);
        let replace = "ON CONFLICT (plugin_id) DO UPDATE SET folder = excluded.folder";
        self.connection.insert("plugin_folders", values, replace).await.map(drop)
    }

    pub async fn cluster_plugin_set(
        &mut self,
        cluster_id: ClusterId,
        plugin: &ClusterPlugin,
    ) -> Result<(), StoreError> {
        self.require::<Cluster>(cluster_id.0).await?;
        self.require::<Plugin>(plugin.plugin_id.0).await?;
        let values = Values::of(plugin).set("cluster_id", &cluster_id);
        let replace = "ON CONFLICT (cluster_id, plugin_id) \
                       DO UPDATE SET enabled = excluded.enabled, attributes = excluded.attributes";
        self.connection.insert("cluster_plugins", values, replace).await.map(drop)
    }
}
