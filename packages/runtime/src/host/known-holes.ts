/** Vulnerabilities of an OCI runtime, and the first fixed version of each release branch. */
export type KnownHoles = { holes: string[]; fixedIn: string[] };

/**
 * Vulnerabilities that let a container or an image attack the host, from the projects' release notes. Excludes vulnerabilities that
 * Podwright prevents with any version of the runtime (CVE-2026-41579 of runc, CVE-2026-47766 of crun: see `kernel-paths.ts`).
 */
const FIXES: Record<string, KnownHoles[]> = {
  runc: [
    { holes: ['CVE-2024-21626'], fixedIn: ['1.1.12', '1.2.0'] },
    { holes: ['CVE-2024-45310'], fixedIn: ['1.1.14', '1.2.0'] },
    { holes: ['CVE-2025-31133', 'CVE-2025-52565', 'CVE-2025-52881'], fixedIn: ['1.2.8', '1.3.3', '1.4.0'] },
  ],
};

/**
 * The known vulnerabilities of an OCI runtime, judged by its version number alone, although distributions backport fixes without changing
 * it. Undefined if none are known, or if the version cannot be parsed.
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
 * Whether the version has the fix: its own release branch received it by this version, or the branch is newer than all branches that
 * received it.
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
