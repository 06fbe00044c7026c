import { posix } from 'node:path';
import { PodwrightError } from '../errors.ts';

/** A cgroup named for systemd: `slice:prefix:name`, which is the scope `prefix-name.scope` in that slice. */
export type SystemdCgroup = { slice: string; prefix: string; name: string };

/** Reads `slice:prefix:name` (OCI runtimes' form for systemd); `undefined` if `path` has another form. */
export function parseSystemdCgroup(path: string): SystemdCgroup | undefined {
  const [slice, prefix, name, ...rest] = path.split(':');
  if (name === undefined || name === '' || rest.length > 0 || !/^[^/]*\.slice$/.test(slice ?? '')) return undefined;
  return { slice: slice!, prefix: prefix ?? '', name };
}

/** The path of the cgroup that `linux.cgroupsPath` of an OCI specification names, in whichever of its two forms. */
export function cgroupPathOf(cgroupsPath: string): string {
  const scope = parseSystemdCgroup(cgroupsPath);
  if (scope === undefined) return cgroupsPath;
  return posix.join(slicePath(scope.slice), `${scope.prefix}-${scope.name}.scope`);
}

/**
 * The path of a slice's cgroup: a slice is named after all above it (systemd.slice(5)), so that of `a-b.slice` is
 * `/a.slice/a-b.slice`. `invalid_argument` for what is no name of a slice.
 */
export function slicePath(slice: string): string {
  if (slice === '-.slice') return '/';
  const names = slice.slice(0, -'.slice'.length).split('-');
  if (!/^[\w:.\\@-]+\.slice$/.test(slice) || names.includes(''))
    throw new PodwrightError('invalid_argument', `use slice ${JSON.stringify(slice)}: systemd has no such names`);
  return posix.join('/', ...names.map((_, index) => `${names.slice(0, index + 1).join('-')}.slice`));
}

/** The unit that systemd has for a container's cgroup, if that is a scope. */
export function scopeOf(cgroupPath: string): string | undefined {
  return /\.slice\/([^/]+\.scope)$/.exec(cgroupPath)?.[1];
}
