/** Decodes a boolean parameter of Kubernetes' APIs: absent, `0` and `false` are false, everything else is true. */
export function isSet(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}
