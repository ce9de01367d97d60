//! How many instances of a task may run at the same time.

use stoker_model::Json;

use crate::plan::Details;

const STRATEGY: &str = "strategy";
const AMOUNT: &str = "amount";

/// What is wrong with the strategy in some parameters.
pub(crate) fn complaint(parameters: &Json) -> Option<String> {
    let strategy = given(parameters, STRATEGY)?;
    if strategy.as_object().is_none() {
        return Some(format!("a strategy is a map with `type` and perhaps `{AMOUNT}`, and not {strategy}"));
    }
    match strategy.get("type").and_then(Json::as_str) {
        Some("one_by_one" | "parallel") => {}
        _ => return Some("the type of a strategy is `one_by_one` or `parallel`".to_owned()),
    }
    let amount = given(strategy, AMOUNT).filter(|amount| !amount.is_u64())?;
    Some(format!("the amount of a strategy is a number of nodes, and not {amount}"))
}

fn given<'j>(map: &'j Json, key: &str) -> Option<&'j Json> {
    map.get(key).filter(|value| !value.is_null())
}

impl Details {
    /// How many instances of the task may run at the same time, if its strategy says so. No amount, or zero, is no
    /// limit.
    pub fn concurrency(&self) -> Option<u64> {
        let strategy = given(&self.parameters, STRATEGY)?;
        match strategy.get("type").and_then(Json::as_str)? {
            "one_by_one" => Some(1),
            _ => given(strategy, AMOUNT)?.as_u64().filter(|amount| *amount > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(strategy: &Json, expected: Result<Option<u64>, &str>) {
        let parameters = json!({"strategy": strategy});
        let complaint = complaint(&parameters);
        let details = Details { task_type: "shell".to_owned(), parameters, fail_on_error: true };
        match expected {
            Ok(limit) => assert_eq!((complaint, details.concurrency()), (None, limit), "{strategy}"),
            Err(words) => {
                assert!(complaint.clone().is_some_and(|text| text.contains(words)), "{complaint:?}");
            }
        }
    }

    #[test]
    fn strategies_are_those_of_the_reference() {
        check(&json!(null), Ok(None));
        check(&json!({"type": "one_by_one"}), Ok(Some(1)));
        check(&json!({"type": "one_by_one", "amount": 3}), Ok(Some(1)));
        check(&json!({"type": "parallel"}), Ok(None));
        check(&json!({"type": "parallel", "amount": null}), Ok(None));
        check(&json!({"type": "parallel", "amount": 0}), Ok(None));
        check(&json!({"type": "parallel", "amount": 6}), Ok(Some(6)));
        check(&json!({"type": "parallel", "amount": -1}), Err("not -1"));
        check(&json!({"type": "parallel", "amount": 1.5}), Err("not 1.5"));
        check(&json!({"type": "parallel", "amount": "6"}), Err("not \"6\""));
        check(&json!({"type": "both"}), Err("`one_by_one` or `parallel`"));
        check(&json!({}), Err("`one_by_one` or `parallel`"));
        check(&json!("parallel"), Err("is a map"));
    }
}
