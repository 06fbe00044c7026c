/** Splits items, in order, into pages of at most `maxBytes`. A larger item gets a page of its own. Returns at least one page. */
export function pages<T extends { bytes: number }>(items: readonly T[], maxBytes: number): T[][] {
  const all: T[][] = [[]];
  let size = 0;
  for (const item of items) {
    if (size > 0 && size + item.bytes > maxBytes) {
      all.push([]);
      size = 0;
    }
    all.at(-1)!.push(item);
    size += item.bytes;
  }
  return all;
}
