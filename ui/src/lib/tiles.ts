// Computes which tiles of a large matrix are visible.

export interface Extent {
  first: number;
  /** Exclusive. */
  end: number;
}

/**
 * Items that are visible in a viewport of `size` pixels at offset `scroll`, extended by `overscan` items on
 * each side.
 */
export function visibleRange(scroll: number, size: number, itemSize: number, n: number, overscan = 4): Extent {
  const first = Math.max(0, Math.floor(scroll / itemSize) - overscan);
  const end = Math.min(n, Math.ceil((scroll + size) / itemSize) + overscan);
  return { first: Math.min(first, n), end: Math.max(Math.min(first, n), end) };
}

/** Indexes of the tiles of `size` items that overlap an extent. */
export function tilesOf(extent: Extent, size: number): number[] {
  if (extent.end <= extent.first) return [0];
  const first = Math.floor(extent.first / size);
  const last = Math.floor((extent.end - 1) / size);
  return Array.from({ length: last - first + 1 }, (_, step) => first + step);
}

/** Extends to whole chunks, so that the extent changes rarely while the user scrolls. */
export function alignToChunks(extent: Extent, size: number, n: number): Extent {
  return { first: Math.floor(extent.first / size) * size, end: Math.min(n, Math.ceil(extent.end / size) * size) };
}
