/** The newest supported version of the CNI specification. */
export const CURRENT_VERSION = '1.1.0';

/** The version assumed for a configuration without `cniVersion`. */
export const OLDEST_VERSION = '0.1.0';

export function isVersion(text: string): boolean {
  return /^\d{1,6}(\.\d{1,6}){0,2}$/.test(text);
}

/**
 * Compares two versions. Returns a negative number if `a` is older than `b`, zero if they are equal, and a positive number if `a` is newer.
 * Missing parts count as 0.
 */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let index = 0; index < 3; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

export const isAtLeast = (version: string, wanted: string): boolean => compareVersions(version, wanted) >= 0;

/** Whether a version of the CNI specification has CHECK, passes `prevResult` on DEL, or has GC and STATUS. */
export const supportsCheck = (version: string): boolean => isAtLeast(version, '0.4.0');
export const supportsPrevResultOnDel = (version: string): boolean => isAtLeast(version, '0.4.0');
export const supportsGcAndStatus = (version: string): boolean => isAtLeast(version, '1.1.0');

/**
 * Returns the newest of a configuration's versions that this client and all plugins support (spec 1.1, "Version considerations"). If there
 * is none, returns the newest that this client supports, so that the plugin itself reports the mismatch. Returns `undefined` if all
 * versions are too new.
 */
export function selectVersion(candidates: string[], plugins: ReadonlySet<string>[] = []): string | undefined {
  const spoken = candidates
    .filter((version) => compareVersions(version, CURRENT_VERSION) <= 0)
    .sort((a, b) => compareVersions(b, a));
  return spoken.find((version) => plugins.every((supported) => supported.has(version))) ?? spoken[0];
}
