import { parseSystemdCgroup } from '@podwright/host';

/** Input for the systemd properties of a container's scope, apart from resource limits, which the OCI runtime sets. */
export type ScopeNeeds = {
  cgroupsPath: string;
  /** The cgroup v2 interface files that the container's configuration sets, with their values. */
  unified: Record<string, string>;
  privileged: boolean;
};

/**
 * Returns the annotations that runc and crun pass to systemd as properties of the container's scope; none if the cgroup is not a scope.
 *
 * On each reload, systemd rewrites `memory.oom.group` of its units: to 1 with `OOMPolicy=kill`, otherwise to 0. runc puts the container
 * directly into the scope's cgroup, so without `OOMPolicy=kill` a requested 1 would be lost (newer runc sets that property itself).
 * `CollectMode` makes systemd remove a scope that failed because of an OOM kill; otherwise it would linger until an administrator resets
 * it.
 *
 * Privileged containers get no properties: they may have child cgroups, and systemd before version 259 would kill the whole container if
 * one of these ran out of memory.
 */
export function scopeProperties({ cgroupsPath, unified, privileged }: ScopeNeeds): Record<string, string> {
  const endsTogether = unified['memory.oom.group']?.trim() === '1';
  if (!endsTogether || privileged || parseSystemdCgroup(cgroupsPath) === undefined) return {};
  return {
    'org.systemd.property.OOMPolicy': "'kill'",
    'org.systemd.property.CollectMode': "'inactive-or-failed'",
  };
}
