use stoker_state::compare_keys;
use stoker_yaml::emit::{Atom, TreeLevel, Tree, to_python_yaml};
use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Error, Result, Value};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "The value as YAML in block style with sorted keys.",
    overloads: &[("fm toYaml(value: any)", call)],
    examples: &[("{b => [1, true], a => x}.toYaml()", r#""a: x\nb:\n- 1\n- true\n""#)],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let value = args.value(0);
    let value = cx.convert(value)?;
    check(&value)?;
    let text = to_python_yaml(YamlNode(&value));
    cx.steps(text.len() as u64 / 16)?;
    cx.check_bytes(text.len() as u64)?;
    cx.text(text)
}

/// Fails for values that YAML cannot represent without tags.
fn check(value: &Value) -> Result<()> {
    match value {
        Value::Tuple(items) | Value::List(items) => items.iter().try_for_each(check),
        Value::Set(items) => items.iter().try_for_each(check),
        Value::FrozenDict(map) | Value::Dict(map) => map.iter().try_for_each(|(key, value)| {
            if !matches!(key, Value::Str(_)) {
                check_scalar(key)?;
            }
            check(value)
        }),
        other => check_scalar(other),
    }
}

fn check_scalar(value: &Value) -> Result<()> {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) | Value::Str(_) => {
            Ok(())
        }
        other => {
            let message = format!("a value of type {} cannot be represented in YAML", other.type_name());
            Err(Box::new(Error::value(message)))
        }
    }
}

#[derive(Clone, Copy)]
struct YamlNode<'v>(&'v Value);

impl<'v> Tree<'v> for YamlNode<'v> {
    fn level(self) -> TreeLevel<'v, Self> {
        match self.0 {
            Value::Tuple(items) | Value::List(items) => TreeLevel::Seq(items.iter().map(YamlNode).collect()),
            Value::Set(items) => TreeLevel::Seq(items.iter().map(YamlNode).collect()),
            Value::FrozenDict(map) | Value::Dict(map) => {
                let mut entries: Vec<(&Value, &Value)> = map.iter().collect();
                let is_sorted = |pair: &[(&Value, &Value)]| compare_keys(pair[0].0, pair[1].0).is_le();
                if !entries.windows(2).all(is_sorted) {
                    entries.sort_by(|(a, _), (b, _)| compare_keys(a, b));
                }
                TreeLevel::Map(entries.into_iter().map(|(key, value)| (atom(key), YamlNode(value))).collect())
            }
            scalar => TreeLevel::Atom(atom(scalar)),
        }
    }
}

fn atom(value: &Value) -> Atom<'_> {
    match value {
        Value::Bool(flag) => Atom::Bool(*flag),
        Value::Int(number) => Atom::Int(*number),
        Value::BigInt(number) => Atom::BigInt(number),
        Value::Float(number) => Atom::Float(*number),
        Value::Str(text) => Atom::Str(text),
        _ => Atom::Null,
    }
}
