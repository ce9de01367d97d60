-- What an attempt changed on its host. `changed` is NULL if the task type cannot tell.
ALTER TABLE run_history ADD COLUMN changed INTEGER;
ALTER TABLE run_history ADD COLUMN diff TEXT NOT NULL DEFAULT '[]';
