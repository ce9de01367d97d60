//! Queries on clusters.

use stoker_model::{
    Cluster, ClusterId, ClusterStatus, JsonMap, NewCluster, Owner, Release, ReleaseId, Tenant, TenantId,
};

use crate::sql::{Args, Values, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const DUPLICATE: StoreError = StoreError::AlreadyExists { what: "cluster name" };

/// Filter for clusters; a field that is `None` matches all clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterFilter {
    pub tenant_id: Option<TenantId>,
    pub release_id: Option<ReleaseId>,
}

record! {
    Cluster in "clusters", "cluster" {
        id [auto sort],
        generation [auto],
        tenant_id [sort],
        release_id [sort],
        name [key sort],
        status [sort],
        mode [sort],
        net_provider [sort],
        net_segment_type,
        components,
        ui_settings,
        roles_metadata,
        tags_metadata,
        volumes_roles_mapping,
        editable,
        generated,
        extensions,
        is_customized [sort],
        is_locked [sort],
        merge_order,
        merge_mode,
        created_at [sort],
    }
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
            net_segment_type: new.net_segment_type.clone(),
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
        let id = self.insert::<Cluster>("(name)", Values::of(&cluster)).await?.ok_or(DUPLICATE)?;
        cluster.id = ClusterId(id);
        Ok(cluster)
    }

    pub async fn cluster_update(&mut self, cluster: &Cluster) -> Result<Cluster, StoreError> {
        let others = "SELECT 1 FROM clusters WHERE name = $1 AND id <> $2".to_owned();
        if self.exists(others, Args::new().key(&cluster.name).int(cluster.id.0)).await? {
            return Err(DUPLICATE);
        }
        self.cluster_require_parents(cluster.tenant_id, cluster.release_id).await?;
        let generation = self.replace(cluster.id.0, cluster.generation, cluster).await?;
        Ok(Cluster { generation, ..cluster.clone() })
    }

    /// Deletes a cluster with its graphs, facts and plugin settings. Its nodes become unassigned and lose
    /// their roles; its runs are retained without a cluster. Returns whether the cluster existed.
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
