/** Namespace and name of an object, which identify it within its resource. `namespace` is '' for cluster-scoped objects. */
export type ObjectPlace = { namespace?: string; name: string };

/** Formats an object's namespace and name as `NAMESPACE/NAME`, for queue keys and messages. */
export function placeText({ namespace = '', name }: ObjectPlace): string {
  return `${namespace}/${name}`;
}

/** Parses `NAMESPACE/NAME`; the inverse of `placeText`. */
export function placeOfText(text: string): { namespace: string; name: string } {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
