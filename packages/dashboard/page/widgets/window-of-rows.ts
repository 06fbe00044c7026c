/** Determines which rows of a long list to render. Pure functions. */

/** The rows from `first` up to, but not including, `last`, and the height of the rows before and after them. */
export type RowWindow = { first: number; last: number; beforePx: number; afterPx: number };

/** Number of extra rows to render above and below the visible ones. */
const MARGIN_ROWS = 8;

type Seen = { count: number; rowPx: number; topPx: number; heightPx: number };

/** `topPx`: distance from the top of the list to the top of the visible area, which may be negative. */
export function rowWindow({ count, rowPx, topPx, heightPx }: Seen): RowWindow {
  const first = Math.max(0, Math.min(count, Math.floor(topPx / rowPx)) - MARGIN_ROWS);
  const last = Math.max(first, Math.min(count, Math.ceil((topPx + heightPx) / rowPx) + MARGIN_ROWS));
  return { first, last, beforePx: first * rowPx, afterPx: (count - last) * rowPx };
}
