import { useQuery } from "@tanstack/react-query";
import { api, data } from "../api/client";
import { may, type Permission } from "./session";

export function useIdentity() {
  return useQuery({ queryKey: ["me"], queryFn: () => data(api.GET("/api/v1/users/me")), staleTime: 60_000 });
}

/** Whether a control would be refused; it is not shown then. */
export function useMay(permission: Permission): boolean {
  return may(useIdentity().data, permission);
}
