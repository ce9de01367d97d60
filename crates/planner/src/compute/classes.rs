//! Equivalence classes of subjects for which expressions have the same results.

use std::collections::HashMap;

use super::evaluator::Evaluator;
use super::expressions::ExpressionIdx;
use super::subjects::SubjectIdx;

#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// Class of each subject, by position in the list of subjects.
    pub(crate) of: ClassOf,
    /// The first subject of each class.
    pub(crate) representatives: Vec<SubjectIdx>,
}

/// A single class is the common case and needs no table.
#[derive(Clone, Debug)]
pub(crate) enum ClassOf {
    One,
    Many(Vec<u32>),
}

impl Classes {
    /// The class of the subject at a position of the list.
    pub(crate) fn class(&self, position: usize) -> usize {
        match &self.of {
            ClassOf::One => 0,
            ClassOf::Many(classes) => classes[position] as usize,
        }
    }

    /// Partitions subjects by everything that the results of the expressions depend on. `inputs` are further numbers by
    /// position.
    pub(crate) fn new(
        evaluator: &Evaluator<'_>,
        expressions: &[ExpressionIdx],
        subjects: &[SubjectIdx],
        inputs: Option<&[u32]>,
    ) -> Self {
        let compiled = || expressions.iter().map(|idx| &evaluator.expressions.all[*idx as usize]);
        let mut aspects: Vec<u32> =
            compiled().flat_map(|compiled| compiled.aspects.iter().copied()).collect();
        aspects.sort_unstable();
        aspects.dedup();
        let past_of = |subject_idx: SubjectIdx| evaluator.subjects.all[subject_idx as usize].past;
        let mut partition = Partition::new(subjects.len());
        if compiled().any(|compiled| compiled.reads_old) {
            partition.split(subjects.iter().map(|subject_idx| past_of(*subject_idx)));
        }
        if let Some(numbers) = inputs {
            partition.split(numbers.iter().copied());
        }
        for aspect_idx in aspects {
            partition
                .split(subjects.iter().map(|subject_idx| evaluator.aspects.number(aspect_idx, *subject_idx)));
        }
        partition.finish(subjects)
    }

    /// The first position of each class.
    pub(crate) fn first_positions(&self) -> Vec<usize> {
        match &self.of {
            ClassOf::One => vec![0; self.n_classes()],
            ClassOf::Many(classes) => {
                let mut first = Vec::with_capacity(self.n_classes());
                for (position, class) in classes.iter().enumerate() {
                    if *class as usize == first.len() {
                        first.push(position);
                    }
                }
                first
            }
        }
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.representatives.len()
    }
}

struct Partition {
    classes: Vec<u32>,
    n_classes: u32,
}

impl Partition {
    fn new(len: usize) -> Self {
        Self { classes: vec![0; len], n_classes: u32::from(len > 0) }
    }

    /// Refines the partition by one more number per subject. Classes are numbered in order of first
    /// occurrence.
    fn split(&mut self, numbers: impl Iterator<Item = u32>) {
        let mut class_of: HashMap<(u32, u32), u32, foldhash::fast::FixedState> = HashMap::default();
        let mut last = None;
        let mut n_classes = 0;
        for (class, number) in self.classes.iter_mut().zip(numbers) {
            let key = (*class, number);
            // Adjacent subjects are usually in the same class.
            *class = match last {
                Some((last_key, last_class)) if last_key == key => last_class,
                _ => *class_of.entry(key).or_insert_with(|| {
                    n_classes += 1;
                    n_classes - 1
                }),
            };
            last = Some((key, *class));
        }
        self.n_classes = n_classes;
    }

    fn finish(self, subjects: &[SubjectIdx]) -> Classes {
        if self.n_classes <= 1 {
            return Classes { of: ClassOf::One, representatives: subjects.iter().copied().take(1).collect() };
        }
        let mut representatives = Vec::with_capacity(self.n_classes as usize);
        for (class, subject_idx) in self.classes.iter().zip(subjects) {
            if *class as usize == representatives.len() {
                representatives.push(*subject_idx);
            }
        }
        Classes { of: ClassOf::Many(self.classes), representatives }
    }
}
