// The modules API. The tenant `-` stands for the tenant of the token.
import { queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";

export type Module = Schemas["Module"];
export type Result = Schemas["ModuleResult"];
export type Release = Schemas["Datastore"];
type Instance = Schemas["ModuleInstance"];

const OWN_TENANT = { tenant: "-" };

/** Releases, which the modules API calls datastores. */
export const releaseList = queryOptions({
  queryKey: ["modules", "releases"],
  queryFn: async () => (await data(api.GET("/v1.0/{tenant}/datastores", { params: { path: OWN_TENANT } }))).datastores,
});

export const moduleList = queryOptions({
  queryKey: ["modules"],
  queryFn: async () => (await data(api.GET("/v1.0/{tenant}/modules", { params: { path: OWN_TENANT } }))).modules,
});

export const moduleShow = (id: string) =>
  queryOptions({
    queryKey: ["modules", id],
    queryFn: async () => (await data(api.GET("/v1.0/{tenant}/modules/{id}", { params: { path: { ...OWN_TENANT, id } } }))).module,
  });

/** Maximum number of nodes whose results are fetched, with one request each. */
const RESULTS_MAX = 50;

export const moduleNodes = (id: string) =>
  queryOptions({
    queryKey: ["modules", id, "nodes"],
    queryFn: async (): Promise<{ total: number; entries: { instance: Instance; result?: Result }[] }> => {
      const response = await data(api.GET("/v1.0/{tenant}/modules/{id}/instances", { params: { path: { ...OWN_TENANT, id } } }));
      // Without `count_only`, all entries are instances.
      const instances = response.instances.filter((row): row is Instance => "id" in row);
      const visible = instances.slice(0, RESULTS_MAX);
      const entries = await Promise.all(visible.map(async (instance) => ({ instance, result: (await resultsOf(instance.id)).find((result) => result.id === id) })));
      return { total: instances.length, entries };
    },
  });

export async function resultsOf(instance: string): Promise<Result[]> {
  const response = await data(api.GET("/v1.0/{tenant}/instances/{id}/modules", { params: { path: { ...OWN_TENANT, id: instance } } }));
  return response.modules;
}

export async function save(id: string | undefined, module: Record<string, unknown>): Promise<Module> {
  const body = { module } as never;
  const response = id
    ? await data(api.PUT("/v1.0/{tenant}/modules/{id}", { params: { path: { ...OWN_TENANT, id } }, body }))
    : await data(api.POST("/v1.0/{tenant}/modules", { params: { path: OWN_TENANT }, body }));
  return response.module;
}

export async function remove(id: string): Promise<void> {
  await data(api.DELETE("/v1.0/{tenant}/modules/{id}", { params: { path: { ...OWN_TENANT, id } } }));
}

export async function apply(instance: string, id: string): Promise<Result[]> {
  const body = { modules: [{ id }] } as never;
  const response = await data(api.POST("/v1.0/{tenant}/instances/{id}/modules", { params: { path: { ...OWN_TENANT, id: instance } }, body }));
  return response.modules;
}

export async function removeFromNode(instance: string, module: string): Promise<void> {
  await data(api.DELETE("/v1.0/{tenant}/instances/{id}/modules/{module}", { params: { path: { ...OWN_TENANT, id: instance, module } } }));
}
