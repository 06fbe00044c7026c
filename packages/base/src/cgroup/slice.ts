import { PodwrightError } from '../errors.ts';

/** A cgroup named for systemd: `slice:prefix:name`, the name being a scope's. */
export type SystemdCgroup = { slice: string; prefix: string; name: string };

/** Reads `slice:prefix:name` (OCI runtimes' form for systemd); `undefined` if `path` has another form. */
export function parseSystemdCgroup(path: string): SystemdCgroup | undefined {
  const [slice, prefix, name, ...rest] = path.split(':');
  if (name === undefined || name === '' || rest.length > 0 || !/^[^/]*\.slice$/.test(slice ?? '')) return undefined;
  return { slice: slice!, prefix: prefix ?? '', name };
}

/**
 * The cgroupfs path of a slice, each level within those before it: `a-b.slice` is `/a.slice/a-b.slice` (systemd.slice(5)).
 * `invalid_argument` for names that systemd has not.
 */
export function pathOfSlice(slice: string): string {
  const name = slice.replace(/\.slice$/, '');
  const parts = name.split('-');
  if (slice === '-.slice') return '/';
  if (name === slice || parts.some((part) => part === '') || slice.includes('/'))
    throw new PodwrightError('invalid_argument', `${JSON.stringify(slice)} is not the name of a systemd slice`);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('-')}.slice`).join('');
}

/** Refuses cgroups that only systemd may make, in words that say what to do: `failed_precondition`. */
export function refuseSystemdCgroup(path: string): void {
  if (parseSystemdCgroup(path) === undefined && !path.endsWith('.slice')) return;
  throw new PodwrightError(
    'failed_precondition',
    `use cgroup ${path}: it is named for the systemd cgroup driver, and this runtime manages cgroups itself; ` +
      'set cgroupDriver: cgroupfs in the kubelet, or let it ask the runtime',
  );
}
