-- Which repositories of plugins were brought to nodes is asked for each graph, and few tasks bring one.
CREATE INDEX successes_of_repositories ON successes (cluster_id, task_name, common_id)
    WHERE task_name LIKE '%-repository';
