// The API of modules: `-` in place of a tenant means that of the token. Its answers are wrapped and are not typed by the
// document, so that their shapes are written down here.
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

const own = { tenant: "-" };

export const moduleList = queryOptions({
  queryKey: ["modules"],
  queryFn: async () => ((await data(api.GET("/v1.0/{tenant}/modules", { params: { path: own } }))) as { modules: Module[] }).modules,
});

export const moduleShow = (id: string) =>
  queryOptions({
    queryKey: ["modules", id],
    queryFn: async () => ((await data(api.GET("/v1.0/{tenant}/modules/{id}", { params: { path: { ...own, id } } }))) as { module: Module }).module,
  });

/** What became of it is asked of so many nodes, each by itself. */
const CARRIERS = 50;

export const carriers = (id: string) =>
  queryOptions({
    queryKey: ["modules", id, "carriers"],
    queryFn: async (): Promise<{ total: number; shown: { instance: Instance; result?: Result }[] }> => {
      const found = (await data(api.GET("/v1.0/{tenant}/modules/{id}/instances", { params: { path: { ...own, id } } }))) as { instances: Instance[] };
      const asked = found.instances.slice(0, CARRIERS);
      const shown = await Promise.all(asked.map(async (instance) => ({ instance, result: (await resultsOf(instance.id)).find((one) => one.id === id) })));
      return { total: found.instances.length, shown };
    },
  });

export async function resultsOf(instance: string): Promise<Result[]> {
  const answer = await data(api.GET("/v1.0/{tenant}/instances/{id}/modules", { params: { path: { ...own, id: instance } } }));
  return (answer as { modules: Result[] }).modules;
}

export async function save(id: string | undefined, module: Record<string, unknown>): Promise<Module> {
  const body = { module } as never;
  const answer = id
    ? await data(api.PUT("/v1.0/{tenant}/modules/{id}", { params: { path: { ...own, id } }, body }))
    : await data(api.POST("/v1.0/{tenant}/modules", { params: { path: own }, body }));
  return (answer as { module: Module }).module;
}

export async function remove(id: string): Promise<void> {
  await data(api.DELETE("/v1.0/{tenant}/modules/{id}", { params: { path: { ...own, id } } }));
}

export async function apply(instance: string, id: string): Promise<Result[]> {
  const body = { modules: [{ id }] } as never;
  const answer = await data(api.POST("/v1.0/{tenant}/instances/{id}/modules", { params: { path: { ...own, id: instance } }, body }));
  return (answer as { modules: Result[] }).modules;
}

export async function takeOff(instance: string, module: string): Promise<void> {
  await data(api.DELETE("/v1.0/{tenant}/instances/{id}/modules/{module}", { params: { path: { ...own, id: instance, module } } }));
}
