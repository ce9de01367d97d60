import { useQuery } from "@tanstack/react-query";
import { useIdentity } from "../../app/identity";
import { may } from "../../app/session";
import { LoadingRows } from "../../components/Loading";
import { Empty, PageHead } from "../../components/PageHead";
import { Panel } from "../../components/Panel";
import { Problem } from "../../components/Problem";
import { Time } from "../../components/Time";
import { inOrder } from "../../lib/modules";
import { useParam } from "../../lib/params";
import { moduleList, moduleShow } from "./api";
import { ModulePanel } from "./ModulePanel";

/** Payloads for nodes, in the order in which they are applied. */
export default function Modules() {
  const modules = useQuery(moduleList);
  const identity = useIdentity().data;
  const [chosen, setChosen] = useParam("module", "");
  const [search, setSearch] = useParam("q", "");
  const mayWrite = may(identity, "operate") || identity?.roles.includes("member") === true;
  const shown = inOrder(modules.data ?? []).filter((one) => `${one.name} ${one.type} ${one.description ?? ""}`.toLowerCase().includes(search.toLowerCase()));
  const isOpen = chosen !== "";
  return (
    <div className="page full">
      <PageHead title="Modules" aside={<span className="muted">licences, agents and settings that are applied to nodes</span>}>
        {mayWrite && (
          <button type="button" className="button primary" onClick={() => setChosen("new")}>
            New module
          </button>
        )}
      </PageHead>
      <div className="toolbar">
        <input type="search" aria-label="Search modules" placeholder="Search modules" value={search} onChange={(event) => setSearch(event.target.value)} />
        <span className="muted">In the order in which they are applied: priority first, then 0 to 9.</span>
      </div>
      {modules.isPending && <LoadingRows />}
      {modules.isError && <Problem error={modules.error} retry={() => void modules.refetch()} />}
      <div className={`withpanel${isOpen ? " open" : ""}`}>
        {modules.isSuccess && shown.length === 0 ? (
          <Empty title={search ? `No module matches “${search}”` : "No modules yet"}>A module has a type, which says how it is applied, and contents.</Empty>
        ) : (
          <div className="tablewrap" style={{ overflow: "auto" }}>
            <table aria-label="Modules">
              <thead>
                <tr>
                  <th className="num">Order</th>
                  <th>Module</th>
                  <th>Type</th>
                  <th>For</th>
                  <th>Options</th>
                  <th>Changed</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((one) => (
                  <tr key={one.id} className={one.id === chosen ? "current" : ""}>
                    <td className="num">
                      {one.priority_apply ? <strong title="applied before all others">priority, </strong> : ""}
                      {one.apply_order}
                    </td>
                    <td>
                      <button type="button" className="button link" onClick={() => setChosen(one.id)}>
                        {one.name}
                      </button>
                    </td>
                    <td>{one.type}</td>
                    <td>
                      {one.datastore === "all" ? "all releases" : `${one.datastore} ${one.datastore_version}`}
                      {one.tenant === "all" && ", all tenants"}
                    </td>
                    <td>
                      <span className="row">
                        {Boolean(one.is_admin) && <span className="chip">admin</span>}
                        {Boolean(one.auto_apply) && <span className="chip">applied by itself</span>}
                        {!one.visible && <span className="chip">hidden</span>}
                      </span>
                    </td>
                    <td>
                      <Time at={one.updated} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {isOpen && <ChosenModule key={chosen} id={chosen} mayWrite={mayWrite} isAdmin={may(identity, "admin")} choose={setChosen} />}
      </div>
    </div>
  );
}

/** A list does not say everything about a module. */
function ChosenModule({ id, ...rest }: { id: string; mayWrite: boolean; isAdmin: boolean; choose: (id: string) => void }) {
  const isNew = id === "new";
  const module = useQuery({ ...moduleShow(id), enabled: !isNew });
  if (isNew) return <ModulePanel {...rest} />;
  if (module.data) return <ModulePanel key={module.data.updated} module={module.data} {...rest} />;
  return (
    <Panel title="Module" close={() => rest.choose("")}>
      {module.isError ? <Problem error={module.error} retry={() => void module.refetch()} /> : <LoadingRows rows={4} />}
    </Panel>
  );
}
