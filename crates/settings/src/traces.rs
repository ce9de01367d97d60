//! Trace settings from the standard OpenTelemetry environment variables.

use std::path::PathBuf;
use std::time::Duration;

use crate::Secret;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const TRACES_HEADERS: &str = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
const SAMPLER_ARG: &str = "OTEL_TRACES_SAMPLER_ARG";
const SAMPLERS: &str = "`always_on`, `always_off`, `traceidratio`, `parentbased_always_on`, `parentbased_always_off`, \
    `parentbased_traceidratio`";

/// Variables that may contain an API key of the collector.
pub const TRACES_SECRETS: [&str; 2] = [HEADERS, TRACES_HEADERS];

/// Trace export settings.
#[derive(Clone, Debug)]
pub struct Traces {
    /// URL to post span batches to.
    pub endpoint: String,
    pub headers: Vec<(String, Secret)>,
    /// Timeout of one batch.
    pub timeout: Duration,
    /// PEM file with certificates to trust in addition to those of the system.
    pub ca_file: Option<PathBuf>,
    /// Resource attributes, including the service name.
    pub resource: Vec<(String, String)>,
    pub sampling: Sampling,
}

/// Sampling settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Fraction of sampled traces, from 0 to 1.
    pub ratio: f64,
    /// Whether the sampling decision of a parent span is followed.
    pub follows_parent: bool,
}

/// Error in a configuration variable of the trace exporter. Messages do not repeat values that may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TracesError {
    #[error("`{}` must be an http:// or https:// URL with a host, such as http://127.0.0.1:4318", ENDPOINT)]
    Endpoint,
    #[error("the protocol `{0}` is not supported; use `http/protobuf`, usually on port 4318")]
    Protocol(String),
    #[error("`{0}` must be a list like `name=value,name=value`, with special characters written as `%2C`")]
    Pairs(&'static str),
    #[error("`OTEL_EXPORTER_OTLP_TIMEOUT` is `{0}`; it must be milliseconds, at most 600000")]
    Timeout(String),
    #[error("`{}` is `{ratio}`; it must be a number from 0 to 1", SAMPLER_ARG)]
    Ratio { ratio: String },
    #[error("`{}` is `{name}`; it must be one of {}", SAMPLER, SAMPLERS)]
    Sampler { name: String },
}

impl Traces {
    /// Reads the variables. Returns `None` if no collector is configured, or all errors in the variables.
    /// `service` is the default service name.
    pub fn from_env(
        service: &str,
        version: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, Vec<TracesError>> {
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
        let base = variable(ENDPOINT).map(|base| format!("{}/v1/traces", base.trim_end_matches('/')));
        let Some(endpoint) = variable(TRACES_ENDPOINT).or(base).filter(|_| !is_off) else { return Ok(None) };
        let either = |traces: &str, all: &str| variable(traces).or_else(|| variable(all));
        let mut problems = Vec::new();
        if let Err(problem) = check(&endpoint) {
            problems.push(problem);
        }
        let protocol = either("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
        if let Some(other) = protocol.filter(|protocol| protocol != "http/protobuf") {
            problems.push(TracesError::Protocol(other));
        }
        let mut collect_problem = |result: Result<Vec<(String, String)>, TracesError>| {
            result.unwrap_or_else(|problem| {
                problems.push(problem);
                Vec::new()
            })
        };
        let headers = collect_problem(pairs(HEADERS, either(TRACES_HEADERS, HEADERS)));
        let mut resource =
            collect_problem(pairs("OTEL_RESOURCE_ATTRIBUTES", variable("OTEL_RESOURCE_ATTRIBUTES")));
        describe(&mut resource, variable("OTEL_SERVICE_NAME").as_deref(), service, version);
        let timeout = either("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT");
        let time_max = timeout.map_or(Ok(10_000), |text| {
            let number = text.trim().parse::<u64>().ok().filter(|ms| (1..=600_000).contains(ms));
            number.ok_or(TracesError::Timeout(text))
        });
        let time_max = time_max.map_err(|problem| problems.push(problem));
        let sampling =
            sampling(variable(SAMPLER), variable(SAMPLER_ARG)).map_err(|problem| problems.push(problem));
        let (Ok(time_max), Ok(sampling), true) = (time_max, sampling, problems.is_empty()) else {
            return Err(problems);
        };
        let ca_file = either("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE");
        Ok(Some(Self {
            endpoint,
            headers: headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect(),
            timeout: Duration::from_millis(time_max),
            ca_file: ca_file.map(PathBuf::from),
            resource,
            sampling,
        }))
    }
}

fn check(endpoint: &str) -> Result<(), TracesError> {
    let rest = endpoint.strip_prefix("http://").or_else(|| endpoint.strip_prefix("https://"));
    let host = rest.map(|rest| rest.split('/').next().unwrap_or_default());
    match host {
        Some(host) if !host.is_empty() && !host.contains(char::is_whitespace) => Ok(()),
        _ => Err(TracesError::Endpoint),
    }
}

/// Parses `a=b,c=d` with percent-encoding.
fn pairs(name: &'static str, text: Option<String>) -> Result<Vec<(String, String)>, TracesError> {
    let text = text.unwrap_or_default();
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let read = parts.map(|part| {
        let (key, value) = part.split_once('=')?;
        let key = key.trim();
        let is_valid_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
        let value = percent_decode(value.trim())?;
        let is_printable = !value.contains(|c: char| c.is_control());
        (is_valid_key && is_printable).then(|| (key.to_owned(), value))
    });
    read.collect::<Option<_>>().ok_or(TracesError::Pairs(name))
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(others.get(..2)?).ok()?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Adds default attributes that are not set.
fn describe(resource: &mut Vec<(String, String)>, name: Option<&str>, service: &str, version: &str) {
    const NAME: &str = "service.name";
    if name.is_some() {
        resource.retain(|(key, _)| key != NAME);
    }
    let defaults = [(NAME, name.unwrap_or(service)), ("service.version", version)];
    for (key, value) in defaults {
        if !resource.iter().any(|(existing, _)| existing == key) {
            resource.push((key.to_owned(), value.to_owned()));
        }
    }
}

fn sampling(name: Option<String>, ratio: Option<String>) -> Result<Sampling, TracesError> {
    let name = name.unwrap_or_else(|| "parentbased_always_on".to_owned());
    let (follows_parent, own) = match name.strip_prefix("parentbased_") {
        Some(own) => (true, own),
        None => (false, name.as_str()),
    };
    let ratio = match own {
        "always_on" => 1.0,
        "always_off" => 0.0,
        "traceidratio" => match ratio.map(|text| (text.trim().parse::<f64>(), text)) {
            None => 1.0,
            Some((Ok(ratio), _)) if (0.0..=1.0).contains(&ratio) => ratio,
            Some((_, text)) => return Err(TracesError::Ratio { ratio: text }),
        },
        _ => return Err(TracesError::Sampler { name }),
    };
    Ok(Sampling { ratio, follows_parent })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Traces>, Vec<TracesError>> {
        let of =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Traces::from_env("stoker-server", "1.2.3", of)
    }

    #[test]
    fn export_is_off_without_collector() {
        let endpoint = (ENDPOINT, "http://collector:4318");
        for variables in [
            &[][..],
            &[(ENDPOINT, "")],
            &[(HEADERS, "nonsense")],
            &[endpoint, ("OTEL_SDK_DISABLED", "true")],
            &[endpoint, ("OTEL_TRACES_EXPORTER", "none")],
        ] {
            assert!(matches!(read(variables), Ok(None)), "{variables:?}");
        }
    }

    #[test]
    fn standard_variables_are_supported() {
        let plain = read(&[(ENDPOINT, "http://collector:4318/")]).unwrap().unwrap();
        assert_eq!(plain.endpoint, "http://collector:4318/v1/traces");
        assert_eq!(plain.sampling, Sampling { ratio: 1.0, follows_parent: true });
        assert_eq!(plain.timeout, Duration::from_secs(10));
        let attribute = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            plain.resource,
            [attribute("service.name", "stoker-server"), attribute("service.version", "1.2.3")]
        );
        let all = read(&[
            (ENDPOINT, "nonsense that the next one replaces"),
            (TRACES_ENDPOINT, "https://collector/otlp"),
            (HEADERS, "api-key=a%20b%2Cc==, other = x+y"),
            ("OTEL_SERVICE_NAME", "deploy"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=no,region=west"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/etc/ca.pem"),
            (SAMPLER, "traceidratio"),
            (SAMPLER_ARG, "0.25"),
        ]);
        let all = all.unwrap().unwrap();
        assert_eq!(all.endpoint, "https://collector/otlp");
        let headers: Vec<_> =
            all.headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        assert_eq!(headers, [("api-key", "a b,c=="), ("other", "x+y")]);
        assert_eq!(
            all.resource,
            [
                attribute("region", "west"),
                attribute("service.name", "deploy"),
                attribute("service.version", "1.2.3")
            ]
        );
        assert_eq!(
            (all.timeout, all.ca_file),
            (Duration::from_millis(250), Some(PathBuf::from("/etc/ca.pem")))
        );
        assert_eq!(all.sampling, Sampling { ratio: 0.25, follows_parent: false });
    }

    #[test]
    fn all_errors_are_reported_without_secrets() {
        let problems = read(&[
            (ENDPOINT, "collector:4318"),
            (HEADERS, "hunter2"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
            (SAMPLER, "sometimes"),
        ]);
        let problems = problems.unwrap_err();
        assert_eq!(problems.len(), 5, "{problems:?}");
        assert!(problems.iter().all(|problem| !problem.to_string().contains("hunter2")));
        for (name, value) in [
            (HEADERS, "a=%zz"),
            (HEADERS, "a=%2"),
            (HEADERS, "a=%0d%0ax"),
            (HEADERS, "a b=c"),
            (HEADERS, "=c"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
            (SAMPLER_ARG, "2"),
            (ENDPOINT, "http:///x"),
        ] {
            let endpoint = (ENDPOINT, "http://c:1");
            let problems = read(&[(name, value), endpoint, (SAMPLER, "traceidratio")]).unwrap_err();
            assert_eq!(problems.len(), 1, "{name}={value}");
        }
        assert!(
            !format!("{:?}", read(&[(ENDPOINT, "http://c:1"), (HEADERS, "k=hunter2")])).contains("hunter2")
        );
    }
}
