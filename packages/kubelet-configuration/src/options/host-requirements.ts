/** Host settings required for the kubelet to start. */
export type HostRequirements = {
  /** Swap must be disabled on the host (`failSwapOn`). */
  noSwap: boolean;
  /** The host must already have the kernel settings that upstream's kubelet would otherwise set (`protectKernelDefaults`). */
  kernelDefaults: boolean;
};
