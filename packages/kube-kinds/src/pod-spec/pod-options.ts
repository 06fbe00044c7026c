/**
 * Validation rules that upstream relaxes for updates because the existing object already violates them
 * (GetValidationOptionsFromPodSpecAndMeta).
 */

import { hasInvalidNodeSelectorValues } from '../node-selector.ts';
import { isDivisibleHugePages, isHugePages } from '../resource-names.ts';
import { type JsonObject, listAt, objectAt, objectsAt, textAt, textEntriesAt, valueAt } from '../values.ts';
import { hasInvalidAffinitySelector } from './affinity.ts';
import type { PodOptions } from './options.ts';
import { hasNonLocalTokenPath } from './projected-volume.ts';
import { hostSysctlProblem } from './sysctls.ts';
import { matchLabelKeysAreInvalid, spreadSelectorsAreInvalid } from './topology-spread.ts';
import { containersOf } from './visit-containers.ts';

export const DELETION_COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';

/** Returns the options for updating `old`, the stored pod or template. `old` is `undefined` on create. */
export function podOptions(old: JsonObject | undefined): PodOptions {
  const spec = objectAt(old, 'spec');
  if (spec === undefined) return {};
  return {
    allowInvalidSelectorValues: hasInvalidAffinitySelector(objectAt(spec, 'affinity')),
    allowInvalidRequiredAffinityValues: hasInvalidNodeSelectorValues(
      valueAt(spec, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'),
    ),
    allowInvalidSpreadSelectors: spreadSelectorsAreInvalid(objectsAt(spec, 'topologySpreadConstraints')),
    allowInvalidMatchLabelKeys: matchLabelKeysAreInvalid(objectsAt(spec, 'topologySpreadConstraints')),
    allowNonLocalTokenPath: hasNonLocalTokenPath(objectsAt(spec, 'volumes')),
    allowHostSysctls: objectsAt(spec, 'securityContext', 'sysctls').some(
      (sysctl) => hostSysctlProblem(textAt(sysctl, 'name'), spec) !== undefined,
    ),
    allowIndivisibleHugePages: hasIndivisibleHugePages(spec),
    allowComparisonTolerations: objectsAt(spec, 'tolerations').some((one) =>
      ['Lt', 'Gt'].includes(textAt(one, 'operator')),
    ),
    allowMountOptionSelinuxChange: valueAt(spec, 'securityContext', 'seLinuxChangePolicy') !== undefined,
    allowInvalidDeletionCost: !hasValidDeletionCost(objectAt(old, 'metadata', 'annotations')),
    allowRestartContainerResizeOfInit: objectsAt(spec, 'initContainers').some(hasRestartContainerResize),
    ...userNamespaceOptions(spec),
  };
}

function userNamespaceOptions(spec: JsonObject): PodOptions {
  if (valueAt(spec, 'hostUsers') !== false) return {};
  return {
    allowUserNamespaceHostNetwork: valueAt(spec, 'hostNetwork') === true,
    allowUserNamespaceVolumeDevices: containersOf(spec).some(
      ({ container }) => listAt(container, 'volumeDevices').length > 0,
    ),
  };
}

function hasRestartContainerResize(container: JsonObject): boolean {
  if (textAt(container, 'restartPolicy') === 'Always') return false;
  return objectsAt(container, 'resizePolicy').some((policy) => textAt(policy, 'restartPolicy') === 'RestartContainer');
}

function hasIndivisibleHugePages(spec: JsonObject): boolean {
  const lists = containersOf(spec).flatMap(({ container }) => [
    ...textEntriesAt(container, 'resources', 'limits'),
    ...textEntriesAt(container, 'resources', 'requests'),
  ]);
  const all = [...lists, ...textEntriesAt(spec, 'overhead')];
  return all.some(([name, quantity]) => isHugePages(name) && !isDivisibleHugePages(name, quantity));
}

const MAX_INT32 = 2 ** 31 - 1;

/** Returns true if the pod's deletion cost is absent or a decimal 32-bit integer without leading zeros or a plus sign. */
export function hasValidDeletionCost(annotations: JsonObject | undefined): boolean {
  if (annotations === undefined || !Object.hasOwn(annotations, DELETION_COST_ANNOTATION)) return true;
  const cost = textAt(annotations, DELETION_COST_ANNOTATION);
  return /^(0|-\d{1,20}|[1-9]\d{0,20})$/.test(cost) && Number(cost) <= MAX_INT32 && Number(cost) >= -MAX_INT32 - 1;
}
