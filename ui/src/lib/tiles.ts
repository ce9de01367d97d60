// Which tiles of a large matrix are needed for what is on screen.

export interface Extent {
  first: number;
  /** One beyond the last. */
  end: number;
}

/** The items that a window of `size` pixels shows from `scroll` on, with some around it. */
export function visible(scroll: number, size: number, itemSize: number, n: number, around = 4): Extent {
  const first = Math.max(0, Math.floor(scroll / itemSize) - around);
  const end = Math.min(n, Math.ceil((scroll + size) / itemSize) + around);
  return { first: Math.min(first, n), end: Math.max(Math.min(first, n), end) };
}

/** The numbers of tiles of `size` items that an extent touches. */
export function tilesOf(extent: Extent, size: number): number[] {
  if (extent.end <= extent.first) return [0];
  const first = Math.floor(extent.first / size);
  const last = Math.floor((extent.end - 1) / size);
  return Array.from({ length: last - first + 1 }, (_, step) => first + step);
}

/** An extent that begins and ends with whole chunks, so that it changes seldom while somebody scrolls. */
export function inChunks(extent: Extent, size: number, n: number): Extent {
  return { first: Math.floor(extent.first / size) * size, end: Math.min(n, Math.ceil(extent.end / size) * size) };
}
