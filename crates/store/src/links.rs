//! Links of clusters and of plugins.

use stoker_model::{Cluster, ClusterId, Link, LinkBody, LinkId, LinkOwner, Plugin, PluginId};

use crate::sql::{Args, Columns, Record, Table};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TAKEN: StoreError = StoreError::AlreadyExists { what: "url of a link" };

impl Record for Link {
    const TABLE: Table = Table {
        name: "links",
        noun: "link",
        columns: &["cluster_id", "plugin_id", "title", "url", "description", "hidden"],
        orders: &["id", "title", "url", "hidden"],
    };

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: LinkId(columns.int()?),
            generation: columns.int()?,
            owner: read_owner(columns)?,
            body: LinkBody {
                title: columns.text()?,
                url: columns.text()?,
                description: columns.opt_text()?,
                hidden: columns.bool()?,
            },
        })
    }
}

fn read_owner(columns: &mut Columns<'_>) -> Result<LinkOwner, StoreError> {
    match (columns.opt_int()?, columns.opt_int()?) {
        (Some(id), None) => Ok(LinkOwner::Cluster(ClusterId(id))),
        (None, Some(id)) => Ok(LinkOwner::Plugin(PluginId(id))),
        _ => {
            Err(columns
                .corrupt_last("the link must have exactly one owner: a cluster or a plugin".to_owned()))
        }
    }
}

/// The cluster id and plugin id columns of an owner; exactly one is set.
const fn columns_of(owner: LinkOwner) -> (Option<i64>, Option<i64>) {
    match owner {
        LinkOwner::Cluster(id) => (Some(id.0), None),
        LinkOwner::Plugin(id) => (None, Some(id.0)),
    }
}

fn args(owner: LinkOwner, body: &LinkBody) -> Args {
    let (cluster_id, plugin_id) = columns_of(owner);
    Args::new()
        .opt_int(cluster_id)
        .opt_int(plugin_id)
        .text(&body.title)
        .key(&body.url)
        .opt_text(body.description.as_deref())
        .bool(body.hidden)
}

impl Session {
    pub async fn link_list(&mut self, owner: LinkOwner, list: &List) -> Result<Page<Link>, StoreError> {
        let (cluster_id, plugin_id) = columns_of(owner);
        let select = self.select().and_int("cluster_id = ?", cluster_id).and_int("plugin_id = ?", plugin_id);
        self.list(select, list).await
    }

    pub async fn link_get(&mut self, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.get(id.0).await
    }
}

impl WriteTransaction {
    pub async fn link_create(&mut self, owner: LinkOwner, body: &LinkBody) -> Result<Link, StoreError> {
        let unique = match owner {
            LinkOwner::Cluster(id) => {
                self.require::<Cluster>(id.0).await?;
                "(cluster_id, url)"
            }
            LinkOwner::Plugin(id) => {
                self.require::<Plugin>(id.0).await?;
                "(plugin_id, url)"
            }
        };
        let id = self.insert::<Link>(unique, args(owner, body)).await?.ok_or(TAKEN)?;
        Ok(Link { id: LinkId(id), generation: 1, owner, body: body.clone() })
    }

    pub async fn link_update(&mut self, link: &Link) -> Result<Link, StoreError> {
        let (column, owner_id) = match link.owner {
            LinkOwner::Cluster(id) => ("cluster_id", id.0),
            LinkOwner::Plugin(id) => ("plugin_id", id.0),
        };
        let others = format!("SELECT 1 FROM links WHERE {column} = $1 AND url = $2 AND id <> $3");
        if self.exists(others, Args::new().int(owner_id).key(&link.body.url).int(link.id.0)).await? {
            return Err(TAKEN);
        }
        let args = args(link.owner, &link.body);
        let generation = self.replace::<Link>(link.id.0, link.generation, args).await?;
        Ok(Link { generation, ..link.clone() })
    }

    /// Returns whether the link existed.
    pub async fn link_delete(&mut self, id: LinkId) -> Result<bool, StoreError> {
        self.delete::<Link>(id.0).await
    }
}
