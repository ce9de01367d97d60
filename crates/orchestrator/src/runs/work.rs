//! Type-specific part of a run: the instances of a plan, or modules for a node. The rest of the driver and
//! the engine are independent of it.

use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::{EngineEvent, RunEffect, RunMachine as RunState};
use stoker_engine::session::{Attempt, AttemptKey, AttemptResult, Generation};
use stoker_model::AgentUid;
use stoker_store::{StoreError, WriteTransaction};

use super::dispatch::Dispatch;
use super::module_work::{ModuleWork, Recorded};
use super::outcome::{self, Outcomes};

pub(super) enum Work {
    Graph(Box<GraphWork>),
    Modules(ModuleWork),
}

pub(super) struct GraphWork {
    pub(super) dispatch: Dispatch,
    pub(super) outcomes: Outcomes,
}

/// Changes to write in the same transaction as the events.
pub(super) enum Changes {
    Graph(Box<outcome::Changes>),
    Modules(Option<Recorded>),
}

impl Work {
    /// UIDs of the nodes whose agents execute instances of the run.
    pub(super) fn executors(&self) -> Vec<AgentUid> {
        match self {
            Self::Graph(work) => work.dispatch.executors().cloned().collect(),
            Self::Modules(work) => vec![work.uid().clone()],
        }
    }

    /// Whether the agent of a node executes instances of the run.
    pub(super) fn has_agent(&self, uid: &AgentUid) -> bool {
        match self {
            Self::Graph(work) => work.dispatch.has_agent(uid),
            Self::Modules(work) => work.uid() == uid,
        }
    }

    /// `false` for dry runs and noop runs, which change no host.
    pub(super) fn is_real(&self) -> bool {
        match self {
            Self::Graph(work) => work.outcomes.is_real,
            Self::Modules(_) => true,
        }
    }

    /// Builds the attempt to send to the agent; if that fails, the result with which the attempt ends.
    pub(super) async fn attempt(
        &mut self,
        key: AttemptKey,
        generation: Generation,
        blueprint: &Blueprint,
    ) -> Result<Attempt, AttemptResult> {
        match self {
            Self::Graph(work) => work.dispatch.attempt(key, generation, blueprint).await,
            Self::Modules(work) => work.attempt(key, generation, blueprint).map_err(|refused| *refused),
        }
    }

    pub(super) fn changes(
        &mut self,
        blueprint: &Blueprint,
        state: &RunState,
        events: &[EngineEvent],
        effects: &[RunEffect],
    ) -> Changes {
        match self {
            Self::Graph(work) => {
                let GraphWork { dispatch, outcomes } = &mut **work;
                let inputs_of = |instance, uid: &str| dispatch.inputs(instance, uid);
                Changes::Graph(Box::new(outcomes.changes(blueprint, state, events, effects, &inputs_of)))
            }
            Self::Modules(work) => Changes::Modules(work.recorded(events)),
        }
    }
}

impl Changes {
    pub(super) async fn write(&self, writing: &mut WriteTransaction) -> Result<(), StoreError> {
        match self {
            Self::Graph(changes) => changes.write(writing).await,
            Self::Modules(Some(recorded)) => recorded.write(writing).await,
            Self::Modules(None) => Ok(()),
        }
    }
}
