/** The `info` of a verbose response: one entry of JSON, as `crictl inspect` shows it; empty unless asked for. */
export function verboseInfo(verbose: boolean, details: () => object, name = 'info'): Record<string, string> {
  return verbose ? { [name]: JSON.stringify(details()) } : {};
}

/** Records in one message of a streamed list. */
const PAGE_SIZE = 100;
/** A message is sent once it is about as long: far from the 16 MiB that clients take, also if it is twice as long. */
const PAGE_BYTES = 1 << 20;

/** The items in portions, at least one: an empty list is an empty message. */
export function* pages<T>(items: T[]): Generator<T[]> {
  yield items.slice(0, PAGE_SIZE);
  for (let start = PAGE_SIZE; start < items.length; start += PAGE_SIZE) yield items.slice(start, start + PAGE_SIZE);
}

/**
 * The messages that `convert` makes of the records, in portions small enough for clients however long each is; at least one
 * portion.
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

/** How long a message is about: as JSON it is longer than on the wire. */
function lengthOf(message: unknown): number {
  const text = JSON.stringify(message, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return Buffer.byteLength(text);
}
