//! Properties of the order of application.

use std::cmp::Ordering;

use proptest::prelude::*;
use stoker_modules::{ApplyKey, sort_for_apply};

#[derive(Clone, Debug, PartialEq, Eq)]
struct TestModule {
    priority: bool,
    order: i64,
    name: String,
    id: String,
}

fn rank(module: &TestModule) -> ApplyKey<'_> {
    ApplyKey {
        priority_apply: module.priority,
        apply_order: module.order,
        name: &module.name,
        id: &module.id,
    }
}

/// Few distinct values, so that ties occur.
fn modules() -> impl Strategy<Value = Vec<TestModule>> {
    let module = (any::<bool>(), 0..3_i64, "[ab]{1,2}", 0..1000_u32)
        .prop_map(|(priority, order, name, id)| TestModule { priority, order, name, id: format!("{id:04}") });
    prop::collection::vec(module, 0..40)
}

#[test]
fn priority_then_order() {
    let of = |priority, order| TestModule { priority, order, name: "m".to_owned(), id: String::new() };
    let expected = [of(true, 0), of(true, 4), of(true, 9), of(false, 0), of(false, 1), of(false, 9)];
    let mut mixed = [5, 2, 0, 4, 1, 3].map(|idx: usize| expected[idx].clone());
    sort_for_apply(&mut mixed, rank);
    assert_eq!(mixed, expected);
}

#[test]
fn ties_are_ordered_by_name_then_id() {
    let of = |name: &str, id: &str| TestModule {
        priority: false,
        order: 5,
        name: name.to_owned(),
        id: id.to_owned(),
    };
    let mut mixed = [of("b", "1"), of("a", "2"), of("a", "1")];
    sort_for_apply(&mut mixed, rank);
    assert_eq!(mixed, [of("a", "1"), of("a", "2"), of("b", "1")]);
}

proptest! {
    #[test]
    fn comparison_is_a_total_order(modules in modules()) {
        for one in &modules {
            for other in &modules {
                let ordering = rank(one).compare(&rank(other));
                prop_assert_eq!(ordering, rank(other).compare(&rank(one)).reverse());
                prop_assert_eq!(ordering == Ordering::Equal, one == other);
            }
        }
    }

    #[test]
    fn result_is_independent_of_request_order(modules in modules(), seed in any::<prop::sample::Index>()) {
        let mut sorted = modules.clone();
        sort_for_apply(&mut sorted, rank);
        let mut shuffled = modules;
        if !shuffled.is_empty() {
            let n_rotations = seed.index(shuffled.len());
            shuffled.rotate_left(n_rotations);
            shuffled.reverse();
        }
        sort_for_apply(&mut shuffled, rank);
        prop_assert_eq!(&sorted, &shuffled);
        let first_plain = sorted.iter().position(|module| !module.priority).unwrap_or(sorted.len());
        prop_assert!(sorted[first_plain..].iter().all(|module| !module.priority));
        for pair in sorted.windows(2) {
            prop_assert!(pair[0].priority != pair[1].priority || pair[0].order <= pair[1].order);
        }
        // Sorting is idempotent: the agent may sort again.
        let again = { let mut again = sorted.clone(); sort_for_apply(&mut again, rank); again };
        prop_assert_eq!(sorted.first().map(|module| module.id.clone()), again.first().map(|module| module.id.clone()));
        prop_assert_eq!(sorted, again);
    }
}

#[test]
fn empty_and_single_lists_are_sorted() {
    let mut none: [TestModule; 0] = [];
    sort_for_apply(&mut none, rank);
    let mut one = [TestModule { priority: true, order: 1, name: "x".to_owned(), id: "1".to_owned() }];
    sort_for_apply(&mut one, rank);
    assert_eq!(one.first().unwrap().name, "x");
}
