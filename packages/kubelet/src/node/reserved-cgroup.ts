/** A cgroup of the host that gets what is kept back for it as its limits (`enforceNodeAllocatable`). It must be there. */
export type ReservedCgroup = {
  /** Whose it is: `systemReservedCgroup` or `kubeReservedCgroup`. */
  owner: 'System' | 'Kube';
  /** `/system`, or for systemd `/system.slice`. */
  cgroup: string;
  milliCpu?: number;
  /** Absent, as `pids`, where CPU alone is enforced. */
  memoryBytes?: number;
  pids?: number;
  /** CPU alone, which a process that wants more of it does not fail for. */
  compressibleOnly: boolean;
};
