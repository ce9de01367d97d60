/** An address that may be opened: of this site or of another over HTTP; `javascript:` and its kin are not. */
export function safeUrl(url: string): string | undefined {
  if (/^\/(?!\/)/.test(url)) return url;
  try {
    return ["http:", "https:"].includes(new URL(url).protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}
