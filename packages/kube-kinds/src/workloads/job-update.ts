/** Validates changes to a Job (ValidateJobSpecUpdate). */
import type { ApiObject } from '../api-object.ts';
import type { Field } from '../field.ts';
import {
  isSameValue,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  valueAt,
  withItems,
  withValue,
} from '../values.ts';
import { isConditionTrue } from './job-conditions.ts';
import { isIndexed } from './job-spec.ts';
import { validateImmutable } from './workload-spec.ts';

const IMMUTABLE = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'];
const NODE_AFFINITY = ['spec', 'affinity', 'nodeAffinity'];
/** Fields of a Job's pod template that are scheduling directives (KEP-2926), apart from node affinity. */
const DIRECTIVES = [
  ...[
    ['spec', 'nodeSelector'],
    ['spec', 'tolerations'],
    ['spec', 'schedulingGates'],
  ],
  ...[
    ['metadata', 'annotations'],
    ['metadata', 'labels'],
  ],
];

/** Validates a change to a Job. `field` is the field of the Job's spec. */
export function validateJobUpdate(job: ApiObject, old: ApiObject, field: Field): void {
  const spec = objectAt(job, 'spec') ?? {};
  const oldSpec = objectAt(old, 'spec') ?? {};
  validateCompletions(spec, oldSpec, field.at('completions'));
  validateImmutable(spec.selector, oldSpec.selector, field.at('selector'));
  validateTemplate(spec, old, field);
  for (const name of IMMUTABLE) validateImmutable(spec[name], oldSpec[name], field.at(name));
}

/** The completions of an Indexed Job can only be changed along with its parallelism. */
function validateCompletions(spec: JsonObject, old: JsonObject, field: Field): void {
  if (!isIndexed(spec)) return validateImmutable(spec.completions, old.completions, field);
  if (isSameValue(spec.completions, old.completions) || spec.completions === undefined) return;
  if (spec.completions !== spec.parallelism)
    field.invalid(spec.completions, 'can only be modified in tandem with spec.parallelism');
}

/**
 * The template of a suspended Job is mutable if the Job has not started or its pods have terminated. Even then, only scheduling directives
 * and container resources can change.
 */
function validateTemplate(spec: JsonObject, old: ApiObject, field: Field): void {
  const template = objectAt(spec, 'template') ?? {};
  const oldTemplate = objectAt(old, 'spec', 'template') ?? {};
  if (!mayChangeTemplate(old)) return validateImmutable(template, oldTemplate, field.at('template'));
  const expected = objectAt(withResources(withDirectives(oldTemplate, template), template), 'spec');
  validateImmutable(objectAt(template, 'spec'), expected, field.at('template.spec'));
}

function mayChangeTemplate(old: ApiObject): boolean {
  const isSuspended = valueAt(old, 'spec', 'suspend') === true;
  const hasStarted = valueAt(old, 'status', 'startTime') !== undefined;
  const hasEnded = isConditionTrue(old, 'Suspended');
  return isSuspended && (!hasStarted || hasEnded) && (numberAt(old, 'status', 'active') ?? 0) === 0;
}

/** Returns the old pod template with the scheduling directives of the new one. */
function withDirectives(old: JsonObject, template: JsonObject): JsonObject {
  let result = old;
  for (const path of DIRECTIVES) result = withValue(result, path, valueAt(template, ...path));
  result = withValue(result, NODE_AFFINITY, valueAt(template, ...NODE_AFFINITY));
  const affinity = objectAt(result, 'spec', 'affinity') ?? {};
  const isEmpty = Object.keys(affinity).length === 0 && objectAt(template, 'spec', 'affinity') === undefined;
  return isEmpty ? withValue(result, ['spec', 'affinity'], undefined) : result;
}

/**
 * Returns the old pod template with the container resources of the new one. A container list that does not match its counterpart is left
 * unchanged, so that validation reports the difference.
 */
function withResources(old: JsonObject, template: JsonObject): JsonObject {
  let result = old;
  for (const list of ['containers', 'initContainers']) {
    const containers = objectsAt(template, 'spec', list);
    if (containers.length !== objectsAt(old, 'spec', list).length) continue;
    result = withItems(result, ['spec', list], (container, index) => {
      const other = containers[index]!;
      if (textAt(other, 'name') !== textAt(container, 'name')) return container;
      return withValue(container, ['resources'], valueAt(other, 'resources'));
    });
  }
  return result;
}
