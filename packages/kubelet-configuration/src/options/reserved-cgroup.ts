/** An existing cgroup of the host that is limited to its reservation (`enforceNodeAllocatable`). */
export type ReservedCgroup = {
  /** The setting it is from: `systemReservedCgroup` or `kubeReservedCgroup`. */
  owner: 'System' | 'Kube';
  /** Path of the cgroup: `/system`, or with systemd `/system.slice`. */
  cgroup: string;
  milliCpu?: number;
  /** Absent, like `pids`, if only CPU is enforced. */
  memoryBytes?: number;
  pids?: number;
  /** Enforce only CPU, which is compressible: a process that exceeds it is throttled but does not fail. */
  compressibleOnly: boolean;
};
