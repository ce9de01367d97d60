-- Changes that an attempt made on its host. `changed` is NULL if the task type does not report changes.
ALTER TABLE run_history ADD COLUMN changed INTEGER;
ALTER TABLE run_history ADD COLUMN diff TEXT NOT NULL DEFAULT '[]';
