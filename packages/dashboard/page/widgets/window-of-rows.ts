/** Selects the rows of a long list that are drawn. Pure. */

/** The rows from `first` to before `last`, and the space for the rows before and after them. */
export type RowWindow = { first: number; last: number; beforePx: number; afterPx: number };

/** Number of rows that are drawn above and below the visible ones. */
const MARGIN_ROWS = 8;

type Seen = { count: number; rowPx: number; topPx: number; heightPx: number };

/** `topPx` is the distance from the top of the list down to the top of the visible area; it may be negative. */
export function rowWindow({ count, rowPx, topPx, heightPx }: Seen): RowWindow {
  const first = Math.max(0, Math.min(count, Math.floor(topPx / rowPx)) - MARGIN_ROWS);
  const last = Math.max(first, Math.min(count, Math.ceil((topPx + heightPx) / rowPx) + MARGIN_ROWS));
  return { first, last, beforePx: first * rowPx, afterPx: (count - last) * rowPx };
}
