import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { safeUrl } from "../../lib/links";

/** Links of the cluster and of its enabled plugins, such as dashboards. */
export function Links({ clusterId }: { clusterId: number }) {
  const links = useQuery({ queryKey: ["clusters", clusterId, "links"], queryFn: () => linksOf(clusterId) });
  if (!links.data || links.data.length === 0) return null;
  return (
    <section className="card" aria-labelledby="links">
      <h2 id="links">Links</h2>
      <ul className="plain stack tight">
        {links.data.map((link) => {
          const url = safeUrl(link.url);
          return (
            <li key={`${link.from} ${link.id}`}>
              <span className="row">
                {url ? (
                  <a href={url} target="_blank" rel="noreferrer">
                    {link.title}
                  </a>
                ) : (
                  <span title="Link disabled: only HTTP URLs and local paths are allowed">{link.title}</span>
                )}
                {link.from && <span className="chip">{link.from}</span>}
              </span>
              {link.description && <div className="muted small-text">{link.description}</div>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

interface ClusterLink {
  id: number;
  title: string;
  url: string;
  description?: string | null;
  /** Title of the plugin that the link belongs to; undefined for links of the cluster. */
  from?: string;
}

async function linksOf(id: number): Promise<ClusterLink[]> {
  const [own, attributes, plugins] = await Promise.all([
    data(api.GET("/api/v1/clusters/{id}/plugin_links", { params: { path: { id } } })),
    data(api.GET("/api/v1/clusters/{id}/attributes", { params: { path: { id } } })),
    data(api.GET("/api/v1/plugins")),
  ]);
  const sections = Object.values((attributes.editable ?? {}) as Record<string, { metadata?: { enabled?: boolean; chosen_id?: number } }>);
  const enabled = new Set(sections.filter((section) => section.metadata?.enabled).map((section) => section.metadata?.chosen_id));
  const pluginLinks = plugins
    .filter((plugin) => enabled.has(plugin.id))
    .map(async (plugin) => {
      const links = await data(api.GET("/api/v1/plugins/{id}/links", { params: { path: { id: plugin.id } } }));
      return links.map((link) => ({ ...link, from: plugin.title }));
    });
  return [...own, ...(await Promise.all(pluginLinks)).flat()].filter((link) => !link.hidden);
}
