/** The `info` of a verbose response: one JSON entry, which `crictl inspect` shows; empty unless requested. */
export function verboseInfo(verbose: boolean, details: () => object, name = 'info'): Record<string, string> {
  return verbose ? { [name]: JSON.stringify(details()) } : {};
}

/** Most records in one message of a streamed list. */
const PAGE_SIZE = 100;
/** A page is sent once it has about this size: far below the 16 MiB that clients accept, even if the estimate is half the real size. */
const PAGE_BYTES = 1 << 20;

/** Splits the items into pages. There is at least one: an empty list is an empty message. */
export function* pages<T>(items: T[]): Generator<T[]> {
  yield items.slice(0, PAGE_SIZE);
  for (let start = PAGE_SIZE; start < items.length; start += PAGE_SIZE) yield items.slice(start, start + PAGE_SIZE);
}

/**
 * Converts the records with `convert` and yields the messages in pages that clients accept, whatever the size of a message; at least one
 * page.
 */
export async function* messagePages<R, M>(
  records: R[],
  convert: (records: R[]) => M[] | Promise<M[]>,
): AsyncGenerator<M[]> {
  for (const portion of pages(records)) {
    let page: M[] = [];
    let bytes = 0;
    for (const message of await convert(portion)) {
      const length = lengthOf(message);
      if (page.length > 0 && bytes + length > PAGE_BYTES) {
        yield page;
        page = [];
        bytes = 0;
      }
      page.push(message);
      bytes += length;
    }
    if (page.length > 0 || portion.length === 0) yield page;
  }
}

/** Estimated size of a message: its JSON is longer than its wire format. */
function lengthOf(message: unknown): number {
  const text = JSON.stringify(message, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return Buffer.byteLength(text);
}
