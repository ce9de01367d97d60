import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data, page } from "../../api/client";
import { nodeQuery, type NodeFilter } from "../../lib/nodes";

/** So many are asked for at a time. */
export const NODE_PAGE = 100;

/** One page of what a filter leaves, and how many there are. */
export const nodePage = (filter: NodeFilter, number: number) =>
  queryOptions({
    queryKey: ["nodes", "page", filter, number],
    queryFn: () =>
      page(api.GET("/api/v1/nodes", { params: { query: { ...nodeQuery(filter), order_by: "id", limit: NODE_PAGE, ...(number > 0 && { offset: number * NODE_PAGE }) } } })),
    placeholderData: keepPreviousData,
  });

/** Everything that a filter leaves, for whoever ticks it all. */
export const allNodes = (filter: NodeFilter) =>
  queryOptions({
    queryKey: ["nodes", "all", filter],
    queryFn: () => data(api.GET("/api/v1/nodes", { params: { query: { ...nodeQuery(filter), order_by: "id" } } })),
  });

/** How many there are of each kind, in a cluster or in none. */
export const nodeKinds = (cluster: number | "") =>
  queryOptions({
    queryKey: ["nodes", "kinds", cluster],
    queryFn: async () => (await data(api.GET("/api/v1/nodes/allocation/stats", { params: { query: { details: true, cluster_id: String(cluster) } } }))).details ?? undefined,
  });
