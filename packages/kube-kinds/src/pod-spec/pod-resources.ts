/** Pod-level resources (validatePodResources). */
import {
  compareQuantities,
  containersAmount,
  containersAmountNames,
  formatQuantity,
  type PodSpec,
} from '@podwright/kube-api';
import type { Field } from '../field.ts';
import { type FieldError, notSupported } from '../field-error.ts';
import { isHugePages, validateResourceName } from '../resource-names.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textEntriesAt, valueAt } from '../values.ts';
import type { PodOptions } from './options.ts';
import { validateResources } from './resources.ts';

/** Resources supported at the pod level, as listed in upstream's messages. A name ending with a dash is a prefix. */
const POD_LEVEL = ['cpu', 'hugepages-', 'memory'];

/** Validates the pod-level resources. `field` refers to the pod spec. */
export function validatePodResources(
  spec: JsonObject,
  field: Field,
  { claimNames, options }: { claimNames: ReadonlySet<string>; options: PodOptions },
): void {
  const resources = objectAt(spec, 'resources');
  const at = field.at('resources');
  if (resources === undefined) return;
  if (textAt(spec, 'os', 'name') === 'windows') return at.forbidden('may not be set for a windows pod');
  if (valueAt(resources, 'claims') !== undefined)
    at.at('claims').forbidden('claims may not be set for Resources at pod-level');
  validateResources(resources, at, { nameRule: validatePodResourceName, claimNames, options });
  validateTotals(spec, at);
  for (const [index, container] of objectsAt(spec, 'containers').entries())
    validateContainerLimits(container, resources, at.at('containers', index));
}

function validatePodResourceName(field: string, name: string): FieldError[] {
  const errors = validateResourceName(field, name);
  if (errors.length > 0 || POD_LEVEL.includes(name) || isHugePages(name)) return errors;
  return [notSupported(field, name, POD_LEVEL)];
}

/** Checks that the pod's requests and huge page limits are sufficient for its containers. */
function validateTotals(spec: JsonObject, field: Field): void {
  const containers = spec as unknown as PodSpec;
  for (const kind of ['requests', 'limits'] as const)
    for (const name of containersAmountNames({ ...containers, containers: containers.containers ?? [] }, kind)) {
      const ofPod = textAt(spec, 'resources', kind, name);
      if (ofPod === '' || (kind === 'limits' && !isHugePages(name))) continue;
      const total = formatQuantity(containersAmount(containers, kind, name), ofPod);
      if (compareQuantities(total, ofPod) > 0)
        field
          .at(kind)
          .key(name)
          .invalid(ofPod, `must be greater than or equal to aggregate container ${kind} of ${total}`);
    }
}

function validateContainerLimits(container: JsonObject, ofPod: JsonObject, field: Field): void {
  for (const [name, limit] of textEntriesAt(container, 'resources', 'limits')) {
    const podLimit = textAt(ofPod, 'limits', name);
    if (podLimit !== '' && compareQuantities(limit, podLimit) > 0)
      field.key(name).at('limits').invalid(limit, `must be less than or equal to pod limits of ${podLimit}`);
  }
}
