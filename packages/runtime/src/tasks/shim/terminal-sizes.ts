/**
 * Wraps `set` so that it applies one size at a time. Sizes that arrive meanwhile are coalesced: only the last one is applied. Needed
 * because shims might apply concurrent resizes in any order. Failures are ignored: they mean that the process on the terminal has exited.
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
