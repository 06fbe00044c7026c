/** Validation rules for pods and templates that are relaxed for updates because the stored object already violates them. */
export type PodOptions = {
  /** Whether the object is a pod rather than a template. */
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
