//! Clusters.

use stoker_model::{
    Cluster, ClusterId, ClusterStatus, JsonMap, MergeMode, MergeOrder, NewCluster, Owner, Release, ReleaseId,
    Tenant, TenantId,
};

use crate::sql::{Args, Columns, Record, Table};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TAKEN: StoreError = StoreError::AlreadyExists { what: "cluster name" };

/// Filter for clusters; a field that is `None` matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterFilter {
    pub tenant_id: Option<TenantId>,
    pub release_id: Option<ReleaseId>,
}

impl Record for Cluster {
    const TABLE: Table = Table {
        name: "clusters",
        noun: "cluster",
        columns: &[
            "tenant_id",
            "release_id",
            "name",
            "status",
            "mode",
            "net_provider",
            "components",
            "ui_settings",
            "roles_metadata",
            "tags_metadata",
            "volumes_roles_mapping",
            "editable",
            "generated",
            "extensions",
            "is_customized",
            "is_locked",
            "merge_order",
            "merge_mode",
            "created_at",
        ],
        orders: &[
            "id",
            "tenant_id",
            "release_id",
            "name",
            "status",
            "mode",
            "net_provider",
            "is_customized",
            "is_locked",
            "created_at",
        ],
    };

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: ClusterId(columns.int()?),
            generation: columns.int()?,
            tenant_id: TenantId(columns.int()?),
            release_id: ReleaseId(columns.int()?),
            name: columns.text()?,
            status: columns.word(ClusterStatus::parse)?,
            mode: columns.text()?,
            net_provider: columns.text()?,
            components: columns.strings()?,
            ui_settings: columns.map()?,
            roles_metadata: columns.map()?,
            tags_metadata: columns.map()?,
            volumes_roles_mapping: columns.map()?,
            editable: columns.map()?,
            generated: columns.map()?,
            extensions: columns.strings()?,
            is_customized: columns.bool()?,
            is_locked: columns.bool()?,
            merge_order: columns.opt_word(MergeOrder::parse)?,
            merge_mode: columns.opt_word(MergeMode::parse)?,
            created_at: columns.time()?,
        })
    }
}

fn args(cluster: &Cluster) -> Args {
    Args::new()
        .int(cluster.tenant_id.0)
        .int(cluster.release_id.0)
        .key(&cluster.name)
        .text(cluster.status.as_str())
        .text(&cluster.mode)
        .text(&cluster.net_provider)
        .strings(&cluster.components)
        .map(&cluster.ui_settings)
        .map(&cluster.roles_metadata)
        .map(&cluster.tags_metadata)
        .map(&cluster.volumes_roles_mapping)
        .map(&cluster.editable)
        .map(&cluster.generated)
        .strings(&cluster.extensions)
        .bool(cluster.is_customized)
        .bool(cluster.is_locked)
        .opt_text(cluster.merge_order.map(MergeOrder::as_str))
        .opt_text(cluster.merge_mode.map(MergeMode::as_str))
        .int(cluster.created_at.0)
}

impl Session {
    pub async fn cluster_list(
        &mut self,
        filter: &ClusterFilter,
        list: &List,
    ) -> Result<Page<Cluster>, StoreError> {
        let select = self
            .select()
            .and_int("tenant_id = ?", filter.tenant_id.map(|id| id.0))
            .and_int("release_id = ?", filter.release_id.map(|id| id.0));
        self.list(select, list).await
    }

    pub async fn cluster_get(&mut self, id: ClusterId) -> Result<Option<Cluster>, StoreError> {
        self.get(id.0).await
    }
}

impl WriteTransaction {
    pub async fn cluster_create(&mut self, new: &NewCluster) -> Result<Cluster, StoreError> {
        self.cluster_require_parents(new.tenant_id, new.release_id).await?;
        let mut cluster = Cluster {
            id: ClusterId(0),
            generation: 1,
            tenant_id: new.tenant_id,
            release_id: new.release_id,
            name: new.name.clone(),
            status: ClusterStatus::New,
            mode: new.mode.clone(),
            net_provider: new.net_provider.clone(),
            components: new.components.clone(),
            ui_settings: JsonMap::new(),
            roles_metadata: JsonMap::new(),
            tags_metadata: JsonMap::new(),
            volumes_roles_mapping: JsonMap::new(),
            editable: new.editable.clone(),
            generated: new.generated.clone(),
            extensions: Vec::new(),
            is_customized: false,
            is_locked: false,
            merge_order: new.merge_order,
            merge_mode: new.merge_mode,
            created_at: self.now(),
        };
        let id = self.insert::<Cluster>("(name)", args(&cluster)).await?.ok_or(TAKEN)?;
        cluster.id = ClusterId(id);
        Ok(cluster)
    }

    pub async fn cluster_update(&mut self, cluster: &Cluster) -> Result<Cluster, StoreError> {
        let others = "SELECT 1 FROM clusters WHERE name = $1 AND id <> $2".to_owned();
        if self.exists(others, Args::new().key(&cluster.name).int(cluster.id.0)).await? {
            return Err(TAKEN);
        }
        self.cluster_require_parents(cluster.tenant_id, cluster.release_id).await?;
        let generation = self.replace::<Cluster>(cluster.id.0, cluster.generation, args(cluster)).await?;
        Ok(Cluster { generation, ..cluster.clone() })
    }

    /// Deletes a cluster with its graphs, facts and plugin settings. Its nodes become unassigned and lose
    /// their roles; its runs are kept without a cluster. Returns whether the cluster existed.
    pub async fn cluster_delete(&mut self, id: ClusterId) -> Result<bool, StoreError> {
        if !self.hold::<Cluster>(id.0).await? {
            return Ok(false);
        }
        let free = "UPDATE nodes SET generation = generation + 1, cluster_id = NULL, roles = '[]', \
                    pending_roles = '[]', pending_addition = $2, pending_deletion = $2 WHERE cluster_id = $1";
        self.connection.execute(free.to_owned(), Args::new().int(id.0).bool(false)).await?;
        self.graphs_delete_of_owner(Owner::Cluster(id)).await?;
        self.delete::<Cluster>(id.0).await
    }

    async fn cluster_require_parents(
        &mut self,
        tenant_id: TenantId,
        release_id: ReleaseId,
    ) -> Result<(), StoreError> {
        self.require::<Tenant>(tenant_id.0).await?;
        self.require::<Release>(release_id.0).await
    }
}
