import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";

/** The merged tasks of a cluster, with who set what. */
export const mergedTasks = (clusterId: number, graphType: string, layers = "") =>
  queryOptions({
    queryKey: ["graph", clusterId, graphType, layers],
    queryFn: () =>
      data(
        api.GET("/api/v1/clusters/{id}/deployment_tasks", {
          params: {
            path: { id: clusterId },
            query: { graph_type: graphType, provenance: "1", ...(layers && { layers }) },
          },
        }),
      ),
  });

/** Some layers as they are now (`release,cluster`), or all of them as a plan has them (`plan:7`). */
export const tasksAt = (clusterId: number, graphType: string, at: string) => {
  const plan = /^plan:(\d+)$/.exec(at)?.[1];
  if (plan === undefined) return mergedTasks(clusterId, graphType, at);
  return queryOptions({
    queryKey: ["graph", clusterId, graphType, at],
    queryFn: () => data(api.GET("/api/v1/plans/{id}/tasks", { params: { path: { id: Number(plan) } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
};
