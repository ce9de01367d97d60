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
