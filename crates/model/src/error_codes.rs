//! Codes of rejections that clients act on. Over REST they are `errors[].code`; texts may change, codes do not.

pub mod codes {
    /// A section of the settings of a cluster is locked after its first deployment.
    pub const CLUSTER_LOCKED: &str = "cluster-locked";
    /// A plugin that is not hot-pluggable cannot be switched in a deployed cluster.
    pub const NOT_HOT_PLUGGABLE: &str = "plugin-not-hot-pluggable";
    /// No version of the plugin supports the release and mode of the cluster.
    pub const PLUGIN_UNSUPPORTED: &str = "plugin-unsupported";
    /// The requested version of the plugin does not support the release and mode of the cluster.
    pub const PLUGIN_VERSION: &str = "plugin-version";
    /// The state of the release is `unavailable`, so clusters cannot use it.
    pub const RELEASE_UNAVAILABLE: &str = "release-unavailable";
    /// The plugin has legacy tasks, which the settings of the cluster exclude from deployments.
    pub const LEGACY_TASKS: &str = "plugin-legacy-tasks";
}
