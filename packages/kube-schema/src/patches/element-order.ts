/**
 * Determines the element order of a merged list
 * (https://git.k8s.io/design-proposals-archive/cli/preserve-order-in-strategic-merge-patch.md).
 */

/** Returns the identity of an element: its merge key, or the element itself if it is a scalar. */
export type Identity = (element: unknown) => unknown;

/**
 * Orders a list. Elements named in `order` follow that order. Every other element keeps its position relative to them in `server`, if
 * `server` contains both. New elements therefore precede elements that only the server has. The cost is linear, apart from sorting.
 */
export function orderElements(
  list: readonly unknown[],
  { order, server, identity }: { order: readonly unknown[]; server: readonly unknown[]; identity: Identity },
): unknown[] {
  const inOrder = positions(order, identity);
  const inServer = positions(server, identity);
  const at = (places: Map<unknown, number>, element: unknown) => places.get(identity(element)) ?? -1;
  const patched = list
    .filter((element) => at(inOrder, element) >= 0)
    .sort((one, other) => at(inOrder, one) - at(inOrder, other));
  const others = list.filter((element) => at(inOrder, element) < 0);
  const result: unknown[] = [];
  let next = 0;
  for (const other of others) {
    const place = at(inServer, other);
    for (; next < patched.length; next++) {
      const rival = at(inServer, patched[next]);
      if (rival > place) break;
      result.push(patched[next]);
    }
    result.push(other);
  }
  return [...result, ...patched.slice(next)];
}

/** Returns the index of the first list element with each identity. */
function positions(list: readonly unknown[], identity: Identity): Map<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [index, element] of list.entries()) {
    const key = identity(element);
    if (!places.has(key)) places.set(key, index);
  }
  return places;
}
