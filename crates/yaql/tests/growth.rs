//! Checks the complexity of queries: for a document four times as large, about four times the steps, slightly
//! more for sorting. Counts steps instead of time, so that the result does not depend on the machine.

use stoker_yaql::json::parse;
use stoker_yaql::{Engine, Expression, Input, Limits, Value};

const NODES: usize = 250;

fn document(nodes: usize) -> Value {
    let one = |id: usize| {
        let (role, rack) = (["compute", "controller", "mongo"][id % 3], id * 7 % 13);
        format!(
            r#"{{"id": {id}, "name": "node-{id}", "rack": "r{rack}", "roles": ["{role}", "base"], "disks": [{{"size": {id}}}]}}"#
        )
    };
    let nodes: Vec<String> = (0..nodes).map(one).collect();
    parse(&format!("{{\"nodes\": [{}]}}", nodes.join(","))).expect("JSON")
}

/// Returns the minimum number of steps with which the expression succeeds.
fn steps_needed(expression: &Expression, document: &Value) -> u64 {
    let enough = |steps| {
        let limits = Limits { steps, ..Limits::default() };
        expression.run(Input { data: document.clone(), limits: &limits, ..Input::default() }).is_ok()
    };
    let (mut low, mut high) = (0, 1 << 24);
    assert!(enough(high), "{} takes more than {high} steps", expression.source());
    while low + 1 < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

fn check(source: &str, growth_max: f64) {
    let expression = Engine::default().compile(source).expect("it parses");
    let small = steps_needed(&expression, &document(NODES));
    let large = steps_needed(&expression, &document(4 * NODES));
    let growth = large as f64 / small as f64;
    assert!(growth <= growth_max, "`{source}` takes {small} steps, and {large} with four times the document");
}

#[test]
fn queries_are_linear() {
    for source in [
        "$.nodes.where('controller' in $.roles).name",
        "$.nodes.select({id => $.id, size => $.disks.select($.size).sum(0)})",
        "$.nodes.groupBy($.rack, $.id, $.len())",
        "$.nodes.selectMany($.roles).distinct()",
        "$.nodes.toDict($.name, $.id)",
        "$.nodes.disks.size.flatten().sum()",
        "$.nodes.select(concat($.name, '.', $.rack)).join(',').len()",
        "$.nodes.where($.name =~ '7$').len()",
        "let(d => $.nodes.toDict($.name)) -> $.nodes.select($d.get($.name).id).max()",
        "$.nodes.skip(10).take(100000).reverse().first().id",
        "$.nodes.aggregate($1 + $2.id, 0)",
    ] {
        check(source, 4.3);
    }
}

#[test]
fn sorting_is_nearly_linear() {
    check("$.nodes.orderBy($.rack).thenByDescending($.id).select($.name)", 5.5);
}
