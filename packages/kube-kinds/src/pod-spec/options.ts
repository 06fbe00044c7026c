/** Validation rules of pods and templates that are relaxed for an update, because the stored object already violates them. */
export type PodOptions = {
  /** Whether the object is a pod, not a template. */
  isPod?: boolean;
  allowInvalidSelectorValues?: boolean;
  allowInvalidRequiredAffinityValues?: boolean;
  allowInvalidSpreadSelectors?: boolean;
  allowInvalidMatchLabelKeys?: boolean;
  allowNonLocalTokenPath?: boolean;
  allowHostSysctls?: boolean;
  allowIndivisibleHugePages?: boolean;
  allowComparisonTolerations?: boolean;
  allowMountOptionSelinuxChange?: boolean;
  allowInvalidDeletionCost?: boolean;
  allowRestartContainerResizeOfInit?: boolean;
  allowUserNamespaceVolumeDevices?: boolean;
  allowUserNamespaceHostNetwork?: boolean;
};
