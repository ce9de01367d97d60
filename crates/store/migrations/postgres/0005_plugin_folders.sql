-- Plugins whose files are below the root of plugins: the name of the folder of each. Others were only described.
CREATE TABLE plugin_folders (
    plugin_id BIGINT PRIMARY KEY CONSTRAINT plugin_folders_plugin REFERENCES plugins (id) ON DELETE CASCADE,
    folder TEXT COLLATE "C" NOT NULL,
    CONSTRAINT plugin_folders_folder UNIQUE (folder)
);
