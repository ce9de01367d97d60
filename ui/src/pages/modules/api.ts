// The modules API. The tenant `-` stands for the tenant of the token. The OpenAPI document does not type its
// responses, so their types are declared here.
import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";

export interface Module {
  id: string;
  name: string;
  type: string;
  description: string | null;
  tenant: string;
  datastore: string;
  datastore_version: string;
  auto_apply: boolean | number;
  priority_apply: boolean | number;
  apply_order: number;
  is_admin: boolean | number;
  visible: boolean | number;
  live_update?: boolean | number;
  instance_count?: number;
  md5: string;
  created: string;
  updated: string;
}

export interface Result {
  id: string;
  name: string;
  status: string;
  message: string | null;
  updated: string;
  md5: string;
}

export interface Instance {
  id: string;
  name: string;
  status: string;
}

const OWN_TENANT = { tenant: "-" };

export interface Release {
  name: string;
  versions: { name: string }[];
}

/** Releases, which the modules API calls datastores. */
export const releaseList = queryOptions({
  queryKey: ["modules", "releases"],
  queryFn: async () => ((await data(api.GET("/v1.0/{tenant}/datastores", { params: { path: OWN_TENANT } }))) as { datastores: Release[] }).datastores,
});

export const moduleList = queryOptions({
  queryKey: ["modules"],
  queryFn: async () => ((await data(api.GET("/v1.0/{tenant}/modules", { params: { path: OWN_TENANT } }))) as { modules: Module[] }).modules,
});

export const moduleShow = (id: string) =>
  queryOptions({
    queryKey: ["modules", id],
    queryFn: async () => ((await data(api.GET("/v1.0/{tenant}/modules/{id}", { params: { path: { ...OWN_TENANT, id } } }))) as { module: Module }).module,
  });

/** Maximum number of nodes whose results are fetched, with one request each. */
const RESULTS_MAX = 50;

export const moduleNodes = (id: string) =>
  queryOptions({
    queryKey: ["modules", id, "nodes"],
    queryFn: async (): Promise<{ total: number; entries: { instance: Instance; result?: Result }[] }> => {
      const response = (await data(api.GET("/v1.0/{tenant}/modules/{id}/instances", { params: { path: { ...OWN_TENANT, id } } }))) as { instances: Instance[] };
      const visible = response.instances.slice(0, RESULTS_MAX);
      const entries = await Promise.all(visible.map(async (instance) => ({ instance, result: (await resultsOf(instance.id)).find((result) => result.id === id) })));
      return { total: response.instances.length, entries };
    },
  });

export async function resultsOf(instance: string): Promise<Result[]> {
  const response = await data(api.GET("/v1.0/{tenant}/instances/{id}/modules", { params: { path: { ...OWN_TENANT, id: instance } } }));
  return (response as { modules: Result[] }).modules;
}

export async function save(id: string | undefined, module: Record<string, unknown>): Promise<Module> {
  const body = { module } as never;
  const response = id
    ? await data(api.PUT("/v1.0/{tenant}/modules/{id}", { params: { path: { ...OWN_TENANT, id } }, body }))
    : await data(api.POST("/v1.0/{tenant}/modules", { params: { path: OWN_TENANT }, body }));
  return (response as { module: Module }).module;
}

export async function remove(id: string): Promise<void> {
  await data(api.DELETE("/v1.0/{tenant}/modules/{id}", { params: { path: { ...OWN_TENANT, id } } }));
}

export async function apply(instance: string, id: string): Promise<Result[]> {
  const body = { modules: [{ id }] } as never;
  const response = await data(api.POST("/v1.0/{tenant}/instances/{id}/modules", { params: { path: { ...OWN_TENANT, id: instance } }, body }));
  return (response as { modules: Result[] }).modules;
}

export async function removeFromNode(instance: string, module: string): Promise<void> {
  await data(api.DELETE("/v1.0/{tenant}/instances/{id}/modules/{module}", { params: { path: { ...OWN_TENANT, id: instance, module } } }));
}
