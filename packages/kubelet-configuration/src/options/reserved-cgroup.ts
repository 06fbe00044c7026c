/** An existing cgroup of the host that is limited to its reservation (`enforceNodeAllocatable`). */
export type ReservedCgroup = {
  /** Which setting names the cgroup: `systemReservedCgroup` or `kubeReservedCgroup`. */
  owner: 'System' | 'Kube';
  /** Path of the cgroup, such as `/system`, or `/system.slice` with systemd. */
  cgroup: string;
  milliCpu?: number;
  /** Undefined if no memory is reserved. */
  memoryBytes?: number;
  pids?: number;
  /** Whether to enforce only CPU. It is compressible: a process that exceeds it is throttled, but does not fail. */
  compressibleOnly: boolean;
};
