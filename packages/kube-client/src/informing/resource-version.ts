/**
 * Compares two resource versions, which are decimal numbers of one counter (Kubernetes 1.35, KEP-5504): negative if `a` is older, undefined
 * if one is not such a number.
 */
export function compareVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (!isNumber(a) || !isNumber(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The newer of two versions; `b` if they are not comparable. */
export function newerVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (b === undefined || b === '') return a;
  return (compareVersions(a, b) ?? -1) > 0 ? a : b;
}

function isNumber(version: string | undefined): version is string {
  return version !== undefined && /^[1-9]\d*$/.test(version);
}
