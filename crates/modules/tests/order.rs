//! Laws of the order of application.

use std::cmp::Ordering;

use proptest::prelude::*;
use stoker_modules::{Rank, sort};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Thing {
    priority: bool,
    order: i64,
    name: String,
    id: String,
}

fn rank(thing: &Thing) -> Rank<'_> {
    Rank { priority_apply: thing.priority, apply_order: thing.order, name: &thing.name, id: &thing.id }
}

/// Few values, so that ties are met.
fn things() -> impl Strategy<Value = Vec<Thing>> {
    let thing = (any::<bool>(), 0..3_i64, "[ab]{1,2}", 0..1000_u32)
        .prop_map(|(priority, order, name, id)| Thing { priority, order, name, id: format!("{id:04}") });
    prop::collection::vec(thing, 0..40)
}

#[test]
fn the_table_of_the_design() {
    let of = |priority, order| Thing { priority, order, name: "m".to_owned(), id: String::new() };
    let expected = [of(true, 0), of(true, 4), of(true, 9), of(false, 0), of(false, 1), of(false, 9)];
    let mut mixed = [5, 2, 0, 4, 1, 3].map(|place: usize| expected[place].clone());
    sort(&mut mixed, rank);
    assert_eq!(mixed, expected);
}

#[test]
fn equal_ranks_go_by_name_and_then_by_id() {
    let of =
        |name: &str, id: &str| Thing { priority: false, order: 5, name: name.to_owned(), id: id.to_owned() };
    let mut mixed = [of("b", "1"), of("a", "2"), of("a", "1")];
    sort(&mut mixed, rank);
    assert_eq!(mixed, [of("a", "1"), of("a", "2"), of("b", "1")]);
}

proptest! {
    #[test]
    fn it_is_a_total_order(things in things()) {
        for one in &things {
            for other in &things {
                let there = rank(one).compare(&rank(other));
                prop_assert_eq!(there, rank(other).compare(&rank(one)).reverse());
                prop_assert_eq!(there == Ordering::Equal, one == other);
            }
        }
    }

    #[test]
    fn the_order_of_the_request_means_nothing(things in things(), seed in any::<prop::sample::Index>()) {
        let mut sorted = things.clone();
        sort(&mut sorted, rank);
        let mut turned = things;
        if !turned.is_empty() {
            let n_turns = seed.index(turned.len());
            turned.rotate_left(n_turns);
            turned.reverse();
        }
        sort(&mut turned, rank);
        prop_assert_eq!(&sorted, &turned);
        let first_plain = sorted.iter().position(|thing| !thing.priority).unwrap_or(sorted.len());
        prop_assert!(sorted[first_plain..].iter().all(|thing| !thing.priority));
        for pair in sorted.windows(2) {
            prop_assert!(pair[0].priority != pair[1].priority || pair[0].order <= pair[1].order);
        }
        // Sorting again changes nothing: the agent may do it too.
        let again = { let mut again = sorted.clone(); sort(&mut again, rank); again };
        prop_assert_eq!(sorted.first().map(|thing| thing.id.clone()), again.first().map(|thing| thing.id.clone()));
        prop_assert_eq!(sorted, again);
    }
}

#[test]
fn nothing_and_one_are_in_order() {
    let mut none: [Thing; 0] = [];
    sort(&mut none, rank);
    let mut one = [Thing { priority: true, order: 1, name: "x".to_owned(), id: "1".to_owned() }];
    sort(&mut one, rank);
    assert_eq!(one.first().unwrap().name, "x");
}
