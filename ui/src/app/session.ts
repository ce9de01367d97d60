// The login session. The token is in local storage, shared by all tabs of the browser. When it expires, the
// login form replaces the page and the URL does not change.
import { store } from "../lib/store";

export interface Identity {
  name: string;
  roles: string[];
  tenant?: string | null;
}

const KEY = "stoker.token";

type State = { token: string | null; hasExpired: boolean };
const state = store<State>({ token: read(), hasExpired: false });

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function write(token: string | null): void {
  try {
    if (token) localStorage.setItem(KEY, token);
    else localStorage.removeItem(KEY);
  } catch {
    // Storage is disabled: the session lasts until the page is closed.
  }
}

if (typeof window !== "undefined") {
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) state.set({ token: event.newValue, hasExpired: false });
  });
}

export const session = {
  use: state.use,
  token: () => state.get().token,
  start(token: string) {
    write(token);
    state.set({ token, hasExpired: false });
  },
  end() {
    write(null);
    state.set({ token: null, hasExpired: false });
  },
  expire() {
    if (!state.get().token) return;
    write(null);
    state.set({ token: null, hasExpired: true });
  },
};

export type Permission = "plan" | "operate" | "admin";

/** Only hides controls; the server enforces permissions. */
export function hasPermission(identity: Identity | undefined, permission: Permission): boolean {
  const roles = identity?.roles ?? [];
  if (roles.includes("admin")) return true;
  return permission !== "admin" && (roles.includes("operator") || (permission === "plan" && roles.includes("planner")));
}
