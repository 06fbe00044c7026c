import { FIELDS, type KubeletConfiguration } from './fields/field-table.ts';
import type { GivenFields } from './given-fields.ts';

/** Fills in upstream's defaults for unset fields (pkg/kubelet/apis/config/v1beta1/defaults.go). */
export function completeConfiguration(given: GivenFields): KubeletConfiguration {
  const values: Record<string, unknown> = {};
  for (const [name, { type, fallback, keepsZero }] of FIELDS) {
    const value = given.get(name)?.value;
    const isSet = value !== undefined && value !== null && (keepsZero === true || !type.isZero(value));
    values[name] = isSet ? value : fallback;
  }
  return withDependentDefaults(values as KubeletConfiguration, given);
}

function withDependentDefaults(configuration: KubeletConfiguration, given: GivenFields): KubeletConfiguration {
  const { maxParallelImagePulls: parallel, podPidsLimit } = configuration;
  const reportsAsUpdates = given.has('nodeStatusUpdateFrequency') && !given.has('nodeStatusReportFrequency');
  return {
    ...configuration,
    serializeImagePulls: configuration.serializeImagePulls ?? (parallel === undefined || parallel < 2),
    podPidsLimit: podPidsLimit < 0 ? -1 : podPidsLimit,
    nodeStatusReportFrequency: reportsAsUpdates
      ? configuration.nodeStatusUpdateFrequency
      : configuration.nodeStatusReportFrequency,
    // the `--seccomp-default` flag predates the field, so a false field does not override a true flag
    seccompDefault: configuration.seccompDefault || configuration.seccompDefaultFlag === true,
  };
}
