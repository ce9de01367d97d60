//! Queries on releases.

use stoker_model::{NewRelease, Owner, Release, ReleaseId};

use crate::sql::{Args, Values, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const DUPLICATE: StoreError = StoreError::AlreadyExists { what: "release name and version" };

record! {
    NewRelease {
        name [key sort],
        version [key sort],
        description [sort],
        operating_system [sort],
        state [sort],
        modes_metadata,
        roles_metadata,
        tags_metadata,
        volumes_roles_mapping,
        attributes_metadata,
        networks_metadata,
        volumes_metadata,
        wizard_metadata,
        components_metadata,
        required_component_types,
        extensions,
        extra,
    }
}

record! {
    Release in "releases", "release" { id [auto sort], generation [auto], body: NewRelease, created_at [sort] }
}

impl Session {
    pub async fn release_list(&mut self, list: &List) -> Result<Page<Release>, StoreError> {
        self.list(self.select(), list).await
    }

    pub async fn release_get(&mut self, id: ReleaseId) -> Result<Option<Release>, StoreError> {
        self.get(id.0).await
    }
}

impl WriteTransaction {
    pub async fn release_create(&mut self, new: &NewRelease) -> Result<Release, StoreError> {
        let mut release =
            Release { id: ReleaseId(0), generation: 1, body: new.clone(), created_at: self.now() };
        let id = self.insert::<Release>("(name, version)", Values::of(&release)).await?;
        release.id = ReleaseId(id.ok_or(DUPLICATE)?);
        Ok(release)
    }

    pub async fn release_update(&mut self, release: &Release) -> Result<Release, StoreError> {
        let body = &release.body;
        let others = "SELECT 1 FROM releases WHERE name = $1 AND version = $2 AND id <> $3".to_owned();
        let key = Args::new().key(&body.name).key(&body.version).int(release.id.0);
        if self.exists(others, key).await? {
            return Err(DUPLICATE);
        }
        let generation = self.replace(release.id.0, release.generation, release).await?;
        Ok(Release { generation, ..release.clone() })
    }

    /// Deletes a release with its graphs and sequences. Fails with [`StoreError::Referenced`] if clusters use
    /// it. Returns whether the release existed.
    pub async fn release_delete(&mut self, id: ReleaseId) -> Result<bool, StoreError> {
        if !self.hold::<Release>(id.0).await? {
            return Ok(false);
        }
        let clusters = "SELECT 1 FROM clusters WHERE release_id = $1 LIMIT 1".to_owned();
        if self.exists(clusters, Args::new().int(id.0)).await? {
            return Err(StoreError::Referenced { what: "cluster" });
        }
        self.graphs_delete_of_owner(Owner::Release(id)).await?;
        self.delete::<Release>(id.0).await
    }
}
