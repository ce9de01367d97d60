-- Line numbers of tasks and their fields in the uploaded file, as JSON by task and field.
CREATE TABLE deployment_graph_sources (
    deployment_graph_id BIGINT PRIMARY KEY CONSTRAINT deployment_graph_sources_graph
        REFERENCES deployment_graphs (id) ON DELETE CASCADE,
    file TEXT COLLATE "C",
    lines TEXT COLLATE "C" NOT NULL
);

-- Partial index: each client that opens a run queries whether it is paused, and few runs ever are.
CREATE INDEX run_events_of_pauses ON run_events (run_id, seq) WHERE kind IN ('paused', 'resumed');
