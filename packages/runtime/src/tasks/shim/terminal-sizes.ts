/**
 * Makes of `set` a function that takes a terminal's sizes as they come: one at a time, and of those that come meanwhile only
 * the last. A shim may apply several that come at once in any order. Failures are ignored: what ran on the
 * terminal has just ended.
 */
export function oneSizeAtATime(
  set: (columns: number, rows: number) => Promise<unknown>,
): (columns: number, rows: number) => void {
  let next: { columns: number; rows: number } | undefined;
  let busy = false;
  const setAll = async () => {
    busy = true;
    while (next !== undefined) {
      const { columns, rows } = next;
      next = undefined;
      await set(columns, rows).catch(() => undefined);
    }
    busy = false;
  };
  return (columns, rows) => {
    next = { columns, rows };
    if (!busy) void setAll();
  };
}
