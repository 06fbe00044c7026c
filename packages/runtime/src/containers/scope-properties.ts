import { parseSystemdCgroup } from '@podwright/host';

/** Input for the systemd properties of a container's scope. Excludes resource limits, because the OCI runtime sets them. */
export type ScopeNeeds = {
  cgroupsPath: string;
  /** The cgroup v2 files that the container sets, with their values. */
  unified: Record<string, string>;
  privileged: boolean;
};

/**
 * Returns the annotations that runc and crun pass to systemd as properties of the container's scope; none if the cgroup is not a scope.
 *
 * On each reload, systemd rewrites `memory.oom.group` of its units: 1 with `OOMPolicy=kill`, otherwise 0. A runc container is in the
 * scope's own cgroup, so without `OOMPolicy=kill` it would lose a requested 1 (newer runc sets that property itself). `CollectMode` makes
 * systemd remove a scope that failed because of an OOM kill; otherwise it would stay until an administrator resets it.
 *
 * A privileged container gets no properties: it may have child cgroups, and systemd before version 259 would kill the whole container if
 * one of them ran out of memory.
 */
export function scopeProperties({ cgroupsPath, unified, privileged }: ScopeNeeds): Record<string, string> {
  const endsTogether = unified['memory.oom.group']?.trim() === '1';
  if (!endsTogether || privileged || parseSystemdCgroup(cgroupsPath) === undefined) return {};
  return {
    'org.systemd.property.OOMPolicy': "'kill'",
    'org.systemd.property.CollectMode': "'inactive-or-failed'",
  };
}
