/**
 * Wraps `set` so that one size is set at a time; of the sizes that arrive meanwhile only the last one is set. Shims may apply
 * concurrent sizes in any order. Failures are ignored: the process on the terminal has then exited.
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
