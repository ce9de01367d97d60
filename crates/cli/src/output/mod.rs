//! Serializers of YAQL values: JSON and YAML.

mod yaml;

use clap::ValueEnum;
use stoker_yaql::json::{self, WriteOptions};
use stoker_yaql::{Options, Result, Value};

/// Output format of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Json,
    Yaml,
}

/// Serializes a result. Types that the format lacks are tagged with `$yaql`.
pub(crate) fn to_text(value: &Value, format: Format, options: &Options) -> Result<String> {
    match format {
        Format::Json => {
            let tuples_as_arrays = options.convert_tuples_to_lists;
            let options =
                WriteOptions { indent: Some(2), ascii: false, tuples_as_arrays, ..WriteOptions::default() };
            json::write(value, &options)
        }
        Format::Yaml => yaml::to_yaml(value, options),
    }
}
