//! Subjects for which a result is the same.

use std::collections::HashMap;

use super::evaluator::Evaluator;
use super::expressions::ExpressionIdx;
use super::subjects::SubjectIdx;

#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// Beside each subject its class.
    pub(crate) of: ClassOf,
    /// One subject of each class: the first.
    pub(crate) representatives: Vec<SubjectIdx>,
}

/// Most of the time there is only one class.
#[derive(Clone, Debug)]
pub(crate) enum ClassOf {
    One,
    Many(Vec<u32>),
}

impl Classes {
    /// The class of the subject at a place of the list.
    pub(crate) fn class(&self, place: usize) -> usize {
        match &self.of {
            ClassOf::One => 0,
            ClassOf::Many(classes) => classes[place] as usize,
        }
    }

    /// Sorts subjects by everything that the results of some expressions depend on.
    pub(crate) fn new(
        evaluator: &Evaluator<'_>,
        expressions: &[ExpressionIdx],
        subjects: &[SubjectIdx],
    ) -> Self {
        let compiled = || expressions.iter().map(|idx| &evaluator.expressions.all[*idx as usize]);
        let mut aspects: Vec<u32> =
            compiled().flat_map(|compiled| compiled.aspects.iter().copied()).collect();
        aspects.sort_unstable();
        aspects.dedup();
        let past_of = |subject_idx: SubjectIdx| evaluator.subjects.all[subject_idx as usize].past;
        let mut sorting = Sorting::new(subjects.len());
        if compiled().any(|compiled| compiled.reads_old) {
            sorting.split(subjects.iter().map(|subject_idx| past_of(*subject_idx)));
        }
        for aspect_idx in aspects {
            sorting
                .split(subjects.iter().map(|subject_idx| evaluator.aspects.number(aspect_idx, *subject_idx)));
        }
        sorting.finish(subjects)
    }

    /// Every subject by itself, with how many there are.
    pub(crate) fn n_classes(&self) -> usize {
        self.representatives.len()
    }
}

struct Sorting {
    classes: Vec<u32>,
    n_classes: u32,
}

impl Sorting {
    fn new(len: usize) -> Self {
        Self { classes: vec![0; len], n_classes: u32::from(len > 0) }
    }

    /// Splits classes by one more number for each subject. Classes are numbered as they first occur.
    fn split(&mut self, numbers: impl Iterator<Item = u32>) {
        let mut known: HashMap<(u32, u32), u32, foldhash::fast::FixedState> = HashMap::default();
        let mut last = None;
        let mut n_classes = 0;
        for (class, number) in self.classes.iter_mut().zip(numbers) {
            let key = (*class, number);
            // Neighbours mostly are alike.
            *class = match last {
                Some((last_key, last_class)) if last_key == key => last_class,
                _ => *known.entry(key).or_insert_with(|| {
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
