//! Links of clusters and of plugins.

use stoker_model::{Cluster, Link, LinkBody, LinkId, LinkOwner, Plugin};

use crate::sql::{Args, Cells, Column, Fields, Value as _, Values, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const DUPLICATE: StoreError = StoreError::AlreadyExists { what: "url of a link" };

record! {
    LinkBody { title [sort], url [key sort], description, hidden [sort] }
}

record! {
    Link in "links", "link" { id [auto sort], generation [auto], owner: LinkOwner, body: LinkBody }
}

impl Fields for LinkOwner {
    fn add_columns(list: &mut Vec<Column>) {
        list.extend(["cluster_id", "plugin_id"].map(Column::plain));
    }

    fn read(cells: &mut Cells<'_>) -> Result<Self, StoreError> {
        let (cluster, plugin) = (cells.cell()?, cells.cell()?);
        match (Option::read(cluster)?, Option::read(plugin)?) {
            (Some(id), None) => Ok(Self::Cluster(id)),
            (None, Some(id)) => Ok(Self::Plugin(id)),
            _ => Err(plugin.corrupt("the link must have exactly one owner: a cluster or a plugin")),
        }
    }

    fn write(&self, args: Args) -> Args {
        let (cluster_id, plugin_id) = columns_of(*self);
        args.opt_int(cluster_id).opt_int(plugin_id)
    }
}

/// Returns the cluster id and plugin id columns of an owner; exactly one is set.
const fn columns_of(owner: LinkOwner) -> (Option<i64>, Option<i64>) {
    match owner {
        LinkOwner::Cluster(id) => (Some(id.0), None),
        LinkOwner::Plugin(id) => (None, Some(id.0)),
    }
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
        let mut link = Link { id: LinkId(0), generation: 1, owner, body: body.clone() };
        link.id = LinkId(self.insert::<Link>(unique, Values::of(&link)).await?.ok_or(DUPLICATE)?);
        Ok(link)
    }

    pub async fn link_update(&mut self, link: &Link) -> Result<Link, StoreError> {
        let (column, owner_id) = match link.owner {
            LinkOwner::Cluster(id) => ("cluster_id", id.0),
            LinkOwner::Plugin(id) => ("plugin_id", id.0),
        };
        let others = format!("SELECT 1 FROM links WHERE {column} = $1 AND url = $2 AND id <> $3");
        if self.exists(others, Args::new().int(owner_id).key(&link.body.url).int(link.id.0)).await? {
            return Err(DUPLICATE);
        }
        let generation = self.replace(link.id.0, link.generation, link).await?;
        Ok(Link { generation, ..link.clone() })
    }

    /// Returns whether the link existed.
    pub async fn link_delete(&mut self, id: LinkId) -> Result<bool, StoreError> {
        self.delete::<Link>(id.0).await
    }
}
