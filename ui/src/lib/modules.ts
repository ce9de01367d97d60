/** Sorts modules in order of application: priority first, then apply order 0 to 9, then name. */
export function sortByApplication<T extends { name: string; priority_apply: boolean | number; apply_order: number }>(modules: T[]): T[] {
  return modules.toSorted(
    (a, b) => Number(Boolean(b.priority_apply)) - Number(Boolean(a.priority_apply)) || a.apply_order - b.apply_order || (a.name < b.name ? -1 : 1),
  );
}

/** Encodes text as Base64 of UTF-8, which is the format of module contents in the API. */
export function encodeContents(text: string): string {
  return btoa(String.fromCodePoint(...new TextEncoder().encode(text)));
}
