/** Host settings that the kubelet requires in order to start. */
export type HostRequirements = {
  /** The host has no swap (`failSwapOn`). */
  noSwap: boolean;
  /** The host already has the kernel settings that upstream's kubelet would make (`protectKernelDefaults`). */
  kernelDefaults: boolean;
};
