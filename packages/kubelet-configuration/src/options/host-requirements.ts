/** Requirements on the host, without which the kubelet does not start. */
export type HostRequirements = {
  /** No swap (`failSwapOn`). */
  noSwap: boolean;
  /** The kernel settings of upstream's kubelet (`protectKernelDefaults`). */
  kernelDefaults: boolean;
};
