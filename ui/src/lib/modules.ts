/** Priority first, then the order from 0 to 9, then the name: as they are applied. */
export function inOrder<T extends { name: string; priority_apply: boolean | number; apply_order: number }>(modules: T[]): T[] {
  return modules.toSorted(
    (a, b) => Number(Boolean(b.priority_apply)) - Number(Boolean(a.priority_apply)) || a.apply_order - b.apply_order || (a.name < b.name ? -1 : 1),
  );
}

/** Text as the API wants contents: Base64 of UTF-8. */
export function encoded(text: string): string {
  return btoa(String.fromCodePoint(...new TextEncoder().encode(text)));
}
