import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";

/** Merged tasks of a cluster with the provenance of their attributes. `layers` limits the layers to merge. */
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

/**
 * Tasks of some layers in their current version (`release,cluster`), or of all layers as of a plan
 * (`plan:7`).
 */
export const tasksAt = (clusterId: number, graphType: string, source: string) => {
  const plan = /^plan:(\d+)$/.exec(source)?.[1];
  if (plan === undefined) return mergedTasks(clusterId, graphType, source);
  return queryOptions({
    queryKey: ["graph", clusterId, graphType, source],
    queryFn: () => data(api.GET("/api/v1/plans/{id}/tasks", { params: { path: { id: Number(plan) } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
};
