/** Decodes a boolean query parameter as Kubernetes APIs do: `0`, `false` and an absent parameter are false; anything else is true. */
export function isSet(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}
