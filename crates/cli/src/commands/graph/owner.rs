//! Arguments that select a graph: its owner, or layers of a cluster.

use std::fmt;

use stoker_client::encode_segment;

use crate::exit::{Failure, Outcome};

pub(super) const DEFAULT_TYPE: &str = "default";

/// Owner of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Cluster(i64),
    Release(i64),
    Plugin(i64),
}

impl Owner {
    /// Returns the API path of the graph of this type.
    pub(super) fn graph_path(self, graph_type: &str) -> String {
        let (collection, id) = match self {
            Self::Cluster(id) => ("clusters", id),
            Self::Release(id) => ("releases", id),
            Self::Plugin(id) => ("plugins", id),
        };
        format!("{collection}/{id}/deployment_graphs/{}", encode_segment(graph_type))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster(id) => write!(f, "cluster {id}"),
            Self::Release(id) => write!(f, "release {id}"),
            Self::Plugin(id) => write!(f, "plugin {id}"),
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct OwnerArgs {
    /// Cluster ID; selects the graph in the cluster layer
    #[arg(long, short, value_name = "ID", visible_alias = "env-id", conflicts_with_all = ["release", "plugin"])]
    env: Option<i64>,

    /// Select the cluster layer (implied by `--env`)
    #[arg(long, requires = "env")]
    cluster: bool,

    /// Release ID; selects the graph of this release
    #[arg(long, short, value_name = "ID", conflicts_with = "plugin")]
    release: Option<i64>,

    /// Plugin ID; selects the graph of this plugin
    #[arg(long, short, value_name = "ID")]
    plugin: Option<i64>,
}

impl OwnerArgs {
    pub(super) fn owner(&self) -> Outcome<Owner> {
        self.optional_owner().ok_or_else(|| {
            Failure::usage("no graph selected", "pass `--env ID`, `--release ID` or `--plugin ID`")
        })
    }

    pub(super) fn optional_owner(&self) -> Option<Owner> {
        let cluster = self.env.map(Owner::Cluster);
        cluster.or_else(|| self.release.map(Owner::Release)).or_else(|| self.plugin.map(Owner::Plugin))
    }
}

/// One owner, or layers of a cluster. With `--env`, the options `--release` and `--plugin` select layers and take no
/// value; without it they take the ID of an owner.
#[expect(clippy::option_option, reason = "an option without a value is not the same as none")]
#[derive(Debug, clap::Args)]
pub(super) struct LayerArgs {
    /// Cluster ID; selects the merged graph of this cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: Option<i64>,

    /// With `--env`: merge all layers (default if no layer is selected)
    #[arg(long, short, requires = "env")]
    all: bool,

    /// With `--env`: include the cluster layer
    #[arg(long, short, requires = "env")]
    cluster: bool,

    /// With `--env`: include the plugin layer
    #[arg(long, requires = "env")]
    plugins: bool,

    /// With `--env`: include the release layer; without `--env`: release ID
    #[arg(long, short, value_name = "ID", num_args = 0..=1)]
    release: Option<Option<i64>>,

    /// With `--env`: include the plugin layer; without `--env`: plugin ID
    #[arg(long, short, value_name = "ID", num_args = 0..=1)]
    plugin: Option<Option<i64>>,
}

/// The selected graph.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GraphTarget {
    /// Merged layers of a cluster; an empty list selects all layers.
    Layers {
        cluster: i64,
        layers: Vec<&'static str>,
    },
    Owner(Owner),
}

impl LayerArgs {
    /// Returns `None` if no option was passed.
    pub(super) fn target(&self) -> Outcome<Option<GraphTarget>> {
        match self.env {
            Some(cluster) => self.layers(cluster).map(Some),
            None => self.owner_target(),
        }
    }

    pub(super) fn required(&self) -> Outcome<GraphTarget> {
        self.target()?.ok_or_else(|| {
            Failure::usage("no graph selected", "pass `--env ID`, `--release ID` or `--plugin ID`")
        })
    }

    fn layers(&self, cluster: i64) -> Outcome<GraphTarget> {
        for (name, value) in [("--release", self.release), ("--plugin", self.plugin)] {
            if let Some(Some(id)) = value {
                let message =
                    format!("`{name} {id}`: with `--env`, this option selects a layer and takes no value");
                return Err(Failure::usage(message, "omit the value, or omit `--env`"));
            }
        }
        let options = [
            ("release", self.release.is_some()),
            ("cluster", self.cluster),
            ("plugins", self.plugins || self.plugin.is_some()),
        ];
        let layers: Vec<&'static str> =
            options.iter().filter(|(_, is_selected)| *is_selected).map(|(name, _)| *name).collect();
        if self.all && !layers.is_empty() {
            let message = format!("`--all` conflicts with `--{}`", layers.join("` and `--"));
            return Err(Failure::usage(message, "omit `--all` to select only these layers"));
        }
        Ok(GraphTarget::Layers { cluster, layers })
    }

    fn owner_target(&self) -> Outcome<Option<GraphTarget>> {
        let owner = match (self.release, self.plugin) {
            (None, None) => return Ok(None),
            (Some(Some(id)), None) => Owner::Release(id),
            (None, Some(Some(id))) => Owner::Plugin(id),
            (Some(_), Some(_)) => {
                return Err(Failure::usage(
                    "`--release` and `--plugin` select two different owners",
                    "omit one of them, or pass `--env` to select layers of a cluster",
                ));
            }
            _ => {
                let help = "pass an ID, or `--env ID` to select a layer of a cluster";
                return Err(Failure::usage("`--release` and `--plugin` need an ID without `--env`", help));
            }
        };
        Ok(Some(GraphTarget::Owner(owner)))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: LayerArgs,
    }

    fn target(line: &str) -> Result<Option<GraphTarget>, String> {
        let arguments = std::iter::once("x").chain(line.split_whitespace());
        let line = Line::try_parse_from(arguments).map_err(|error| error.kind().to_string())?;
        line.args.target().map_err(|failure| failure.diagnostics[0].message.clone())
    }

    #[test]
    fn layers_combine_and_owners_do_not() {
        let layers =
            |layers: &[&'static str]| Ok(Some(GraphTarget::Layers { cluster: 1, layers: layers.to_vec() }));
        assert_eq!(target("--env 1"), layers(&[]));
        assert_eq!(target("--env 1 --all"), layers(&[]));
        assert_eq!(target("--env 1 --cluster --release"), layers(&["release", "cluster"]));
        assert_eq!(target("--release --plugins --env 1"), layers(&["release", "plugins"]));
        assert_eq!(target("--env 1 --plugin"), layers(&["plugins"]));
        assert_eq!(target("--release 4"), Ok(Some(GraphTarget::Owner(Owner::Release(4)))));
        assert_eq!(target("--plugin 4"), Ok(Some(GraphTarget::Owner(Owner::Plugin(4)))));
        assert_eq!(target(""), Ok(None));
        for invalid in [
            "--cluster",
            "--release",
            "--env 1 --all --cluster",
            "--env 1 --all --release --plugin",
            "--env 1 --release 2",
            "--release 1 --plugin 2",
            "--env x",
        ] {
            assert!(target(invalid).is_err(), "{invalid}");
        }
    }
}
