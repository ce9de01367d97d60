import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { HistoryRow } from "../../lib/gantt";

/** History records of a child run that match the query. */
export const historyOf = (childRunId: number, query: { nodes?: string; statuses?: string; tasks_names?: string; include_summary?: string }) =>
  queryOptions({
    queryKey: ["runs", "by-id", childRunId, "history", query],
    queryFn: async () =>
      (await data(api.GET("/api/v1/transactions/{id}/deployment_history", { params: { path: { id: childRunId }, query } }))) as unknown as HistoryRow[],
  });
