import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';

/** A cgroup in systemd notation, `slice:prefix:name`: the scope `prefix-name.scope` in that slice. */
export type SystemdCgroup = { slice: string; prefix: string; name: string };

/** Parses `slice:prefix:name`, the notation of OCI runtimes for systemd cgroups; returns `undefined` if `path` is in any other form. */
export function parseSystemdCgroup(path: string): SystemdCgroup | undefined {
  const [slice, prefix, name, ...rest] = path.split(':');
  if (name === undefined || name === '' || rest.length > 0 || !/^[^/]*\.slice$/.test(slice ?? '')) return undefined;
  return { slice: slice!, prefix: prefix ?? '', name };
}

/** Returns the cgroup path for an OCI spec's `linux.cgroupsPath`, which is either a path or `slice:prefix:name`. */
export function cgroupPathOf(cgroupsPath: string): string {
  const scope = parseSystemdCgroup(cgroupsPath);
  if (scope === undefined) return cgroupsPath;
  return posix.join(slicePath(scope.slice), `${scope.prefix}-${scope.name}.scope`);
}

/**
 * Returns a slice's cgroup path. A slice's name contains the names of its ancestors (systemd.slice(5)), so `a-b.slice` is at
 * `/a.slice/a-b.slice`. Throws `invalid_argument` if the slice name is invalid.
 */
export function slicePath(slice: string): string {
  if (slice === '-.slice') return '/';
  const names = slice.slice(0, -'.slice'.length).split('-');
  if (!/^[\w:.\\@-]+\.slice$/.test(slice) || names.includes(''))
    throw new PodwrightError('invalid_argument', `use slice ${JSON.stringify(slice)}: systemd has no such names`);
  return posix.join('/', ...names.map((_, index) => `${names.slice(0, index + 1).join('-')}.slice`));
}

/** Returns the name of the scope unit that a container's cgroup belongs to; `undefined` if the cgroup is not a scope. */
export function scopeOf(cgroupPath: string): string | undefined {
  return /\.slice\/([^/]+\.scope)$/.exec(cgroupPath)?.[1];
}
