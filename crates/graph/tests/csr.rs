//! `Csr` against petgraph on random graphs.

use std::collections::BTreeSet;

use petgraph::algo::{has_path_connecting, is_cyclic_directed, tarjan_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;
use stoker_graph::Csr;

fn graphs() -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (1_usize..40).prop_flat_map(|n_vertices| {
        let vertex = 0..n_vertices as u32;
        (Just(n_vertices), prop::collection::vec((vertex.clone(), vertex), 0..n_vertices * 2))
    })
}

fn oracle(n_vertices: usize, edges: &[(u32, u32)]) -> DiGraph<(), ()> {
    let mut graph = DiGraph::new();
    (0..n_vertices).for_each(|_| _ = graph.add_node(()));
    for (from, to) in edges {
        graph.update_edge(NodeIndex::new(*from as usize), NodeIndex::new(*to as usize), ());
    }
    graph
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn knots_match_strongly_connected_components((n_vertices, edges) in graphs()) {
        let (graph, other) = (Csr::new(n_vertices, edges.clone()), oracle(n_vertices, &edges));
        prop_assert_eq!(graph.n_edges(), other.edge_count());
        let expected: BTreeSet<Vec<u32>> = tarjan_scc(&other)
            .into_iter()
            .filter(|group| group.len() > 1 || other.contains_edge(group[0], group[0]))
            .map(|group| {
                let mut group: Vec<u32> = group.into_iter().map(|vertex| vertex.index() as u32).collect();
                group.sort_unstable();
                group
            })
            .collect();
        let components = graph.cyclic_components();
        prop_assert!(components.is_sorted());
        prop_assert_eq!(components.iter().cloned().collect::<BTreeSet<_>>(), expected);
        for component in &components {
            let cycle = graph.shortest_cycle(component);
            prop_assert!(cycle.len() >= 2 && cycle.first() == cycle.last());
            for pair in cycle.windows(2) {
                prop_assert!(graph.targets(pair[0]).contains(&pair[1]));
            }
            let inner: BTreeSet<u32> = cycle[1..].iter().copied().collect();
            prop_assert_eq!(inner.len(), cycle.len() - 1, "no vertex twice");
        }
    }

    #[test]
    fn topological_order_exists_only_without_cycles((n_vertices, edges) in graphs()) {
        let graph = Csr::new(n_vertices, edges.clone());
        let order = graph.topological_order();
        prop_assert_eq!(order.is_none(), is_cyclic_directed(&oracle(n_vertices, &edges)));
        if let Some(order) = order {
            let mut position_of = vec![0; n_vertices];
            order.iter().enumerate().for_each(|(position, vertex)| position_of[*vertex as usize] = position);
            for (from, to) in graph.edges() {
                prop_assert!(position_of[from as usize] < position_of[to as usize]);
            }
        }
    }

    #[test]
    fn reachability_matches_petgraph((n_vertices, edges) in graphs()) {
        let (graph, other) = (Csr::new(n_vertices, edges.clone()), oracle(n_vertices, &edges));
        let reached = graph.reachable([0]);
        for (vertex, is_reached) in reached.iter().enumerate() {
            let expected = has_path_connecting(&other, NodeIndex::new(0), NodeIndex::new(vertex), None);
            prop_assert_eq!(*is_reached, expected);
        }
        prop_assert_eq!(graph.reversed().reversed(), graph);
    }
}

#[test]
fn million_vertex_chain_does_not_overflow_the_stack() {
    let n_vertices = 1_000_000;
    let edges: Vec<(u32, u32)> = (0..n_vertices).map(|vertex| (vertex, (vertex + 1) % n_vertices)).collect();
    let graph = Csr::new(n_vertices as usize, edges.clone());
    assert_eq!(graph.cyclic_components().len(), 1);
    assert_eq!(
        Csr::new(n_vertices as usize, edges[1..].to_vec()).topological_order().map(|order| order[0]),
        Some(1)
    );
}
