import type { ReactNode } from "react";
import { ApiFailure, type Schemas } from "../../api/client";
import { Problem } from "../../components/Problem";
import { MessageText } from "../../components/MessageText";
import { count } from "../../lib/format";
import { graphChanges, pluginChange, settingChange, settingValue } from "../../lib/releaseMove";

/** What changes when a cluster moves to another release, and why the change is refused. */
export function ReleaseChanges({ changes }: { changes: Schemas["ReleaseMove"] }) {
  const { errors, graphs, settings, roles, plugins, warnings } = changes;
  const nRoles = roles.added.length + roles.removed.length;
  return (
    <div className="stack" role="group" aria-label="Preview">
      {errors.length > 0 && <Problem title="Not possible" error={new ApiFailure(409, count(errors.length, "reason"), errors)} />}
      <Section title="Tasks" isEmpty={graphs.length === 0}>
        {graphs.map((graph) => (
          <div key={graph.type} className="stack tight">
            <span className="muted">Graph {graph.type}</span>
            {graphChanges(graph).map(({ title, tasks }) => (
              <details key={title} open={tasks.length <= 12}>
                <summary>
                  {title}: {count(tasks.length, "task")}
                </summary>
                <ul className="scrolling">
                  {tasks.map((task) => (
                    <li key={task.id}>
                      <code>{task.id}</code>
                      {task.fields && <span className="muted"> {task.fields}</span>}
                    </li>
                  ))}
                </ul>
              </details>
            ))}
          </div>
        ))}
      </Section>
      <Section title="Settings" isEmpty={settings.length === 0}>
        <div className="tablewrap scrolling">
          <table aria-label="Settings that change">
            <thead>
              <tr>
                <th>Setting</th>
                <th>Old</th>
                <th>New</th>
                <th>Change</th>
              </tr>
            </thead>
            <tbody>
              {settings.map((setting) => (
                <tr key={setting.path}>
                  <td className="mono">{setting.path}</td>
                  <td className="mono">{settingValue(setting.old)}</td>
                  <td className="mono">{settingValue(setting.new)}</td>
                  <td className="muted">{settingChange(setting)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Section>
      <Section title="Roles" isEmpty={nRoles === 0}>
        {roles.added.length > 0 && <p>Added: {roles.added.join(", ")}</p>}
        {roles.removed.length > 0 && <p>Removed: {roles.removed.join(", ")}</p>}
      </Section>
      <Section title="Plugins" isEmpty={plugins.length === 0}>
        <ul className="stack tight">
          {plugins.map((plugin) => (
            <li key={`${plugin.name} ${plugin.version}`}>
              {plugin.name} {plugin.version}: <span className="muted">{pluginChange(plugin)}</span>
            </li>
          ))}
        </ul>
      </Section>
      {warnings.length > 0 && (
        <ul className="problem warning scrolling" aria-label="Warnings">
          {warnings.map((warning, index) => (
            <li key={index}>
              <MessageText text={warning.message} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Section({ title, isEmpty, children }: { title: string; isEmpty: boolean; children: ReactNode }) {
  return (
    <section className="stack tight" aria-label={title}>
      <h3>{title}</h3>
      {isEmpty ? <p className="muted">No changes</p> : children}
    </section>
  );
}
