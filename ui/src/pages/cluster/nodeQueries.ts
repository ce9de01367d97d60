import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";

export const nodesOf = (clusterId: number) =>
  queryOptions({
    queryKey: ["nodes", clusterId],
    queryFn: () => data(api.GET("/api/v1/nodes", { params: { query: { cluster_id: String(clusterId) } } })),
  });

/** Nodes that belong to no cluster. */
export const freeNodes = queryOptions({
  queryKey: ["nodes", "free"],
  queryFn: () => data(api.GET("/api/v1/nodes", { params: { query: { cluster_id: "" } } })),
});
