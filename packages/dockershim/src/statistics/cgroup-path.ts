/** Controllers by which a container's own cgroup is found, the best first: others may be shared on some hosts. */
const CONTROLLERS = ['memory', 'cpu', 'pids', ''];

/** The cgroup in a text of /proc/PID/cgroup (cgroups(7)), from a hierarchy's root; on v2, and hybrid hosts, that of v2 at last. */
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

/** The container's cgroup in a path of one of its processes, which may be below it; nothing where it is none of the container's. */
export function containerCgroup(path: string, containerId: string): string | undefined {
  const at = path.indexOf(containerId);
  if (at === -1) return undefined;
  const end = path.indexOf('/', at);
  return end === -1 ? path : path.slice(0, end);
}
