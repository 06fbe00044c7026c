/** Which rows of a long list are drawn. Pure. */

export type RowWindow = { first: number; last: number; beforePx: number; afterPx: number };

/** Rows that are drawn above and below the visible ones. */
const MARGIN_ROWS = 8;

type Seen = { count: number; rowPx: number; topPx: number; heightPx: number };

/** `topPx`: how far the list's top is above the top of what is visible. `last` is the row after the last one. */
export function rowWindow({ count, rowPx, topPx, heightPx }: Seen): RowWindow {
  const first = Math.max(0, Math.min(count, Math.floor(topPx / rowPx)) - MARGIN_ROWS);
  const last = Math.max(first, Math.min(count, Math.ceil((topPx + heightPx) / rowPx) + MARGIN_ROWS));
  return { first, last, beforePx: first * rowPx, afterPx: (count - last) * rowPx };
}
