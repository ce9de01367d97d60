//! Evaluation of compiled expressions for subjects.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::ScopedJoinHandle;

use parking_lot::Mutex;
use stoker_yaql::eval::Observer;
use stoker_yaql::syntax::VarName;
use stoker_yaql::{Expression, FixedHost, Input, Limits, Options, Result, Value};

use super::aspects::Aspects;
use super::dependencies::dependencies;
use super::expressions::{ExpressionIdx, Expressions};
use super::subjects::{Documents, SubjectIdx, Subjects};
use crate::yaql_ext::inputs_changed::InputsState;
use crate::yaql_ext::result_cache::{Position, ResultCache};
use crate::yaql_ext::scope::{CacheHandle, Scope};

/// Settings and caches that all evaluations share.
#[derive(Debug)]
pub(crate) struct EvalSettings<'o> {
    pub(crate) options: &'o Options,
    pub(crate) limits: &'o Limits,
    pub(crate) host: FixedHost,
    pub(crate) cache: Option<Arc<ResultCache>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    New,
    Old,
}

static NODE: LazyLock<VarName> = LazyLock::new(|| VarName::new("node"));
static COMMON: LazyLock<VarName> = LazyLock::new(|| VarName::new("common"));

impl EvalSettings<'_> {
    pub(crate) fn run(
        &self,
        expression: &Expression,
        common: &Value,
        documents: &Documents,
        own: &Value,
        side: Side,
    ) -> Result<Value> {
        self.run_observed(expression, common, documents, own, side, None)
    }

    pub(crate) fn run_observed<'a>(
        &'a self,
        expression: &Expression,
        common: &Value,
        documents: &Documents,
        own: &Value,
        side: Side,
        observer: Option<&'a mut dyn Observer>,
    ) -> Result<Value> {
        let Documents { new, old, past, inputs } = documents;
        let cache = self.cache.clone().map(|cache| CacheHandle { cache, past: *past });
        let (new, old, inputs) = (new.clone(), old.clone(), inputs.clone());
        let scope = Scope { new, old, inputs, cache, results: Mutex::default() };
        let data = match side {
            Side::New => documents.new.clone(),
            Side::Old => documents.old.clone(),
        };
        let vars = vec![scope.into_variable(), (NODE.clone(), own.clone()), (COMMON.clone(), common.clone())];
        expression.run(Input {
            data,
            vars,
            options: self.options,
            limits: self.limits,
            host: &self.host,
            observer,
        })
    }
}

#[derive(Debug)]
pub(crate) struct Evaluator<'o> {
    pub(crate) settings: EvalSettings<'o>,
    pub(crate) subjects: Subjects,
    pub(crate) expressions: Expressions,
    pub(crate) aspects: Aspects,
    pub(crate) n_threads: usize,
}

impl<'o> Evaluator<'o> {
    /// Analyses the dependencies of each expression.
    pub(crate) fn new(
        mut settings: EvalSettings<'o>,
        subjects: Subjects,
        mut expressions: Expressions,
        n_threads: usize,
    ) -> Self {
        let own_keys = subjects.own_keys();
        let n_pasts = 1 + subjects.all.iter().map(|subject| subject.past).max().unwrap_or(0) as usize;
        let mut aspects = Aspects::new();
        let mut texts: HashMap<String, u32> = HashMap::new();
        let mut reads: Vec<Vec<String>> = Vec::new();
        let mut shared: HashMap<Position, u32> = HashMap::new();
        let mut closed: HashSet<Position> = HashSet::new();
        for compiled in &mut expressions.all {
            let Ok(expression) = &compiled.expression else { continue };
            let dependencies_of = dependencies(expression, &own_keys);
            compiled.reads_old = dependencies_of.reads_old;
            compiled.uses_inputs = dependencies_of.uses_inputs;
            compiled.keys = dependencies_of.keys.map(|keys| keys.into_iter().collect());
            let add = |aspect| aspects.add(aspect, subjects.all.len(), n_pasts);
            compiled.aspects = dependencies_of.aspects.into_iter().map(add).collect();
            let program = Arc::as_ptr(expression.program()).addr();
            closed.extend(dependencies_of.closed.into_iter().map(|node| (program, node)));
            for (node, keys) in dependencies_of.shared {
                let next = texts.len() as u32;
                let text = *texts.entry(expression.subexpression(node).to_string()).or_insert(next);
                if text == next {
                    reads.push(keys.into_iter().collect());
                }
                shared.insert((program, node), text);
            }
        }
        settings.cache = Some(Arc::new(ResultCache::new(shared, closed, reads, subjects.all_differing())));
        Self { settings, subjects, expressions, aspects, n_threads }
    }

    /// Registers that the expressions will be evaluated for the subjects.
    pub(crate) fn request(&mut self, expressions: &[ExpressionIdx], subjects: &[SubjectIdx]) {
        for expression_idx in expressions {
            for aspect_idx in &self.expressions.all[*expression_idx as usize].aspects {
                self.aspects.request(*aspect_idx, subjects);
            }
        }
    }

    /// Computes the aspects of all registered pairs.
    pub(crate) fn compute_aspects(&mut self) {
        self.aspects.compute(&self.settings, &self.subjects, self.n_threads);
    }

    pub(crate) fn evaluate(&self, expression_idx: ExpressionIdx, subject_idx: SubjectIdx) -> Result<Value> {
        self.evaluate_with(expression_idx, subject_idx, &InputsState::Unavailable)
    }

    /// Evaluates a condition; `inputs` is the value of `inputsChanged()`.
    pub(crate) fn evaluate_with(
        &self,
        expression_idx: ExpressionIdx,
        subject_idx: SubjectIdx,
        inputs: &InputsState,
    ) -> Result<Value> {
        let compiled = &self.expressions.all[expression_idx as usize];
        let expression = match &compiled.expression {
            Ok(expression) => expression,
            Err(error) => return Err(error.clone()),
        };
        let own = self.subjects.all[subject_idx as usize].own.value();
        let run = |mut documents: Documents| {
            documents.inputs = inputs.clone();
            self.settings.run(expression, self.subjects.common.value(), &documents, own, Side::New)
        };
        if let Some(keys) = &compiled.keys {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let result = run(self.subjects.excerpt(subject_idx, &keys));
            if result.is_ok() {
                return result;
            }
            // The excerpt may lack what the error message shows: evaluate again over the whole document.
        }
        run(self.subjects.documents(subject_idx))
    }

    /// Runs `work` for each number below `n_jobs`, on up to `n_threads` threads. Results are in order.
    pub(crate) fn in_parallel<T: Send>(&self, n_jobs: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let n_threads = self.n_threads.clamp(1, n_jobs.max(1));
        if n_threads == 1 {
            return (0..n_jobs).map(work).collect();
        }
        let next = AtomicUsize::new(0);
        // Small batches: the cost of jobs varies widely.
        const BATCH_LEN: usize = 8;
        let (next, work) = (&next, &work);
        let work_loop = move || {
            let mut done = Vec::new();
            loop {
                let start = next.fetch_add(BATCH_LEN, Ordering::Relaxed);
                if start >= n_jobs {
                    return done;
                }
                done.extend((start..(start + BATCH_LEN).min(n_jobs)).map(|job| (job, work(job))));
            }
        };
        let done: Vec<Vec<(usize, T)>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..n_threads).map(|_| scope.spawn(work_loop)).collect();
            let own = work_loop();
            threads.into_iter().map(joined).chain([own]).collect()
        });
        let mut results: Vec<Option<T>> = (0..n_jobs).map(|_| None).collect();
        for (job, result) in done.into_iter().flatten() {
            results[job] = Some(result);
        }
        results.into_iter().flatten().collect()
    }
}

/// Waits for a thread and returns its result. A panic continues in the calling thread: a plan without the thread's
/// results would be wrong.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_threads_are_not_lost() {
        let run = || std::thread::scope(|scope| joined(scope.spawn(|| panic!("in a thread"))));
        let panic = std::panic::catch_unwind(run).expect_err("a panic");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"in a thread"));
    }
}
