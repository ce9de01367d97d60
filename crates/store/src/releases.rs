//! Releases.

use stoker_model::{NewRelease, Owner, Release, ReleaseId, ReleaseState};

use crate::sql::{Args, Columns, Record, Table};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TAKEN: StoreError = StoreError::AlreadyExists { what: "release name and version" };

impl Record for Release {
    const TABLE: Table = Table {
        name: "releases",
        noun: "release",
        columns: &[
            "name",
            "version",
            "description",
            "operating_system",
            "state",
            "modes_metadata",
            "roles_metadata",
            "tags_metadata",
            "volumes_roles_mapping",
            "attributes_metadata",
            "networks_metadata",
            "volumes_metadata",
            "wizard_metadata",
            "components_metadata",
            "required_component_types",
            "extensions",
            "extra",
            "created_at",
        ],
        orders: &["id", "name", "version", "description", "operating_system", "state", "created_at"],
    };

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: ReleaseId(columns.int()?),
            generation: columns.int()?,
            body: NewRelease {
                name: columns.text()?,
                version: columns.text()?,
                description: columns.opt_text()?,
                operating_system: columns.text()?,
                state: columns.word(ReleaseState::parse)?,
                modes_metadata: columns.map()?,
                roles_metadata: columns.map()?,
                tags_metadata: columns.map()?,
                volumes_roles_mapping: columns.map()?,
                attributes_metadata: columns.map()?,
                networks_metadata: columns.map()?,
                volumes_metadata: columns.map()?,
                wizard_metadata: columns.map()?,
                components_metadata: columns.documents()?,
                required_component_types: columns.strings()?,
                extensions: columns.strings()?,
                extra: columns.map()?,
            },
            created_at: columns.time()?,
        })
    }
}

fn args(body: &NewRelease) -> Args {
    Args::new()
        .key(&body.name)
        .key(&body.version)
        .opt_text(body.description.as_deref())
        .text(&body.operating_system)
        .text(body.state.as_str())
        .map(&body.modes_metadata)
        .map(&body.roles_metadata)
        .map(&body.tags_metadata)
        .map(&body.volumes_roles_mapping)
        .map(&body.attributes_metadata)
        .map(&body.networks_metadata)
        .map(&body.volumes_metadata)
        .map(&body.wizard_metadata)
        .documents(&body.components_metadata)
        .strings(&body.required_component_types)
        .strings(&body.extensions)
        .map(&body.extra)
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
        let created_at = self.now();
        let id =
            self.insert::<Release>("(name, version)", args(new).int(created_at.0)).await?.ok_or(TAKEN)?;
        Ok(Release { id: ReleaseId(id), generation: 1, body: new.clone(), created_at })
    }

    pub async fn release_update(&mut self, release: &Release) -> Result<Release, StoreError> {
        let body = &release.body;
        let others = "SELECT 1 FROM releases WHERE name = $1 AND version = $2 AND id <> $3".to_owned();
        let key = Args::new().key(&body.name).key(&body.version).int(release.id.0);
        if self.exists(others, key).await? {
            return Err(TAKEN);
        }
        let args = args(body).int(release.created_at.0);
        let generation = self.replace::<Release>(release.id.0, release.generation, args).await?;
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
