import { parseSystemdCgroup } from '@podwright/base';

/** What systemd is to know of a container's scope beside the limits that the OCI runtime tells it. */
export type ScopeNeeds = {
  cgroupsPath: string;
  /** Files of cgroup v2 that the container asks for. */
  unified: Record<string, string>;
  privileged: boolean;
};

/**
 * Annotations that runc and crun hand to systemd when it makes the container's scope; none for a cgroup that is no scope.
 *
 * systemd writes `memory.oom.group` of its own units anew after each reload: 1 with `OOMPolicy=kill`, else 0, whatever is there.
 * A container of runc is in the scope's own cgroup, so one that asks for 1 would lose it; newer runc says so to systemd itself, too.
 * After the kernel has ended a container for its memory the scope is a failed unit, which would stay until somebody resets it.
 *
 * A privileged container goes without: it may have cgroups of its own below, and before version 259 systemd would end all of it when
 * one of those runs out of memory.
 */
export function scopeProperties({ cgroupsPath, unified, privileged }: ScopeNeeds): Record<string, string> {
  const endsTogether = unified['memory.oom.group']?.trim() === '1';
  if (!endsTogether || privileged || parseSystemdCgroup(cgroupsPath) === undefined) return {};
  return {
    'org.systemd.property.OOMPolicy': "'kill'",
    'org.systemd.property.CollectMode': "'inactive-or-failed'",
  };
}
