-- Changes that an attempt made on its host. `changed` is NULL if the task type does not report changes.
ALTER TABLE run_history ADD COLUMN changed BOOLEAN;
ALTER TABLE run_history ADD COLUMN diff TEXT COLLATE "C" NOT NULL DEFAULT '[]';
