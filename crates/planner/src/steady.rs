//! Inputs of instances, rendered in the steady state and compared with those of the last success.
//!
//! In the steady state the old state equals the new one, and statuses are those after the run. A parameter such as
//! `added($.users)` would otherwise differ between the run that applies a change and the plan after it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use stoker_model::{Json, JsonMap, NodeIdx, Task, TaskIdx};
use stoker_state::{AppliedStates, Document, EffectiveState, InputsDigest};
use stoker_yaql::Error;
use stoker_yaql::value::ExactDigest;

use crate::compute::evaluator::Evaluator;
use crate::compute::expressions::Expressions;
use crate::compute::subjects::{Applied, SubjectIdx, Subjects};
use crate::definition::{PARAMETERS, TYPE};
use crate::fields::{FieldWork, compute};
use crate::fingerprint::{inputs_digest, inputs_of};
use crate::input::{PlanningInput, SettledDocuments};
use crate::report::PlanningReport;
use crate::settings::{eval_settings, options_of};
use crate::template::{Template, Templates};
use crate::yaql_ext::inputs_changed::InputsState;

/// Instances of one task whose inputs are to be compared.
pub(crate) struct TaskInstances<'a> {
    pub(crate) task: &'a Task,
    pub(crate) nodes: Vec<InstanceNode<'a>>,
}

pub(crate) struct InstanceNode<'a> {
    pub(crate) uid: &'a str,
    /// The applied state, if it counts as the old state, with the number of its common document.
    pub(crate) applied: Option<(EffectiveState, u32)>,
}

/// The compared inputs of the instances of one task.
pub(crate) struct ComparedInputs {
    /// For each instance, an index into `states`.
    pub(crate) state_of: Arc<[u32]>,
    pub(crate) states: Arc<[InputsState]>,
    /// For each instance, an index into `inputs`.
    pub(crate) inputs_of: Arc<[u32]>,
    /// Rendered inputs; null where rendering failed.
    pub(crate) inputs: Vec<Json>,
}

const UNCHANGED: u32 = 0;
const CHANGED: u32 = 1;

/// Renders and compares the inputs of instances, in the order of `requested`. `settled` is the state after the run, if the
/// run changes it.
pub(crate) fn compare_inputs(
    input: &PlanningInput<'_>,
    requested: &[TaskInstances<'_>],
    settled: Option<&SettledDocuments>,
) -> Vec<ComparedInputs> {
    if requested.is_empty() {
        return Vec::new();
    }
    let documents = input.documents_by_uid();
    let (common, own) = match settled {
        Some(settled) => (&settled.common, &settled.own),
        None => (&input.common, &BTreeMap::new()),
    };
    let own_of =
        |uid: &str| own.get(uid).or_else(|| documents.get(uid).copied()).cloned().unwrap_or_default();
    let tasks: Vec<(&Task, Vec<Document>)> = requested
        .iter()
        .map(|requested| (requested.task, requested.nodes.iter().map(|node| own_of(node.uid)).collect()))
        .collect();
    let rendered = render(input, common, &tasks);
    let earlier = EarlierInputs::new(input, requested);
    let compared = requested.iter().zip(rendered).enumerate().map(|(at, (requested, rendered))| {
        let mut states = vec![InputsState::Unchanged, InputsState::Changed];
        // For each value its digest, or the index of the state with its error.
        let digests: Vec<_> = rendered
            .values
            .iter()
            .map(|value| match value {
                Ok((task_type, inputs)) => Ok(inputs_digest(task_type, inputs, &input.inputs_key)),
                Err(error) => {
                    states.push(InputsState::Failed(error.clone()));
                    Err(states.len() as u32 - 1)
                }
            })
            .collect();
        let state_of = requested.nodes.iter().enumerate().map(|(position, node)| {
            match &digests[rendered.of[position] as usize] {
                Err(failed) => *failed,
                Ok(_) if node.applied.is_none() => CHANGED,
                Ok(digest) => {
                    let stored = input.old.and_then(|old| old.inputs(&requested.task.name, node.uid));
                    let before = stored.or_else(|| earlier.digest(at, position));
                    if before == Some(*digest) { UNCHANGED } else { CHANGED }
                }
            }
        });
        ComparedInputs {
            state_of: state_of.collect(),
            states: states.into(),
            inputs_of: rendered.of.into(),
            inputs: rendered
                .values
                .into_iter()
                .map(|value| value.map_or(Json::Null, |(_, inputs)| inputs))
                .collect(),
        }
    });
    compared.collect()
}

/// By index of a task, the positions of its instances with the applied own documents.
type Positions = BTreeMap<usize, Vec<(usize, Document)>>;

/// Inputs rendered over applied states, for successes whose fingerprint was not recorded: offline plans, and databases
/// of earlier versions.
struct EarlierInputs(HashMap<(usize, usize), InputsDigest>);

impl EarlierInputs {
    fn new(input: &PlanningInput<'_>, requested: &[TaskInstances<'_>]) -> Self {
        // By number of the old common document: it is the same for all nodes of a rendering.
        let mut groups: BTreeMap<u32, (Document, Positions)> = BTreeMap::new();
        for (at, instances) in requested.iter().enumerate() {
            for (position, node) in instances.nodes.iter().enumerate() {
                let is_recorded =
                    input.old.is_some_and(|old| old.inputs(&instances.task.name, node.uid).is_some());
                if let Some((state, past)) = node.applied.as_ref().filter(|_| !is_recorded) {
                    let (_, tasks) =
                        groups.entry(*past).or_insert_with(|| (state.common.clone(), BTreeMap::new()));
                    tasks.entry(at).or_default().push((position, state.node.clone()));
                }
            }
        }
        let mut digests = HashMap::new();
        for (common, tasks) in groups.into_values() {
            let nodes_of = |(at, positions): (&usize, &Vec<(usize, Document)>)| {
                (requested[*at].task, positions.iter().map(|(_, own)| own.clone()).collect())
            };
            let rendered = render(input, &common, &tasks.iter().map(nodes_of).collect::<Vec<_>>());
            for ((at, positions), rendered) in tasks.into_iter().zip(rendered) {
                for ((position, _), value_idx) in positions.into_iter().zip(rendered.of) {
                    if let Ok((task_type, inputs)) = &rendered.values[value_idx as usize] {
                        digests.insert((at, position), inputs_digest(task_type, inputs, &input.inputs_key));
                    }
                }
            }
        }
        Self(digests)
    }

    fn digest(&self, at: usize, position: usize) -> Option<InputsDigest> {
        self.0.get(&(at, position)).copied()
    }
}

/// Types and inputs of the instances of one task.
struct Rendered {
    /// For each instance, an index into `values`.
    of: Vec<u32>,
    values: Vec<Result<(String, Json), Box<Error>>>,
}

/// Renders the inputs of tasks on nodes, with equal old and new states.
fn render(input: &PlanningInput<'_>, common: &Document, tasks: &[(&Task, Vec<Document>)]) -> Vec<Rendered> {
    let options = options_of(input);
    let mut expressions = Expressions::new(input.library.clone());
    let mut templates = Templates { expressions: &mut expressions, placeholders: &input.placeholders };
    let fields: Vec<(Template, Template)> = tasks
        .iter()
        .map(|(task, _)| {
            let mut field = |name: &str| templates.template(task.field(name).unwrap_or(&Json::Null));
            (field(TYPE), field(PARAMETERS))
        })
        .collect();
    // Nodes with equal documents share a subject.
    let mut subject_of: HashMap<ExactDigest, NodeIdx> = HashMap::new();
    let mut documents: Vec<Document> = Vec::new();
    let mut subject = |own: &Document| {
        *subject_of.entry(own.value().identity()).or_insert_with(|| {
            documents.push(own.clone());
            NodeIdx::at(documents.len() - 1)
        })
    };
    let subjects: Vec<Vec<NodeIdx>> =
        tasks.iter().map(|(_, nodes)| nodes.iter().map(&mut subject).collect()).collect();
    let names: Vec<String> = (0..documents.len()).map(|number| number.to_string()).collect();
    let documents: Vec<(&str, Document)> = names.iter().map(String::as_str).zip(documents).collect();
    let mut steady = AppliedStates::default();
    for (name, own) in &documents {
        steady.set_node(name, EffectiveState { common: common.clone(), node: own.clone() }, None);
    }
    let applied = Applied { states: Some(&steady), redefinitions: &[] };
    let all = Subjects::new(common, &documents, &HashMap::new(), applied);
    let n_threads = input.settings.n_threads.max(1);
    let mut evaluator = Evaluator::new(eval_settings(input, &options), all, expressions, n_threads);
    let works = tasks.iter().zip(&fields).zip(&subjects).enumerate();
    let works = works.map(|(at, (((task, _), (task_type, parameters)), subjects))| FieldWork {
        nodes: subjects.as_slice().into(),
        ..FieldWork::new(TaskIdx::at(at), &task.name, &[(TYPE, task_type), (PARAMETERS, parameters)])
    });
    // Errors are raised by `inputsChanged()`, or reported when the parameters of running instances are rendered.
    let mut report = PlanningReport::default();
    let computed = compute(works.collect(), &mut evaluator, &names, &mut report);
    let rendered = computed.into_iter().zip(&fields).map(|(computed, (task_type, parameters))| {
        let representatives = computed.classes.representatives.clone();
        let values = computed.values.into_iter().zip(representatives).map(|(values, subject_idx)| {
            let mut values = values.into_iter();
            match (values.next().flatten(), values.next().flatten()) {
                (Some(task_type), Some(parameters)) => {
                    let task_type = task_type.as_str().unwrap_or_default().to_owned();
                    let inputs = with_files(&task_type, inputs_of(&parameters), input);
                    Ok((task_type, inputs))
                }
                _ => Err(first_error(&evaluator, [task_type, parameters], subject_idx)),
            }
        });
        let values = values.collect();
        let of = (0..computed.nodes.len()).map(|position| computed.classes.class(position) as u32).collect();
        Rendered { of, values }
    });
    rendered.collect()
}

fn first_error(evaluator: &Evaluator<'_>, templates: [&Template; 2], subject_idx: SubjectIdx) -> Box<Error> {
    let expressions = templates.into_iter().flat_map(|template| template.expressions(""));
    let mut results = expressions.map(|(_, expression_idx)| evaluator.evaluate(expression_idx, subject_idx));
    results.find_map(Result::err).unwrap_or_else(|| {
        Box::new(Error::value("the parameters contain a value that a task field cannot hold"))
    })
}

/// Adds the contents of files that the task copies: their paths may be computed.
fn with_files(task_type: &str, mut inputs: Json, input: &PlanningInput<'_>) -> Json {
    const COPY_FILES: &str = "copy_files";
    if task_type != COPY_FILES {
        return inputs;
    }
    let files = inputs.get("files").and_then(Json::as_array).into_iter().flatten();
    let sources = files.filter_map(|file| file.get("src")?.as_str());
    let digests: JsonMap =
        sources.filter_map(|path| Some((path.to_owned(), Json::from(input.files.get(path)?)))).collect();
    if let (Json::Object(map), false) = (&mut inputs, digests.is_empty()) {
        map.insert("$files".to_owned(), Json::Object(digests));
    }
    inputs
}
