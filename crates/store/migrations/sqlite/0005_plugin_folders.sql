-- Directories of plugins, relative to the plugin root. A plugin without a row has metadata only and no files.
CREATE TABLE plugin_folders (
    plugin_id INTEGER PRIMARY KEY CONSTRAINT plugin_folders_plugin REFERENCES plugins (id) ON DELETE CASCADE,
    folder TEXT NOT NULL,
    CONSTRAINT plugin_folders_folder UNIQUE (folder)
) STRICT;
