/** Vulnerabilities of an OCI runtime, and the first fixed version of each release branch. */
export type KnownHoles = { holes: string[]; fixedIn: string[] };

/**
 * Vulnerabilities that let a container or an image attack the host, from the projects' release notes. Excludes those that Podwright
 * mitigates for any version of the OCI runtime (CVE-2026-41579 in runc and CVE-2026-47766 in crun, see `kernel-paths.ts`).
 */
const FIXES: Record<string, KnownHoles[]> = {
  runc: [
    { holes: ['CVE-2024-21626'], fixedIn: ['1.1.12', '1.2.0'] },
    { holes: ['CVE-2024-45310'], fixedIn: ['1.1.14', '1.2.0'] },
    { holes: ['CVE-2025-31133', 'CVE-2025-52565', 'CVE-2025-52881'], fixedIn: ['1.2.8', '1.3.3', '1.4.0'] },
  ],
};

/**
 * Returns an OCI runtime's known vulnerabilities; `undefined` if there are none or the version cannot be parsed. Based on the version
 * number alone, although distributions backport fixes without changing it.
 */
export function knownHoles(name: string, version: string): KnownHoles | undefined {
  const own = parseVersion(version);
  if (own === undefined) return undefined;
  const open = (FIXES[name] ?? []).filter(({ fixedIn }) => !isFixed(own, fixedIn));
  if (open.length === 0) return undefined;
  return { holes: open.flatMap(({ holes }) => holes), fixedIn: open.at(-1)!.fixedIn };
}

type Version = { branch: number; patch: number };

/**
 * Whether a version of an OCI runtime is fixed: it is at or past the fixed version of its own release branch, or its branch is newer than
 * all branches with a fix.
 */
function isFixed(own: Version, fixedIn: string[]): boolean {
  const fixes = fixedIn.map((version) => parseVersion(version)!);
  return (
    fixes.some(({ branch, patch }) => own.branch === branch && own.patch >= patch) ||
    fixes.every(({ branch }) => own.branch > branch)
  );
}

function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch, candidate] = /(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(-rc)?/.exec(text) ?? [];
  if (major === undefined) return undefined;
  return {
    branch: Number(major) * 10_000 + Number(minor),
    patch: Number(patch ?? 0) - (candidate === undefined ? 0 : 1),
  };
}
