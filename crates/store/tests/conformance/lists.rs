use stoker_model::{NewTenant, Node};
use stoker_store::{List, NodeFilter, SortOrder, StoreError};

use crate::fixture::{Fixture, commit, node};

fn by(fields: &[(&str, bool)]) -> Vec<SortOrder> {
    fields
        .iter()
        .map(|(field, descending)| SortOrder { field: (*field).to_owned(), descending: *descending })
        .collect()
}

async fn pages_of_equal_keys_have_no_overlap_or_gaps(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    for number in 0..23 {
        let new = NewTenant {
            name: format!("tenant {number}"),
            description: (number % 3 != 0).then(|| format!("kind {}", number % 2)),
            enabled: number % 2 == 0,
        };
        writing.tenant_create(&new).await.unwrap();
    }
    commit(writing).await;
    let mut session = fixture.read().await;
    for order_by in [by(&[]), by(&[("enabled", false)]), by(&[("description", true), ("enabled", false)])] {
        let whole = List { order_by: order_by.clone(), ..List::default() };
        let expected = session.tenant_list(&whole).await.unwrap();
        assert_eq!((expected.items.len(), expected.total), (23, 23));
        let mut paged = Vec::new();
        for offset in (0..30).step_by(5) {
            let list = List { limit: Some(5), offset, order_by: order_by.clone() };
            let page = session.tenant_list(&list).await.unwrap();
            assert_eq!(page.total, 23);
            paged.extend(page.items);
        }
        assert_eq!(paged, expected.items);
    }
}

async fn engines_sort_identically(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let names = ["b", "B", "a", "ä", "_", "10", "9", "Z", "", "a b"];
    for (number, name) in names.into_iter().enumerate() {
        let created = node(&mut writing, &format!("{number}")).await;
        let ip = (!name.is_empty()).then(|| name.to_owned());
        writing.node_update(&Node { name: name.to_owned(), ip, ..created }).await.unwrap();
    }
    commit(writing).await;
    let mut session = fixture.read().await;
    let mut order = async |fields: &[(&str, bool)]| {
        let list = List { order_by: by(fields), ..List::default() };
        let page = session.node_list(&NodeFilter::default(), &list).await.unwrap();
        page.items.into_iter().map(|node| node.name).collect::<Vec<_>>()
    };
    let mut expected = names;
    expected.sort_unstable();
    assert_eq!(order(&[("name", false)]).await, expected);
    // NULL sorts first in ascending and last in descending order.
    assert_eq!(order(&[("ip", false)]).await, expected);
    expected.reverse();
    assert_eq!(order(&[("name", true)]).await, expected);
    assert_eq!(order(&[("ip", true)]).await, expected);
    assert_eq!(order(&[("online", true), ("name", true)]).await, expected);
}

async fn limit_and_offset_edge_cases(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    for mac in ["1", "2", "3"] {
        node(&mut writing, mac).await;
    }
    commit(writing).await;
    let mut session = fixture.read().await;
    let mut count = async |limit, offset| {
        let list = List { limit, offset, order_by: Vec::new() };
        let page = session.node_list(&NodeFilter::default(), &list).await.unwrap();
        assert_eq!(page.total, 3);
        page.items.len()
    };
    assert_eq!(count(None, 0).await, 3);
    assert_eq!(count(Some(0), 0).await, 0);
    assert_eq!(count(None, 2).await, 1);
    assert_eq!(count(Some(2), 2).await, 1);
    assert_eq!(count(Some(5), 3).await, 0);
    assert_eq!(count(Some(u64::MAX), 0).await, 3);
    assert_eq!(count(Some(1), u64::MAX).await, 0);
    assert_eq!(count(None, u64::MAX).await, 0);
}

async fn unknown_sort_field_is_rejected_with_supported_ones(fixture: &Fixture) {
    let mut session = fixture.read().await;
    for field in ["nonsense", "", "id; DROP TABLE nodes", "password_hash", "NAME"] {
        let list = List { order_by: by(&[("id", false), (field, false)]), ..List::default() };
        match session.user_list(&list).await {
            Err(StoreError::UnknownSortField { field: reported, supported }) => {
                assert_eq!(reported, field);
                assert!(supported.contains(&"name"));
            }
            other => panic!("{field}: {other:?}"),
        }
        assert!(session.graph_list(&Default::default(), &list).await.is_err());
        assert!(session.audit_list(&Default::default(), &list).await.is_err());
        assert!(session.token_list(None, &list).await.is_err());
    }
}

async fn all_advertised_sort_fields_work(fixture: &Fixture) {
    let mut session = fixture.read().await;
    let unknown = List { order_by: by(&[("?", false)]), ..List::default() };
    // Each list reports its sortable fields in the error for an unknown field.
    macro_rules! check {
        ($($call:expr),+ $(,)?) => {$({
            let call = $call;
            let Err(StoreError::UnknownSortField { supported, .. }) = call(&mut session, unknown.clone()).await else {
                panic!("{} knows `?`", stringify!($call));
            };
            for field in supported {
                for descending in [false, true] {
                    let list = List { limit: Some(1), offset: 0, order_by: by(&[(field, descending)]) };
                    call(&mut session, list).await.unwrap();
                }
            }
        })+};
    }
    use stoker_store::Session;
    check![
        async |s: &mut Session, l: List| s.release_list(&l).await.map(drop),
        async |s: &mut Session, l: List| s.plugin_list(&l).await.map(drop),
        async |s: &mut Session, l: List| s.cluster_list(&Default::default(), &l).await.map(drop),
        async |s: &mut Session, l: List| s.node_list(&Default::default(), &l).await.map(drop),
        async |s: &mut Session, l: List| s.sequence_list(&Default::default(), &l).await.map(drop),
        async |s: &mut Session, l: List| s.tenant_list(&l).await.map(drop),
        async |s: &mut Session, l: List| s.user_list(&l).await.map(drop),
        async |s: &mut Session, l: List| s.token_list(None, &l).await.map(drop),
        async |s: &mut Session, l: List| s.graph_list(&Default::default(), &l).await.map(drop),
        async |s: &mut Session, l: List| s.run_list(&Default::default(), &l).await.map(drop),
        async |s: &mut Session, l: List| s.audit_list(&Default::default(), &l).await.map(drop),
    ];
}

on_both![
    all_advertised_sort_fields_work,
    engines_sort_identically,
    limit_and_offset_edge_cases,
    pages_of_equal_keys_have_no_overlap_or_gaps,
    unknown_sort_field_is_rejected_with_supported_ones,
];
