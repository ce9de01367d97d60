import { useQuery } from "@tanstack/react-query";
import { useIdentity } from "../../app/identity";
import { hasPermission } from "../../app/session";
import { LoadingRows } from "../../components/Loading";
import { EmptyState, PageHead } from "../../components/PageHead";
import { Panel } from "../../components/Panel";
import { Problem } from "../../components/Problem";
import { Time } from "../../components/Time";
import { sortByApplication } from "../../lib/modules";
import { useParam } from "../../lib/params";
import { moduleList, moduleShow } from "./api";
import { ModulePanel } from "./ModulePanel";

/** Modules in order of application. */
export default function Modules() {
  const modules = useQuery(moduleList);
  const identity = useIdentity().data;
  const [selected, setSelected] = useParam("module", "");
  const [search, setSearch] = useParam("q", "");
  const canWrite = hasPermission(identity, "operate") || identity?.roles.includes("member") === true;
  const matchingModules = sortByApplication(modules.data ?? []).filter((module) => `${module.name} ${module.type} ${module.description ?? ""}`.toLowerCase().includes(search.toLowerCase()));
  const isOpen = selected !== "";
  return (
    <div className="page full">
      <PageHead title="Modules" aside={<span className="muted">licences, agents and settings applied to nodes</span>}>
        {canWrite && (
          <button type="button" className="button primary" onClick={() => setSelected("new")}>
            Create module…
          </button>
        )}
      </PageHead>
      <div className="toolbar">
        <input type="search" aria-label="Search modules" placeholder="Search modules" value={search} onChange={(event) => setSearch(event.target.value)} />
        <span className="muted">In order of application: priority first, then 0 to 9.</span>
      </div>
      {modules.isPending && <LoadingRows />}
      {modules.isError && <Problem error={modules.error} retry={() => void modules.refetch()} />}
      <div className={`withpanel${isOpen ? " open" : ""}`}>
        {modules.isSuccess && matchingModules.length === 0 ? (
          <EmptyState title={search ? `No modules match “${search}”` : "No modules yet"}>{search ? "Change or clear the search above." : "A module has a type and contents. Select Create module… to add one."}</EmptyState>
        ) : (
          <div className="tablewrap" style={{ overflow: "auto" }}>
            <table aria-label="Modules">
              <thead>
                <tr>
                  <th className="num">Order</th>
                  <th>Module</th>
                  <th>Type</th>
                  <th>Scope</th>
                  <th>Options</th>
                  <th>Updated</th>
                </tr>
              </thead>
              <tbody>
                {matchingModules.map((module) => (
                  <tr key={module.id} className={module.id === selected ? "current" : ""}>
                    <td className="num">
                      {module.priority_apply ? <strong title="Applied before modules without priority">priority, </strong> : ""}
                      {module.apply_order}
                    </td>
                    <td>
                      <button type="button" className="button link" onClick={() => setSelected(module.id)}>
                        {module.name}
                      </button>
                    </td>
                    <td>{module.type}</td>
                    <td>
                      {module.datastore === "all" ? "all releases" : `${module.datastore} ${module.datastore_version === "all" ? "(all versions)" : module.datastore_version}`}
                      {module.tenant === "all" && ", all tenants"}
                    </td>
                    <td>
                      <span className="row">
                        {Boolean(module.is_admin) && <span className="chip">admin</span>}
                        {Boolean(module.auto_apply) && <span className="chip">auto-apply</span>}
                        {!module.visible && <span className="chip">hidden</span>}
                      </span>
                    </td>
                    <td>
                      <Time at={module.updated} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {isOpen && <SelectedModule key={selected} id={selected} canWrite={canWrite} isAdmin={hasPermission(identity, "admin")} select={setSelected} />}
      </div>
    </div>
  );
}

/** Fetches the module for its panel, because the list does not include all attributes. */
function SelectedModule({ id, ...rest }: { id: string; canWrite: boolean; isAdmin: boolean; select: (id: string) => void }) {
  const isNew = id === "new";
  const module = useQuery({ ...moduleShow(id), enabled: !isNew });
  if (isNew) return <ModulePanel {...rest} />;
  if (module.data) return <ModulePanel key={module.data.updated} module={module.data} {...rest} />;
  return (
    <Panel title="Module" close={() => rest.select("")}>
      {module.isError ? <Problem error={module.error} retry={() => void module.refetch()} /> : <LoadingRows rows={4} />}
    </Panel>
  );
}
