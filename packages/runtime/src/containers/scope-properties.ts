import { parseSystemdCgroup } from '@podwright/host';

/** The inputs for the systemd properties of a container's scope, except the limits, which the OCI runtime sets. */
export type ScopeNeeds = {
  cgroupsPath: string;
  /** Values of cgroup v2 files that the container requests. */
  unified: Record<string, string>;
  privileged: boolean;
};

/**
 * Annotations that runc and crun pass to systemd as properties of the container's scope; none if the cgroup is not a scope.
 *
 * At each reload systemd rewrites `memory.oom.group` of its units: 1 with `OOMPolicy=kill`, else 0. A container of runc is in the scope's
 * own cgroup, so without `OOMPolicy=kill` it would lose a requested 1 (newer runc sets that property itself). `CollectMode` makes systemd
 * remove a scope that failed because of an OOM kill, which would otherwise stay until an administrator resets it.
 *
 * A privileged container gets no properties: it may have child cgroups, and systemd before version 259 would kill the whole container if
 * one of these runs out of memory.
 */
export function scopeProperties({ cgroupsPath, unified, privileged }: ScopeNeeds): Record<string, string> {
  const endsTogether = unified['memory.oom.group']?.trim() === '1';
  if (!endsTogether || privileged || parseSystemdCgroup(cgroupsPath) === undefined) return {};
  return {
    'org.systemd.property.OOMPolicy': "'kill'",
    'org.systemd.property.CollectMode': "'inactive-or-failed'",
  };
}
