import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { Link, NavLink, Outlet, useLocation } from "react-router";
import { api, data } from "../api/client";
import { Loading } from "../components/Loading";
import { countOf } from "../lib/notifications";
import { connection } from "./connection";
import { useIdentity, useMay } from "./identity";
import { Login } from "./Login";
import { queries } from "./queries";
import { session } from "./session";
import { Shortcuts } from "./Shortcuts";
import { theme } from "./theme";

export function Layout() {
  const { token } = session.use();
  return token ? <Shell /> : <Login />;
}

function Shell() {
  const isAdmin = useMay("admin");
  return (
    <div className="shell">
      <header>
        <div className="topbar">
          <Link to="/" className="brand" aria-label="Stoker, to the clusters">
            <img src="/icon.svg" alt="" />
            Stoker
          </Link>
          <nav aria-label="Main">
            <Item to="/clusters" name="Clusters" also="/plans" />
            <Item to="/runs" name="Runs" />
            <Item to="/modules" name="Modules" />
            <Item to="/yaql" name="YAQL" />
            {isAdmin && <Item to="/admin" name="Admin" />}
          </nav>
          <Controls />
        </div>
        <LostConnection />
      </header>
      <main id="content">
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </main>
      <Shortcuts />
    </div>
  );
}

/** `also` is where its pages are beside its own address. */
function Item({ to, name, also }: { to: string; name: string; also?: string }) {
  const { pathname } = useLocation();
  const isBeside = also !== undefined && pathname.startsWith(also);
  return (
    <NavLink to={to} className={({ isActive }) => `navlink${isActive || isBeside ? " active" : ""}`}>
      {name}
    </NavLink>
  );
}

function Controls() {
  const { data: identity } = useIdentity();
  const isDark = theme.use() === "dark";
  const logOut = () => {
    const token = session.token();
    // The server ends it too; if it does not answer, the token ends by itself.
    if (token) void fetch("/v3/auth/tokens", { method: "DELETE", headers: { "X-Auth-Token": token, "X-Subject-Token": token }, keepalive: true }).catch(() => undefined);
    session.end();
    queries.clear();
  };
  return (
    <div className="row">
      <Bell />
      <button
        type="button"
        className="button quiet small glyph"
        onClick={theme.toggle}
        aria-label={isDark ? "Use light colours" : "Use dark colours"}
        title={isDark ? "Use light colours" : "Use dark colours"}
      >
        {isDark ? "☀" : "☾"}
      </button>
      <Link to="/account" className="navlink" title={identity?.roles.join(", ")}>
        {identity?.name ?? "…"}
      </Link>
      <button type="button" className="button quiet small" onClick={logOut}>
        Log out
      </button>
    </div>
  );
}

/** How much happened that nobody has read. */
function Bell() {
  const stats = useQuery({
    queryKey: ["notifications", "stats"],
    queryFn: () => data(api.GET("/api/v1/notifications/stats")),
    refetchInterval: 15_000,
  });
  const unread = stats.data?.unread ?? 0;
  const name = unread === 0 ? "Notifications" : `Notifications, ${unread} unread`;
  return (
    <Link to="/notifications" className="navlink" aria-label={name} title={name}>
      <span aria-hidden="true">
        <svg className="icon" viewBox="0 0 16 16">
          <path d="M8 1.5a4 4 0 0 0-4 4c0 3-1.5 4-1.5 5.5h11c0-1.5-1.5-2.5-1.5-5.5a4 4 0 0 0-4-4zM6.5 12.5a1.5 1.5 0 0 0 3 0z" />
        </svg>
        {unread > 0 && ` ${countOf(unread)}`}
      </span>
    </Link>
  );
}

function LostConnection() {
  if (connection.use() === "here") return null;
  return (
    <div className="banner" role="status">
      <span aria-hidden="true">!</span>
      <span className="grow">The server does not answer. What you see is the last that was known; trying again…</span>
      <button type="button" className="button small" onClick={connection.retry}>
        Try now
      </button>
    </div>
  );
}
