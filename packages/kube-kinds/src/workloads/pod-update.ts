/** Validates pod updates (ValidatePodUpdate). */
import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { jsonDiff } from '../json-diff.ts';
import type { PodOptions } from '../pod-spec/options.ts';
import { validateTolerations } from '../pod-spec/tolerations.ts';
import {
  isSameValue,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  withItems,
  withValue,
} from '../values.ts';
import { withOldScheduling } from './gated-pod-update.ts';
import { optionsOf, validateAnnotationUpdate, validatePod } from './pod-validation.ts';

const MAX_INT32 = 2 ** 31 - 1;
const LISTS = ['containers', 'initContainers'];
const MUTABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

export function validatePodUpdate(pod: ApiObject, old: ApiObject): FieldError[] {
  const root = new Field();
  const options = optionsOf(old);
  validatePod(pod, root, options);
  validateAnnotationUpdate(pod, old, root.at('metadata', 'annotations'));
  const spec = objectAt(pod, 'spec') ?? {};
  const before = objectAt(old, 'spec') ?? {};
  validateSpecUpdate(spec, before, { field: root.at('spec'), options });
  return root.errors;
}

function validateSpecUpdate(
  spec: JsonObject,
  old: JsonObject,
  { field, options }: { field: Field; options: PodOptions },
): void {
  for (const list of LISTS) if (!validateContainers(spec, old, field.at(list))) return;
  if (!validateDeadline(spec, old, field.at('activeDeadlineSeconds'))) return;
  validateAddedTolerations(spec, old, { field: field.at('tolerations'), options });
  validateDeletedGates(spec, old, field.at('schedulingGates'));
  if (isSameValue(spec, old)) return;
  const others = withOldScheduling(withOldFields(spec, old), old, field);
  if (!isSameValue(others, old))
    field.forbidden(`pod updates may not change fields other than ${MUTABLE}\n${jsonDiff(old, others)}`);
}

/**
 * Validates changes to the containers (ValidateContainerUpdates). Returns false if the specs cannot be compared any further, because the
 * containers' number or names differ.
 */
function validateContainers(spec: JsonObject, old: JsonObject, field: Field): boolean {
  const list = field.path.slice(field.path.lastIndexOf('.') + 1);
  const containers = objectsAt(spec, list);
  if (containers.length !== objectsAt(old, list).length) {
    field.forbidden('pod updates may not add or remove containers');
    return false;
  }
  for (const [index, container] of containers.entries()) {
    const image = textAt(container, 'image');
    if (image === '') field.at(index, 'image').required();
    if (image.trim() !== image) field.at(index, 'image').invalid(image, 'must not have leading or trailing whitespace');
  }
  return true;
}

/** Validates a change to `activeDeadlineSeconds`, which can be set or decreased. Returns false if the new value is invalid. */
function validateDeadline(spec: JsonObject, old: JsonObject, field: Field): boolean {
  const deadline = numberAt(spec, 'activeDeadlineSeconds');
  const before = numberAt(old, 'activeDeadlineSeconds');
  if (deadline === undefined) {
    if (before !== undefined) field.invalid(null, 'must not update from a positive integer to nil value');
    return true;
  }
  const isWithin = deadline >= 0 && deadline <= MAX_INT32;
  if (!isWithin) field.invalid(deadline, `must be between 0 and ${MAX_INT32}, inclusive`);
  else if (before !== undefined && before < deadline)
    field.invalid(deadline, 'must be less than or equal to previous value');
  else return true;
  return false;
}

/** Allows adding tolerations. In existing ones, only `tolerationSeconds` can change. */
function validateAddedTolerations(
  spec: JsonObject,
  old: JsonObject,
  { field, options }: { field: Field; options: PodOptions },
): void {
  const tolerations = objectsAt(spec, 'tolerations');
  const keys = new Set(tolerations.map(keyOf));
  if (objectsAt(old, 'tolerations').some((one) => !keys.has(keyOf(one))))
    return field.forbidden('existing toleration can not be modified except its tolerationSeconds');
  validateTolerations(tolerations, field, options);
}

/** Returns a string that identifies a toleration, ignoring its `tolerationSeconds`. */
const keyOf = (toleration: JsonObject): string =>
  JSON.stringify(['key', 'operator', 'value', 'effect'].map((name) => textAt(toleration, name)));

function validateDeletedGates(spec: JsonObject, old: JsonObject, field: Field): void {
  const before = new Set(objectsAt(old, 'schedulingGates').map((gate) => textAt(gate, 'name')));
  for (const [index, gate] of objectsAt(spec, 'schedulingGates').entries()) {
    const name = textAt(gate, 'name');
    if (!before.has(name))
      field.at(index, 'name').forbidden(`only deletion is allowed, but found new scheduling gate '${name}'`);
  }
}

/** Returns the new spec with the mutable fields reset to their old values. Any remaining difference from the old spec is an error. */
function withOldFields(spec: JsonObject, old: JsonObject): JsonObject {
  let result = spec;
  for (const list of LISTS) {
    const before = objectsAt(old, list);
    result = withItems(result, [list], (container, index) => ({ ...container, image: before[index]!.image }));
  }
  for (const name of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'])
    result = withValue(result, [name], old[name]);
  const wasNegative = (numberAt(old, 'terminationGracePeriodSeconds') ?? 0) < 0;
  if (!wasNegative || numberAt(spec, 'terminationGracePeriodSeconds') !== 1) return result;
  return { ...result, terminationGracePeriodSeconds: old.terminationGracePeriodSeconds };
}
