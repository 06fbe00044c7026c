/** Identifies an object of a resource. `namespace` is '' for cluster-scoped objects. */
export type ObjectPlace = { namespace?: string; name: string };

/** Returns `NAMESPACE/NAME`, for queues and messages. */
export function placeText({ namespace = '', name }: ObjectPlace): string {
  return `${namespace}/${name}`;
}

/** The inverse of `placeText`. */
export function placeOfText(text: string): { namespace: string; name: string } {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
