import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data, page } from "../../api/client";
import { nodeQuery, type NodeFilter } from "../../lib/nodes";

/** Page size of node lists. */
export const NODE_PAGE = 100;

/** One page of matching nodes, and their total number. */
export const nodePage = (filter: NodeFilter, number: number) =>
  queryOptions({
    queryKey: ["nodes", "page", filter, number],
    queryFn: () =>
      page(api.GET("/api/v1/nodes", { params: { query: { ...nodeQuery(filter), order_by: "id", limit: NODE_PAGE, ...(number > 0 && { offset: number * NODE_PAGE }) } } })),
    placeholderData: keepPreviousData,
  });

/** All matching nodes, for "Select all". */
export const allNodes = (filter: NodeFilter) =>
  queryOptions({
    queryKey: ["nodes", "all", filter],
    queryFn: () => data(api.GET("/api/v1/nodes", { params: { query: { ...nodeQuery(filter), order_by: "id" } } })),
  });

/** Number of nodes by role, status and label, in a cluster or unassigned. */
export const nodeStats = (cluster: number | "") =>
  queryOptions({
    queryKey: ["nodes", "stats", cluster],
    queryFn: async () => (await data(api.GET("/api/v1/nodes/allocation/stats", { params: { query: { details: true, cluster_id: String(cluster) } } }))).details ?? undefined,
  });
