//! Randomly generated requests: an expression, a document, variables and options.

use serde_json::{Map, Value as Json, json};

use crate::generate::Generator;
use crate::mutate;
use crate::rng::Rng;
use crate::table::Table;
use crate::tree::Node;
use crate::types::Ty;

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) expr: Source,
    pub(crate) data: Json,
    pub(crate) vars: Map<String, Json>,
    pub(crate) options: Map<String, Json>,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    Tree(Node),
    Text(String),
}

impl Case {
    /// Formats the request as a line of the protocol.
    pub(crate) fn request(&self) -> String {
        let mut request = Map::new();
        request.insert("expr".to_owned(), json!(self.text()));
        request.insert("data".to_owned(), self.data.clone());
        if !self.vars.is_empty() {
            request.insert("vars".to_owned(), Json::Object(self.vars.clone()));
        }
        if !self.options.is_empty() {
            request.insert("options".to_owned(), Json::Object(self.options.clone()));
        }
        Json::Object(request).to_string()
    }

    pub(crate) fn text(&self) -> String {
        match &self.expr {
            Source::Tree(node) => node.to_string(),
            Source::Text(text) => text.clone(),
        }
    }
}

/// Function tables of the dialects.
pub(crate) struct Tables {
    pub(crate) standard: Table,
    pub(crate) delegates: Table,
    pub(crate) legacy: Table,
}

pub(crate) fn generate(seed: u64, number: u64, tables: &Tables) -> Case {
    let mut rng = Rng::new(seed, number);
    let options = options(&mut rng);
    let delegates = options.contains_key("delegates");
    let legacy = options.contains_key("legacy");
    let table = match (delegates, legacy) {
        (_, true) => &tables.legacy,
        (true, _) => &tables.delegates,
        _ => &tables.standard,
    };
    // Without input conversion the order of sets passed to Python YAQL cannot be fixed.
    let sets = !options.contains_key("yaql.convertInputData");
    let root = if rng.chance(70) { Ty::record(&mut rng, 3) } else { Ty::random(&mut rng, 2) };
    let data = document(&mut rng, &root, 4, sets);
    let mut scope = vec![("$".to_owned(), root)];
    let mut vars = Map::new();
    for name in ["x", "y"].into_iter().take(rng.below(3)) {
        let ty = Ty::random(&mut rng, 2);
        vars.insert(name.to_owned(), document(&mut rng, &ty, 3, sets));
        scope.push((format!("${name}"), ty));
    }
    let rng = Rng::new(rng.next(), 1);
    let mut generator = Generator { rng, table, scope, delegates, legacy };
    let goal = if generator.rng.chance(40) { Ty::Any } else { Ty::random(&mut generator.rng, 2) };
    let depth = 2 + generator.rng.below(3);
    let node = if generator.rng.chance(40) { generator.focused() } else { generator.expr(&goal, depth) };
    let expr = match generator.rng.below(100) {
        0..=62 => Source::Tree(node),
        63..=82 => Source::Tree(mutate::tree(node, &mut generator)),
        83..=97 => Source::Text(mutate::tokens(&node.to_string(), &mut generator.rng)),
        _ => Source::Text(mutate::garbage(&mut generator.rng)),
    };
    Case { expr, data, vars, options }
}

fn options(rng: &mut Rng) -> Map<String, Json> {
    let mut options = Map::new();
    // Infinite sequences are common, and Python YAQL is slow to reach its default limit.
    if rng.chance(90) {
        let limit = rng.pick(&[100, 100, 100, 50, 20, 3]);
        options.insert("yaql.limitIterators".to_owned(), json!(limit));
    }
    let mut maybe = |percent, name: &str, value: Json| {
        if rng.chance(percent) {
            options.insert(name.to_owned(), value);
        }
    };
    maybe(4, "yaql.convertTuplesToLists", json!(false));
    maybe(4, "yaql.convertSetsToLists", json!(false));
    maybe(3, "yaql.iterableDicts", json!(true));
    maybe(3, "yaql.convertInputData", json!(false));
    maybe(2, "yaql.convertOutputData", json!(false));
    maybe(5, "delegates", json!(true));
    maybe(3, "legacy", json!("full"));
    maybe(3, "legacy", json!("context"));
    options
}

const TEXTS: [&str; 16] = [
    "",
    "a",
    "node-1",
    "controller",
    "a b c",
    "42",
    "1.5",
    "é",
    "straße",
    "😀",
    "x,y,z",
    "banana",
    "A",
    "true",
    "2017-03-04",
    "10.20.0.3",
];

/// Generates a JSON value of a type; occasionally null or of another type.
fn document(rng: &mut Rng, ty: &Ty, depth: usize, sets: bool) -> Json {
    if rng.chance(3) {
        return Json::Null;
    }
    let items = |rng: &mut Rng, ty: &Ty| -> Vec<Json> {
        let count = if depth == 0 { 0 } else { rng.below(5) };
        (0..count).map(|_| document(rng, ty, depth.saturating_sub(1), sets)).collect()
    };
    match ty {
        Ty::Null | Ty::Context => Json::Null,
        Ty::Bool => json!(rng.chance(50)),
        Ty::Int if rng.chance(5) => json!(rng.next()),
        Ty::Int => json!(rng.range(-5, 20)),
        Ty::Float => json!(rng.pick(&[0.0, -0.5, 1.0, 2.5, 1e16, 1e-7, 0.1, -3.75])),
        Ty::Str | Ty::Any | Ty::Regex => json!(rng.pick(&TEXTS)),
        Ty::DateTime => {
            let zone = rng.pick(&["+00:00", "+00:00", "+02:00", "-05:30"]);
            let (day, hour) = (rng.range(10, 28), rng.range(10, 23));
            json!({"$yaql": "datetime", "value": format!("2017-03-{day}T{hour}:20:30{zone}")})
        }
        Ty::TimeSpan => json!({"$yaql": "timespan", "us": rng.range(-5, 90) * 1_800_000_000}),
        Ty::Seq(element) | Ty::Coll(element) => Json::Array(items(rng, element)),
        Ty::Set(element) if sets && !matches!(**element, Ty::DateTime | Ty::TimeSpan) => {
            json!({"$yaql": "set", "items": items(rng, element)})
        }
        Ty::Iter(element) | Ty::Ordering(element) | Ty::Set(element) => {
            json!({"$yaql": "iterator", "items": items(rng, element)})
        }
        Ty::Dict(element) => {
            let values = items(rng, element);
            Json::Object(values.into_iter().map(|value| (rng.pick(&TEXTS).to_owned(), value)).collect())
        }
        Ty::Record(fields) => {
            let below = depth.saturating_sub(1);
            Json::Object(
                fields.iter().map(|(key, ty)| (key.clone(), document(rng, ty, below, sets))).collect(),
            )
        }
    }
}
