import { QueryClient } from "@tanstack/react-query";
import { asFailure } from "../api/client";
import { connection } from "./connection";

/** What was read stays on the page while it is read again; only what may pass is tried again. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      retry: (n, error) => asFailure(error).status === 503 && n < 2,
      refetchOnWindowFocus: true,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

connection.onFound(() => void queries.invalidateQueries());
