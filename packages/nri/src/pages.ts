/** Divides items into pages of at most `maxBytes` in total each, in order. An item that exceeds this has a page of its own. At least one page. */
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
