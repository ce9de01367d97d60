//! Concurrency limits of tasks.

use stoker_model::{Json, StrategyType};

use crate::plan::Details;

const STRATEGY: &str = "strategy";
const AMOUNT: &str = "amount";

/// A message if the strategy in some parameters is invalid.
pub(crate) fn strategy_problem(parameters: &Json) -> Option<String> {
    let strategy = non_null(parameters, STRATEGY)?;
    if strategy.as_object().is_none() {
        return Some(format!(
            "the strategy must be a map with `type` and an optional `{AMOUNT}`, not {strategy}"
        ));
    }
    if strategy_type(strategy).is_none() {
        return Some("the strategy type must be `one_by_one` or `parallel`".to_owned());
    }
    let amount = non_null(strategy, AMOUNT).filter(|amount| !amount.is_u64())?;
    Some(format!("the strategy amount must be a number of nodes, not {amount}"))
}

/// The type of a strategy; `None` if it is missing or unknown.
pub(crate) fn strategy_type(strategy: &Json) -> Option<StrategyType> {
    StrategyType::parse(strategy.get("type")?.as_str()?)
}

fn non_null<'j>(map: &'j Json, key: &str) -> Option<&'j Json> {
    map.get(key).filter(|value| !value.is_null())
}

impl Details {
    /// Maximum number of concurrent instances of the task, from its strategy. A missing or zero amount means
    /// no limit.
    pub fn concurrency(&self) -> Option<u64> {
        let strategy = non_null(&self.parameters, STRATEGY)?;
        match strategy_type(strategy)? {
            StrategyType::OneByOne => Some(1),
            StrategyType::Parallel => non_null(strategy, AMOUNT)?.as_u64().filter(|amount| *amount > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(strategy: &Json, expected: Result<Option<u64>, &str>) {
        let parameters = json!({"strategy": strategy});
        let strategy_problem = strategy_problem(&parameters);
        let details = Details { task_type: "shell".to_owned(), parameters, fail_on_error: true };
        match expected {
            Ok(limit) => assert_eq!((strategy_problem, details.concurrency()), (None, limit), "{strategy}"),
            Err(message) => {
                assert!(
                    strategy_problem.clone().is_some_and(|text| text.contains(message)),
                    "{strategy_problem:?}"
                );
            }
        }
    }

    #[test]
    fn strategies_match_fuel() {
        check(&json!(null), Ok(None));
        check(&json!({"type": "one_by_one"}), Ok(Some(1)));
        check(&json!({"type": "one_by_one", "amount": 3}), Ok(Some(1)));
        check(&json!({"type": "one-by-one"}), Ok(Some(1)));
        check(&json!({"type": "parallel"}), Ok(None));
        check(&json!({"type": "parallel", "amount": null}), Ok(None));
        check(&json!({"type": "parallel", "amount": 0}), Ok(None));
        check(&json!({"type": "parallel", "amount": 6}), Ok(Some(6)));
        check(&json!({"type": "parallel", "amount": -1}), Err("not -1"));
        check(&json!({"type": "parallel", "amount": 1.5}), Err("not 1.5"));
        check(&json!({"type": "parallel", "amount": "6"}), Err("not \"6\""));
        check(&json!({"type": "both"}), Err("`one_by_one` or `parallel`"));
        check(&json!({}), Err("`one_by_one` or `parallel`"));
        check(&json!("parallel"), Err("must be a map"));
    }
}
