/** Identifies an object among those of its resource. `namespace` is '' for cluster-scoped objects. */
export type ObjectPlace = { namespace?: string; name: string };

/** Formats the place as `NAMESPACE/NAME`, for queue keys and messages. */
export function placeText({ namespace = '', name }: ObjectPlace): string {
  return `${namespace}/${name}`;
}

/** The inverse of `placeText`. */
export function placeOfText(text: string): { namespace: string; name: string } {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
