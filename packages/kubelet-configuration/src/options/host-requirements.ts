/** Host settings that must be in place for the kubelet to start. */
export type HostRequirements = {
  /** Requires that swap is disabled on the host (`failSwapOn`). */
  noSwap: boolean;
  /** Requires that the host already has the kernel settings that upstream's kubelet would otherwise set (`protectKernelDefaults`). */
  kernelDefaults: boolean;
};
