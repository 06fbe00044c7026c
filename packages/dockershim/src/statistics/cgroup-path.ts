/** Controllers whose hierarchy has a container's own cgroup, the most reliable first; '' is cgroup v2. */
const CONTROLLERS = ['memory', 'cpu', 'pids', ''];

/**
 * The cgroup in a text of /proc/PID/cgroup (cgroups(7)), relative to the hierarchy's root: of a v1 controller if it has one, otherwise
 * of v2.
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

/** The container's cgroup in the path of a process's cgroup, which may be below it; `undefined` if the path is not of the container. */
export function containerCgroup(path: string, containerId: string): string | undefined {
  const at = path.indexOf(containerId);
  if (at === -1) return undefined;
  const end = path.indexOf('/', at);
  return end === -1 ? path : path.slice(0, end);
}
