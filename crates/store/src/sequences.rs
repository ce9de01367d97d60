//! Sequences of graph types.

use serde_json::json;
use stoker_model::{GraphType, Json, NewSequence, Release, ReleaseId, Sequence, SequenceGraph, SequenceId};

use crate::sql::{Args, Cell, Scalar, Values, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const DUPLICATE: StoreError = StoreError::AlreadyExists { what: "sequence name" };

/// Filter for sequences; a field that is `None` matches all sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequenceFilter {
    pub release_id: Option<ReleaseId>,
}

record! {
    Sequence in "sequences", "sequence" {
        id [auto sort], generation [auto], release_id [sort], name [key sort], graphs,
    }
}

impl Scalar for Vec<SequenceGraph> {
    fn read_nullable(cell: Cell<'_>) -> Result<Option<Self>, StoreError> {
        let Some(documents) = Vec::<Json>::read_nullable(cell)? else { return Ok(None) };
        let graphs = documents.iter().map(read_graph).collect::<Option<_>>();
        graphs.map(Some).ok_or_else(|| cell.corrupt("not a list of graphs"))
    }

    fn write_nullable(value: Option<&Self>, args: Args) -> Args {
        let documents: Option<Vec<Json>> = value.map(|graphs| graphs.iter().map(write_graph).collect());
        args.opt_documents(documents.as_deref())
    }
}

/// Reads `{"type": …, "nodes"?: […], "tasks"?: […]}`.
fn read_graph(document: &Json) -> Option<SequenceGraph> {
    let list = |name: &str| document.get(name).map(Json::as_array);
    let nodes = list("nodes").map(|items| items?.iter().map(Json::as_i64).collect::<Option<_>>());
    let text = |item: &Json| item.as_str().map(str::to_owned);
    let tasks = list("tasks").map(|items| items?.iter().map(text).collect::<Option<_>>());
    Some(SequenceGraph {
        graph_type: GraphType::new(document.get("type")?.as_str()?).ok()?,
        nodes: nodes.map_or(Some(None), |nodes| nodes.map(Some))?,
        tasks: tasks.map_or(Some(None), |tasks| tasks.map(Some))?,
    })
}

fn write_graph(graph: &SequenceGraph) -> Json {
    let mut document = json!({"type": graph.graph_type.as_str()});
    if let Some(nodes) = &graph.nodes {
        document["nodes"] = json!(nodes);
    }
    if let Some(tasks) = &graph.tasks {
        document["tasks"] = json!(tasks);
    }
    document
}

impl Session {
    pub async fn sequence_list(
        &mut self,
        filter: &SequenceFilter,
        list: &List,
    ) -> Result<Page<Sequence>, StoreError> {
        let select = self.select().and_int("release_id = ?", filter.release_id.map(|id| id.0));
        self.list(select, list).await
    }

    pub async fn sequence_get(&mut self, id: SequenceId) -> Result<Option<Sequence>, StoreError> {
        self.get(id.0).await
    }
}

impl WriteTransaction {
    pub async fn sequence_create(&mut self, new: &NewSequence) -> Result<Sequence, StoreError> {
        self.require::<Release>(new.release_id.0).await?;
        let mut sequence = Sequence {
            id: SequenceId(0),
            generation: 1,
            release_id: new.release_id,
            name: new.name.clone(),
            graphs: new.graphs.clone(),
        };
        let id = self.insert::<Sequence>("(release_id, name)", Values::of(&sequence)).await?;
        sequence.id = SequenceId(id.ok_or(DUPLICATE)?);
        Ok(sequence)
    }

    pub async fn sequence_update(&mut self, sequence: &Sequence) -> Result<Sequence, StoreError> {
        let others = "SELECT 1 FROM sequences WHERE release_id = $1 AND name = $2 AND id <> $3".to_owned();
        let key = Args::new().int(sequence.release_id.0).key(&sequence.name).int(sequence.id.0);
        if self.exists(others, key).await? {
            return Err(DUPLICATE);
        }
        self.require::<Release>(sequence.release_id.0).await?;
        let generation = self.replace(sequence.id.0, sequence.generation, sequence).await?;
        Ok(Sequence { generation, ..sequence.clone() })
    }

    /// Returns whether the sequence existed.
    pub async fn sequence_delete(&mut self, id: SequenceId) -> Result<bool, StoreError> {
        self.delete::<Sequence>(id.0).await
    }
}
