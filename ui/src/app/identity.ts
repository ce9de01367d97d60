import { useQuery } from "@tanstack/react-query";
import { api, data } from "../api/client";
import { hasPermission, type Permission } from "./session";

export function useIdentity() {
  return useQuery({ queryKey: ["me"], queryFn: () => data(api.GET("/api/v1/users/me")), staleTime: 60_000 });
}

/** Whether the user has a permission. Controls that the server would reject are not rendered. */
export function usePermission(permission: Permission): boolean {
  return hasPermission(useIdentity().data, permission);
}
