//! Parsing of `stage[/number]`.

use std::cmp::Ordering;
use std::fmt;

use stoker_model::Json;

/// Codes of invalid stages.
pub mod codes {
    /// The stage is missing or null.
    pub const MISSING: &str = "stage_missing";
    pub const NOT_STRING: &str = "stage_not_string";
    /// Unknown stage name.
    pub const UNKNOWN: &str = "stage_unknown";
    /// The part after `/` is not a plain decimal number.
    pub const BAD_POSTFIX: &str = "stage_bad_postfix";
    /// Number in a package of version 1.
    pub const POSTFIX_NOT_ALLOWED: &str = "stage_postfix_not_allowed";
    /// The number overflows to infinity.
    pub const POSTFIX_RANGE: &str = "stage_postfix_range";
    /// Duplicate plugin.
    pub const DUPLICATE_PLUGIN: &str = "duplicate_plugin";
}

/// Describes a code.
pub fn describe_code(code: &str) -> &'static str {
    match code {
        codes::MISSING => "it has no `stage`",
        codes::NOT_STRING => "its `stage` is not text",
        codes::UNKNOWN => "its `stage` is neither `pre_deployment` nor `post_deployment`",
        codes::BAD_POSTFIX => "its `stage` has no valid number after `/`",
        codes::POSTFIX_NOT_ALLOWED => "packages of version 1 do not support numbers in `stage`",
        codes::POSTFIX_RANGE => "the number in its `stage` has too many digits",
        codes::DUPLICATE_PLUGIN => "duplicate plugin",
        _ => "its `stage` is invalid",
    }
}

/// Stages that plugins may use, in execution order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StageName {
    PreDeployment,
    PostDeployment,
}

impl StageName {
    pub const ALL: &'static [Self] = &[Self::PreDeployment, Self::PostDeployment];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreDeployment => "pre_deployment",
            Self::PostDeployment => "post_deployment",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|name| name.as_str() == text)
    }
}

/// Parsed stage. A missing number is 0; `100` and `100.0` are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    pub name: StageName,
    /// Number; finite, never negative zero.
    number: f64,
}

impl Stage {
    /// Parses a stage; the error is one of [`codes`].
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (name, postfix) = match text.split_once('/') {
            Some((name, postfix)) => (name, Some(postfix)),
            None => (text, None),
        };
        let name = StageName::parse(name).ok_or(codes::UNKNOWN)?;
        let number = postfix.map_or(Ok(0.0), parse_number)?;
        Ok(Self { name, number })
    }

    /// Parses the `stage` field of a task, for a package version.
    pub fn parse_field(field: Option<&Json>, package_version: &str) -> Result<Self, &'static str> {
        let text = match field {
            None | Some(Json::Null) => return Err(codes::MISSING),
            Some(Json::String(text)) => text,
            Some(_) => return Err(codes::NOT_STRING),
        };
        Self::parse_for_package(text, package_version)
    }

    /// Parses a stage, for a package version: version 1 does not support numbers.
    pub fn parse_for_package(text: &str, package_version: &str) -> Result<Self, &'static str> {
        let stage = Self::parse(text);
        let is_number = !matches!(stage, Err(codes::UNKNOWN | codes::BAD_POSTFIX)) && text.contains('/');
        if is_number && is_first_package_version(package_version) {
            return Err(codes::POSTFIX_NOT_ALLOWED);
        }
        stage
    }

    pub fn number(self) -> f64 {
        self.number
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        self.name.cmp(&other.name).then_with(|| self.number.total_cmp(&other.number))
    }
}

/// Canonical form `post_deployment/100`: always with a number, in its shortest form.
impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name.as_str(), self.number)
    }
}

pub(crate) fn is_first_package_version(package_version: &str) -> bool {
    package_version.split('.').next() == Some("1")
}

/// Parses an optional sign, digits and an optional fraction. Exponents, `inf` and `nan` are rejected.
fn parse_number(text: &str) -> Result<f64, &'static str> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (integer, fraction) = unsigned.split_once('.').map_or((unsigned, None), |(a, b)| (a, Some(b)));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_form = match fraction {
        None => !integer.is_empty() && is_digits(integer),
        Some(fraction) => is_digits(integer) && !fraction.is_empty() && is_digits(fraction),
    };
    let number = text.parse::<f64>().ok().filter(|_| has_form).ok_or(codes::BAD_POSTFIX)?;
    if number.is_finite() {
        // Adding zero normalizes negative zero, which would sort before zero.
        Ok(number + 0.0)
    } else {
        Err(codes::POSTFIX_RANGE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_decimals_are_parsed() {
        for (text, number) in [
            ("pre_deployment", 0.0_f64),
            ("pre_deployment/0", 0.0),
            ("pre_deployment/-0", 0.0),
            ("pre_deployment/+5", 5.0),
            ("pre_deployment/05", 5.0),
            ("pre_deployment/5.0", 5.0),
            ("pre_deployment/.5", 0.5),
            ("pre_deployment/-.5", -0.5),
            ("post_deployment/-99.9", -99.9),
            ("post_deployment/9007199254740993", 9_007_199_254_740_992.0),
        ] {
            let stage = Stage::parse(text).unwrap();
            assert_eq!(stage.number().to_bits(), number.to_bits(), "{text}");
        }
    }

    #[test]
    fn invalid_stages_have_a_code() {
        let nines = format!("pre_deployment/{}", "9".repeat(400));
        for (text, code) in [
            ("pre_deployment/", codes::BAD_POSTFIX),
            ("pre_deployment/5.", codes::BAD_POSTFIX),
            ("pre_deployment/.", codes::BAD_POSTFIX),
            ("pre_deployment/1e3", codes::BAD_POSTFIX),
            ("pre_deployment/nan", codes::BAD_POSTFIX),
            ("pre_deployment/inf", codes::BAD_POSTFIX),
            ("pre_deployment/-inf", codes::BAD_POSTFIX),
            (&nines, codes::POSTFIX_RANGE),
            ("pre_deployment/ 5", codes::BAD_POSTFIX),
            ("pre_deployment/5 ", codes::BAD_POSTFIX),
            ("pre_deployment/5\n", codes::BAD_POSTFIX),
            ("pre_deployment /5", codes::UNKNOWN),
            (" pre_deployment", codes::UNKNOWN),
            ("pre_deployment/1/5", codes::BAD_POSTFIX),
            ("pre_deployment//5", codes::BAD_POSTFIX),
            ("a/b/1", codes::UNKNOWN),
            ("pre_deployment/ten", codes::BAD_POSTFIX),
            ("pre_deployment/0x10", codes::BAD_POSTFIX),
            ("pre_deployment/1_000", codes::BAD_POSTFIX),
            ("pre_deployment/--5", codes::BAD_POSTFIX),
            ("pre_deployment/1,5", codes::BAD_POSTFIX),
            ("pre_deployment/٥", codes::BAD_POSTFIX),
            ("pre_deployment_x", codes::UNKNOWN),
            ("pre_deployment:5", codes::UNKNOWN),
            ("deploy", codes::UNKNOWN),
            ("PRE_DEPLOYMENT", codes::UNKNOWN),
            ("", codes::UNKNOWN),
        ] {
            assert_eq!(Stage::parse(text), Err(code), "{text}");
        }
    }

    #[test]
    fn missing_stage_and_package_version_1() {
        let code = |task: Json, version: &str| Stage::parse_field(task.get("stage"), version).err();
        assert_eq!(code(json!({}), "2.0.0"), Some(codes::MISSING));
        assert_eq!(code(json!({"stage": null}), "2.0.0"), Some(codes::MISSING));
        assert_eq!(code(json!({"stage": 5}), "2.0.0"), Some(codes::NOT_STRING));
        assert_eq!(code(json!({"stage": "pre_deployment/5"}), "1.0.0"), Some(codes::POSTFIX_NOT_ALLOWED));
        assert_eq!(code(json!({"stage": "pre_deployment/x"}), "1.0.0"), Some(codes::BAD_POSTFIX));
        let nines = format!("pre_deployment/{}", "9".repeat(400));
        assert_eq!(code(json!({"stage": nines}), "1.0.0"), Some(codes::POSTFIX_NOT_ALLOWED));
        assert_eq!(code(json!({"stage": "pre_deployment"}), "1.0.0"), None);
    }

    #[test]
    fn display_always_has_a_number() {
        let display = |text: &str| Stage::parse(text).unwrap().to_string();
        assert_eq!(display("pre_deployment"), "pre_deployment/0");
        assert_eq!(display("post_deployment/100.0"), "post_deployment/100");
        assert_eq!(display("post_deployment/-99.90"), "post_deployment/-99.9");
    }
}
