// Who is logged in. The token is kept for all tabs of the browser; when it has expired the login form takes the place of
// the page, whose address stays as it is.
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
    // Without storage the login holds for this page only.
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
  begin(token: string) {
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

export type Permission = "operate" | "admin";

/** Roles are the server's; this only hides what it would refuse. */
export function may(identity: Identity | undefined, permission: Permission): boolean {
  const roles = identity?.roles ?? [];
  return roles.includes("admin") || (permission === "operate" && roles.includes("operator"));
}
