use proptest::prelude::*;
use stoker_model::{NodeId, NodeStatus};

use crate::records::{Records, node, plugin};

fn tags(records: &Records) -> Vec<String> {
    records.state().nodes.iter().map(|node| format!("{}: {}", node.uid, node.tags.join(" "))).collect()
}

#[test]
fn lowest_id_is_primary() {
    let mut records = Records::new();
    records.nodes.reverse();
    assert_eq!(
        tags(&records),
        ["1: primary-controller primary-database", "2: controller database", "3: cinder compute", "4: "]
    );
    records.cluster.mode = "multinode".to_owned();
    assert_eq!(tags(&records)[0], "1: controller database");
}

#[test]
fn deployed_node_takes_precedence_over_lower_id() {
    let mut records = Records::new();
    records.nodes[1].status = NodeStatus::Ready;
    assert_eq!(tags(&records)[1], "2: primary-controller primary-database");
}

#[test]
fn current_primary_is_kept() {
    let mut records = Records::new();
    records.primaries.insert("controller".to_owned(), NodeId(2));
    assert_eq!(tags(&records)[..2], ["1: controller primary-database", "2: database primary-controller"]);
    let mut leaving = Records::new();
    leaving.primaries.insert("controller".to_owned(), NodeId(2));
    leaving.nodes[1].pending_deletion = true;
    assert_eq!(tags(&leaving)[0], "1: primary-controller primary-database");
    let mut gone = Records::new();
    gone.primaries.insert("controller".to_owned(), NodeId(99));
    assert_eq!(tags(&gone)[0], "1: primary-controller primary-database");
}

#[test]
fn plugin_roles_do_not_override_release_roles() {
    let mut records = Records::new();
    records.plugins.push(plugin("watch"));
    records.nodes.push(node(5, &["watcher", "bare"]));
    records.nodes[0].roles.clear();
    records.nodes[0].pending_roles = vec!["compute".to_owned(), "unheard-of".to_owned()];
    let node_tags = tags(&records);
    assert_eq!((node_tags[0].as_str(), node_tags[4].as_str()), ("1: compute unheard-of", "5: primary-watch"));
}

proptest! {
    /// Elections are stable: repeating one, also after nodes joined, does not change its result.
    #[test]
    fn elections_are_stable(n_before in 1_i64..6, n_after in 0_i64..6, roles in prop::collection::vec(0_usize..3, 12)) {
        let role_sets: &[&[&str]] = &[&["controller"], &["compute"], &["controller", "compute"]];
        let members = |n_nodes: i64| (1..=n_nodes).map(|id| node(id, role_sets[roles[id as usize]])).collect::<Vec<_>>();
        let mut records = Records::new();
        records.nodes = members(n_before);
        let first = records.state().primaries;
        records.primaries = first.clone();
        prop_assert_eq!(&records.state().primaries, &first);
        records.nodes = members(n_before + n_after);
        for node in records.nodes.iter_mut().skip(n_before as usize) {
            node.status = NodeStatus::Ready;
        }
        let later = records.state().primaries;
        for (tag, primary) in &first {
            prop_assert_eq!(later.get(tag), Some(primary));
        }
    }
}
