/**
 * Returns `url` if it is a path on this site or an HTTP(S) URL. Rejects other schemes, such as `javascript:`.
 */
export function safeUrl(url: string): string | undefined {
  if (/^\/(?!\/)/.test(url)) return url;
  try {
    return ["http:", "https:"].includes(new URL(url).protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}
