-- Size options of an instance of the module API, as requested: `flavorRef` and `volume`.
ALTER TABLE nodes ADD COLUMN instance_options TEXT NOT NULL DEFAULT '{}';
