import { PodwrightError } from '../errors.ts';

/** A cgroup named for systemd: `slice:prefix:name`, the name being a scope's. */
export type SystemdCgroup = { slice: string; prefix: string; name: string };

/** Reads `slice:prefix:name` (OCI runtimes' form for systemd); `undefined` if `path` has another form. */
export function parseSystemdCgroup(path: string): SystemdCgroup | undefined {
  const [slice, prefix, name, ...rest] = path.split(':');
  if (name === undefined || name === '' || rest.length > 0 || !/^[^/]*\.slice$/.test(slice ?? '')) return undefined;
  return { slice: slice!, prefix: prefix ?? '', name };
}

/** Refuses cgroups that only systemd may make, with a message that says what to do: `failed_precondition`. */
export function refuseSystemdCgroup(path: string): void {
  if (parseSystemdCgroup(path) === undefined && !path.endsWith('.slice')) return;
  throw new PodwrightError(
    'failed_precondition',
    `use cgroup ${path}: it is named for the systemd cgroup driver, and this runtime manages cgroups itself; ` +
      'set cgroupDriver: cgroupfs in the kubelet, or let it ask the runtime',
  );
}
