/** Host settings that the kubelet requires in order to start. */
export type HostRequirements = {
  /** No swap (`failSwapOn`). */
  noSwap: boolean;
  /** The kernel settings of upstream's kubelet (`protectKernelDefaults`). */
  kernelDefaults: boolean;
};
