/**
 * Builds the `info` map of a verbose response, which has one JSON entry, as shown by `crictl inspect`. The map is empty if the request is
 * not verbose.
 */
export function verboseInfo(verbose: boolean, details: () => object, name = 'info'): Record<string, string> {
  return verbose ? { [name]: JSON.stringify(details()) } : {};
}

/** Maximum number of records per message of a streamed list. */
const PAGE_SIZE = 100;
/**
 * A message of a streamed list is complete once it has this estimated size in bytes. Even if the estimate is only half the real size, the
 * message stays far below the 16 MiB that clients accept.
 */
const PAGE_BYTES = 1 << 20;

/**
 * Splits the items of a streamed list into one array per message. An empty list yields one empty array, so there is always at least one
 * message.
 */
export function* pages<T>(items: T[]): Generator<T[]> {
  yield items.slice(0, PAGE_SIZE);
  for (let start = PAGE_SIZE; start < items.length; start += PAGE_SIZE) yield items.slice(start, start + PAGE_SIZE);
}

/**
 * Converts the records with `convert`, and yields the results in arrays that each fit in one message of a streamed list, however large a
 * single result is. Yields at least one array.
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

/** Estimates a message's size from its JSON, which is longer than the wire format. */
function lengthOf(message: unknown): number {
  const text = JSON.stringify(message, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return Buffer.byteLength(text);
}
