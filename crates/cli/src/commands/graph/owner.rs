//! Whose graph is meant, and which layers of a cluster.

use std::fmt;

use stoker_client::segment;

use crate::exit::{Failure, Outcome};

pub(super) const DEFAULT_TYPE: &str = "default";

/// Whom a graph belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Cluster(i64),
    Release(i64),
    Plugin(i64),
}

impl Owner {
    /// The address of its graph of a type.
    pub(super) fn graph_path(self, graph_type: &str) -> String {
        let (collection, id) = match self {
            Self::Cluster(id) => ("clusters", id),
            Self::Release(id) => ("releases", id),
            Self::Plugin(id) => ("plugins", id),
        };
        format!("{collection}/{id}/deployment_graphs/{}", segment(graph_type))
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

/// One owner: a cluster, a release or a plugin.
#[derive(Debug, clap::Args)]
pub(super) struct OwnerArgs {
    /// Of this cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id", conflicts_with_all = ["release", "plugin"])]
    env: Option<i64>,

    /// The cluster's own layer, which is meant anyway
    #[arg(long, requires = "env")]
    cluster: bool,

    /// Of this release
    #[arg(long, short, value_name = "ID", conflicts_with = "plugin")]
    release: Option<i64>,

    /// Of this plugin
    #[arg(long, short, value_name = "ID")]
    plugin: Option<i64>,
}

impl OwnerArgs {
    pub(super) fn owner(&self) -> Outcome<Owner> {
        self.maybe().ok_or_else(|| {
            Failure::usage("whose graph is it?", "add `--env ID`, `--release ID` or `--plugin ID`")
        })
    }

    pub(super) fn maybe(&self) -> Option<Owner> {
        let cluster = self.env.map(Owner::Cluster);
        cluster.or_else(|| self.release.map(Owner::Release)).or_else(|| self.plugin.map(Owner::Plugin))
    }
}

/// One owner, or any mix of the layers of a cluster. With `--env`, `--release` and `--plugin` are layers and take no
/// value; without it they name an owner.
#[expect(clippy::option_option, reason = "an option without a value is not the same as none")]
#[derive(Debug, clap::Args)]
pub(super) struct LayerArgs {
    /// Of this cluster; its layers can be chosen
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: Option<i64>,

    /// With --env: all layers, merged; the default
    #[arg(long, short, requires = "env")]
    all: bool,

    /// With --env: the layer of the cluster itself
    #[arg(long, short, requires = "env")]
    cluster: bool,

    /// With --env: the layer of its plugins
    #[arg(long, requires = "env")]
    plugins: bool,

    /// With --env: the layer of its release; else the release with this id
    #[arg(long, short, value_name = "ID", num_args = 0..=1)]
    release: Option<Option<i64>>,

    /// With --env: the layer of its plugins; else the plugin with this id
    #[arg(long, short, value_name = "ID", num_args = 0..=1)]
    plugin: Option<Option<i64>>,
}

/// What is meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Layers of a cluster, merged; none named means all.
    Layers {
        cluster: i64,
        layers: Vec<&'static str>,
    },
    Owner(Owner),
}

impl LayerArgs {
    /// Nothing if nobody is named.
    pub(super) fn place(&self) -> Outcome<Option<Place>> {
        match self.env {
            Some(cluster) => self.layers(cluster).map(Some),
            None => self.single(),
        }
    }

    pub(super) fn required(&self) -> Outcome<Place> {
        self.place()?.ok_or_else(|| {
            Failure::usage("whose graph is it?", "add `--env ID`, `--release ID` or `--plugin ID`")
        })
    }

    fn layers(&self, cluster: i64) -> Outcome<Place> {
        for (name, value) in [("--release", self.release), ("--plugin", self.plugin)] {
            if let Some(Some(id)) = value {
                let message = format!("with `--env`, `{name}` is a layer and takes no value, such as {id}");
                return Err(Failure::usage(message, "leave out the value, or `--env`"));
            }
        }
        let chosen = [
            ("release", self.release.is_some()),
            ("cluster", self.cluster),
            ("plugins", self.plugins || self.plugin.is_some()),
        ];
        let layers: Vec<&'static str> =
            chosen.iter().filter(|(_, is_chosen)| *is_chosen).map(|(name, _)| *name).collect();
        if self.all && !layers.is_empty() {
            let message = format!("`--all` is every layer, also `--{}`", layers.join("` and `--"));
            return Err(Failure::usage(
                message,
                "leave out `--all` to have these layers only, or leave them out",
            ));
        }
        Ok(Place::Layers { cluster, layers })
    }

    fn single(&self) -> Outcome<Option<Place>> {
        let owner = match (self.release, self.plugin) {
            (None, None) => return Ok(None),
            (Some(Some(id)), None) => Owner::Release(id),
            (None, Some(Some(id))) => Owner::Plugin(id),
            (Some(_), Some(_)) => {
                return Err(Failure::usage(
                    "`--release` and `--plugin` are two owners",
                    "leave out one of them, or add `--env` to see both as layers of a cluster",
                ));
            }
            _ => {
                let help = "add it, or `--env ID` to choose a layer of a cluster";
                return Err(Failure::usage("without `--env` this needs an id", help));
            }
        };
        Ok(Some(Place::Owner(owner)))
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

    fn place(line: &str) -> Result<Option<Place>, String> {
        let words = std::iter::once("x").chain(line.split_whitespace());
        let line = Line::try_parse_from(words).map_err(|error| error.kind().to_string())?;
        line.args.place().map_err(|failure| failure.diagnostics[0].message.clone())
    }

    #[test]
    fn layers_combine_and_owners_do_not() {
        let layers =
            |layers: &[&'static str]| Ok(Some(Place::Layers { cluster: 1, layers: layers.to_vec() }));
        assert_eq!(place("--env 1"), layers(&[]));
        assert_eq!(place("--env 1 --all"), layers(&[]));
        assert_eq!(place("--env 1 --cluster --release"), layers(&["release", "cluster"]));
        assert_eq!(place("--release --plugins --env 1"), layers(&["release", "plugins"]));
        assert_eq!(place("--env 1 --plugin"), layers(&["plugins"]));
        assert_eq!(place("--release 4"), Ok(Some(Place::Owner(Owner::Release(4)))));
        assert_eq!(place("--plugin 4"), Ok(Some(Place::Owner(Owner::Plugin(4)))));
        assert_eq!(place(""), Ok(None));
        for wrong in [
            "--cluster",
            "--release",
            "--env 1 --all --cluster",
            "--env 1 --all --release --plugin",
            "--env 1 --release 2",
            "--release 1 --plugin 2",
            "--env x",
        ] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }
}
