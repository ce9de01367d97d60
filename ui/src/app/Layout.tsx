import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { Link, NavLink, Outlet, useLocation } from "react-router";
import { api, data } from "../api/client";
import { Loading } from "../components/Loading";
import { formatUnread } from "../lib/notifications";
import { connection } from "./connection";
import { useIdentity, usePermission } from "./identity";
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
  const isAdmin = usePermission("admin");
  return (
    <div className="shell">
      <header>
        <div className="topbar">
          <Link to="/" className="brand" aria-label="Stoker home">
            <img src="/icon.svg" alt="" />
            Stoker
          </Link>
          <nav aria-label="Main">
            <Item to="/clusters" name="Clusters" activeFor="/plans" />
            <Item to="/runs" name="Runs" />
            <Item to="/modules" name="Modules" />
            <Item to="/yaql" name="YAQL" />
            {isAdmin && <Item to="/admin" name="Admin" />}
          </nav>
          <Controls />
        </div>
        <ConnectionBanner />
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

/** `activeFor` is a second path prefix whose pages also mark this item as active. */
function Item({ to, name, activeFor }: { to: string; name: string; activeFor?: string }) {
  const { pathname } = useLocation();
  const isOnOtherPath = activeFor !== undefined && pathname.startsWith(activeFor);
  return (
    <NavLink to={to} className={({ isActive }) => `navlink${isActive || isOnOtherPath ? " active" : ""}`}>
      {name}
    </NavLink>
  );
}

function Controls() {
  const { data: identity } = useIdentity();
  const isDark = theme.use() === "dark";
  const logOut = () => {
    const token = session.token();
    // Revokes the token on the server. If the request fails, the token stays valid until it expires.
    if (token) void fetch("/v3/auth/tokens", { method: "DELETE", headers: { "X-Auth-Token": token, "X-Subject-Token": token }, keepalive: true }).catch(() => undefined);
    session.end();
    queries.clear();
  };
  return (
    <div className="row">
      <NotificationsLink />
      <button
        type="button"
        className="button quiet small glyph"
        onClick={theme.toggle}
        aria-label={isDark ? "Switch to light theme" : "Switch to dark theme"}
        title={isDark ? "Switch to light theme" : "Switch to dark theme"}
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

/** Link to the notifications with the number of unread ones. */
function NotificationsLink() {
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
        {unread > 0 && ` ${formatUnread(unread)}`}
      </span>
    </Link>
  );
}

function ConnectionBanner() {
  if (connection.use() === "connected") return null;
  return (
    <div className="banner" role="status">
      <span aria-hidden="true">!</span>
      <span className="grow">Cannot reach the server. This page shows the last known data. Reconnecting…</span>
      <button type="button" className="button small" onClick={connection.retry}>
        Retry now
      </button>
    </div>
  );
}
