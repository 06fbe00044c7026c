/**
 * Compares two resource versions, which are decimal values of a single counter (Kubernetes 1.35, KEP-5504). Returns a negative number if
 * `a` is older, and `undefined` if either is not such a number.
 */
export function compareVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (!isNumber(a) || !isNumber(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the newer of two resource versions, or `b` if they are not comparable. */
export function newerVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (b === undefined || b === '') return a;
  return (compareVersions(a, b) ?? -1) > 0 ? a : b;
}

function isNumber(version: string | undefined): version is string {
  return version !== undefined && /^[1-9]\d*$/.test(version);
}
