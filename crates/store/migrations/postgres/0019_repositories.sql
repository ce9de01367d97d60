-- Partial index: each planned graph looks up the plugin repositories on nodes, and few tasks set one up.
CREATE INDEX successes_of_repositories ON successes (cluster_id, task_name, common_id)
    WHERE task_name LIKE '%-repository';
