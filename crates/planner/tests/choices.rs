//! Bytes select a condition and the states of a small cluster. The planner, which caches and shares evaluations between nodes,
//! must decide each instance as an evaluation of the condition over the states of its node alone. Also a fuzz target.

use std::sync::{Arc, LazyLock};

use serde_json::{Value as Json, json};
use stoker_helpers::{HelperFile, load};
use stoker_model::Task;
use stoker_planner::{InstanceAction, NodeInput, PlanningInput, evaluate, options, plan};
use stoker_state::{AppliedStates, Document, EffectiveState};
use stoker_yaql::json::parse;
use stoker_yaql::{Engine, Library};

const KEYS: [&str; 4] = ["a", "b", "list", "absent"];
const N_NODES: usize = 3;
const EXPRESSION_DEPTH_MAX: u32 = 5;
const VALUE_DEPTH_MAX: u32 = 2;
const HELPERS: &str = "
functions:
  - {name: moved, parameters: [key], body: changed($.get($key))}
  - {name: same, parameters: [x], body: new($.get(a)) = $x}
";

static LIBRARY: LazyLock<Arc<Library>> = LazyLock::new(|| {
    let files = [HelperFile { name: "helpers.yaml", text: HELPERS }];
    load(&files, &stoker_planner::library()).library.unwrap_or_else(stoker_planner::library)
});

/// Bytes that decide; zeros after their end, so that every choice ends.
struct Choices<'d>(&'d [u8]);

impl Choices<'_> {
    fn below(&mut self, n: u8) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first % n
    }

    fn key(&mut self) -> &'static str {
        KEYS[self.below(KEYS.len() as u8) as usize]
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == EXPRESSION_DEPTH_MAX {
            return format!("$.get({})", self.key());
        }
        match self.below(30) {
            0 => format!("$.get({})", self.key()),
            1 => format!("$.{}", self.key()),
            2 => format!("$.{}.{}", self.key(), self.key()),
            3 => "$".to_owned(),
            4 => "$node".to_owned(),
            5 => format!("$common.get({})", self.key()),
            6 => "$x".to_owned(),
            7 => "null".to_owned(),
            8 => format!("{}", self.below(3)),
            9 => "'1'".to_owned(),
            10 => "inputsChanged()".to_owned(),
            11 => format!("moved({})", self.key()),
            _ => self.compound(depth),
        }
    }

    fn compound(&mut self, depth: u32) -> String {
        let kind = self.below(24);
        let first = self.expression(depth + 1);
        let mut second = || self.expression(depth + 1);
        match kind {
            0..=3 => format!("changed({first})"),
            4 => format!("changedAny({first}, {})", second()),
            5 => format!("changedAll({first}, {})", second()),
            6 => format!("old({first})"),
            7 => format!("new({first})"),
            8 => format!("added({first})"),
            9 => format!("deleted({first})"),
            10 => format!("({first}).isUndef()"),
            11 => format!("({first}) and ({})", second()),
            12 => format!("({first}) or ({})", second()),
            13 => format!("not ({first})"),
            14 => format!("({first}) = ({})", second()),
            15 => format!("({first}) in $.list"),
            16 => format!("len({first}) > 0"),
            17 => format!("$.list.where({first})"),
            18 => format!("$.list.select({first})"),
            19 => format!("let(x => {first}) -> {}", second()),
            20 => format!("switch({first} => {}, true => 0)", second()),
            21 => format!("same({first})"),
            22 => format!("[{first}, {}]", second()),
            _ => format!("dict(a => {first})"),
        }
    }

    fn value(&mut self, depth: u32) -> Json {
        match self.below(if depth == VALUE_DEPTH_MAX { 4 } else { 6 }) {
            0 => Json::Null,
            1 => json!(self.below(3)),
            2 => json!(self.below(2) == 1),
            3 => json!(self.below(2).to_string()),
            4 => (0..self.below(3)).map(|_| self.value(depth + 1)).collect(),
            _ => self.map(depth + 1),
        }
    }

    fn map(&mut self, depth: u32) -> Json {
        let keys: Vec<&str> = KEYS[..3].iter().copied().filter(|_| self.below(3) > 0).collect();
        keys.into_iter().map(|key| (key.to_owned(), self.value(depth))).collect()
    }
}

fn document(value: &Json) -> Document {
    parse(&value.to_string()).map_or_else(|_| Document::default(), |value| Document::new(&value))
}

/// Plans the case that the bytes select, and compares every decision.
pub(crate) fn check(data: &[u8]) {
    let mut choices = Choices(data);
    let condition = choices.expression(0);
    let common = document(&choices.map(0));
    let own: Vec<Document> = (0..N_NODES).map(|_| document(&choices.map(0))).collect();
    let old: Vec<Option<EffectiveState>> = (0..N_NODES)
        .map(|_| {
            let common = document(&choices.map(0));
            (choices.below(4) > 0).then(|| EffectiveState { common, node: document(&choices.map(0)) })
        })
        .collect();
    let mut applied = AppliedStates::default();
    for (idx, state) in old.iter().enumerate() {
        if let Some(state) = state {
            applied.set_node(&idx.to_string(), state.clone(), None);
        }
    }
    let fields = json!({
        "type": "shell", "roles": "*", "parameters": {"cmd": "true"}, "condition": {"yaql_exp": condition},
    });
    let tasks = [Task { name: "t".to_owned(), fields: fields.as_object().cloned().unwrap_or_default() }];
    let node = |(idx, document): (usize, &Document)| NodeInput {
        uid: idx.to_string(),
        tags: Vec::new(),
        document: document.clone(),
        record: None,
    };
    let input = PlanningInput {
        library: LIBRARY.clone(),
        old: Some(&applied),
        ..PlanningInput::new(&tasks, common.clone(), own.iter().enumerate().map(node).collect())
    };
    let planned = plan(&input);
    if condition.contains("inputsChanged") {
        return;
    }
    let Ok(expression) = Engine::new(LIBRARY.clone()).compile(&condition) else {
        assert!(planned.is_err(), "{condition}: planned although it does not parse");
        return;
    };
    let options = options(N_NODES);
    let values: Vec<_> = own
        .iter()
        .zip(&old)
        .map(|(node, old)| {
            let new = EffectiveState { common: common.clone(), node: node.clone() };
            evaluate(&expression, &new, old.as_ref(), &options)
        })
        .collect();
    // Text is a condition in the language of legacy tasks.
    if values.iter().flatten().any(|value| value.as_str().is_some()) {
        return;
    }
    match planned {
        Err(report) => {
            assert!(values.iter().any(Result::is_err), "{condition}: refused with {:?}", report.problems);
        }
        Ok((plan, _)) => {
            for instance in plan.instances() {
                let idx: usize = instance.node.parse().unwrap_or_default();
                let runs = instance.verdict.action() == InstanceAction::Run;
                let value = values[idx].as_ref().map(stoker_yaql::Value::is_true);
                assert_eq!(value.ok(), Some(runs), "{condition} on node {idx}: {:?}", values[idx]);
            }
        }
    }
}
