/** Records in one message of a streamed list. */
const PAGE_SIZE = 100;

/** The items in portions, at least one: an empty list is an empty message. */
export function* pages<T>(items: T[]): Generator<T[]> {
  yield items.slice(0, PAGE_SIZE);
  for (let start = PAGE_SIZE; start < items.length; start += PAGE_SIZE) yield items.slice(start, start + PAGE_SIZE);
}
