-- Where tasks stand in the file that a graph was uploaded from: lines as JSON, by task and field.
CREATE TABLE deployment_graph_sources (
    deployment_graph_id BIGINT PRIMARY KEY CONSTRAINT deployment_graph_sources_graph
        REFERENCES deployment_graphs (id) ON DELETE CASCADE,
    file TEXT COLLATE "C",
    lines TEXT COLLATE "C" NOT NULL
);

-- Whether a run is paused is asked by everybody who begins to look at it, and most runs never are.
CREATE INDEX run_events_of_pauses ON run_events (run_id, seq) WHERE kind IN ('paused', 'resumed');
