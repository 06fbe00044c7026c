/** cgroup v1 controllers for which every container has its own cgroup, the most reliable one first; '' stands for cgroup v2. */
const CONTROLLERS = ['memory', 'cpu', 'pids', ''];

/**
 * Extracts a cgroup's path, relative to the root of its hierarchy, from the content of /proc/PID/cgroup (cgroups(7)). Uses the path in a v1
 * controller's hierarchy if there is one, otherwise the v2 path.
 */
export function cgroupPathIn(text: string): string | undefined {
  const lines = text.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    return path === undefined ? [] : [{ controllers: controllers!.split(','), path }];
  });
  for (const controller of CONTROLLERS) {
    const found = lines.find(({ controllers }) => controllers.includes(controller));
    if (found !== undefined) return found.path;
  }
  return undefined;
}

/**
 * Returns a container's cgroup, given the cgroup of one of its processes, which may be nested in it. Returns `undefined` if the path does
 * not contain the container's ID.
 */
export function containerCgroup(path: string, containerId: string): string | undefined {
  const at = path.indexOf(containerId);
  if (at === -1) return undefined;
  const end = path.indexOf('/', at);
  return end === -1 ? path : path.slice(0, end);
}
