/** An existing host cgroup to limit to its reservation (`enforceNodeAllocatable`). */
export type ReservedCgroup = {
  /** The setting that names the cgroup: `systemReservedCgroup` or `kubeReservedCgroup`. */
  owner: 'System' | 'Kube';
  /** The cgroup's path, such as `/system`, or `/system.slice` with systemd. */
  cgroup: string;
  milliCpu?: number;
  /** Memory limit; `undefined` if no memory is reserved. */
  memoryBytes?: number;
  pids?: number;
  /** Whether to enforce only CPU, which is compressible: a process that exceeds its limit is throttled but does not fail. */
  compressibleOnly: boolean;
};
