-- Dashboard links; each belongs to a cluster or to a plugin.
CREATE TABLE links (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    cluster_id INTEGER CONSTRAINT links_cluster REFERENCES clusters (id) ON DELETE CASCADE,
    plugin_id INTEGER CONSTRAINT links_plugin REFERENCES plugins (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    description TEXT,
    hidden INTEGER NOT NULL,
    CONSTRAINT links_cluster_url UNIQUE (cluster_id, url),
    CONSTRAINT links_plugin_url UNIQUE (plugin_id, url),
    CONSTRAINT links_owner CHECK ((cluster_id IS NULL) <> (plugin_id IS NULL))
) STRICT;
