import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue } from '../field-error.ts';
import { nameIsDnsLabel, qualifiedNameProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { textAt, textsAt, withValue } from '../values.ts';
import { statusSubresource, withStatusOf } from './status.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
/** The finalizer that keeps a namespace until its objects have been deleted. */
const FINALIZER = 'kubernetes';
const STANDARD_FINALIZERS = [FINALIZER, 'orphan', 'foregroundDeletion'];

export const namespaces: Strategy = {
  applyDefaults: (object) => {
    const phase = textAt(object, 'status', 'phase') || 'Active';
    return withNameLabel(withValue(object, ['status', 'phase'], phase));
  },
  prepareForCreate: (object) => {
    const finalizers = textsAt(object, 'spec', 'finalizers');
    const withFinalizer = finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER];
    return withNameLabel(withValue({ ...object, status: { phase: 'Active' } }, ['spec', 'finalizers'], withFinalizer));
  },
  prepareForUpdate: (object, old) => withStatusOf(withValue(object, ['spec', 'finalizers'], finalizersOf(old)), old),
  validate: validateNamespace,
  validateUpdate: validateNamespace,
  nameProblems: nameIsDnsLabel,
  subresources: {
    status: statusSubresource(validatePhase),
    finalize: { prepareForUpdate: withStatusOf, validateUpdate: validateFinalize, resetFields: [['status']] },
  },
  selectableFields: { 'status.phase': (object) => textAt(object, 'status', 'phase') },
  prepareForDelete: (object) => withValue(object, ['status', 'phase'], 'Terminating'),
  defersRemoval: (object) => textsAt(object, 'spec', 'finalizers').length > 0,
};

const finalizersOf = (namespace: ApiObject): unknown => (namespace.spec as { finalizers?: unknown })?.finalizers;

/** Adds the name label, unless the name has yet to be generated. */
function withNameLabel(object: ApiObject): ApiObject {
  const { name } = object.metadata;
  return name === undefined || name === '' ? object : withValue(object, ['metadata', 'labels', NAME_LABEL], name);
}

function validateNamespace(object: ApiObject): FieldError[] {
  return textsAt(object, 'spec', 'finalizers').flatMap((name) => validateFinalizer('spec.finalizers', name));
}

function validateFinalize(object: ApiObject): FieldError[] {
  const finalizers = textsAt(object, 'spec', 'finalizers');
  return finalizers.flatMap((name, index) => validateFinalizer(`spec.finalizers[${index}]`, name));
}

function validateFinalizer(field: string, name: string): FieldError[] {
  const errors = problemsAt(field, name, qualifiedNameProblems(name));
  if (!name.includes('/') && !STANDARD_FINALIZERS.includes(name))
    errors.push(invalidValue(field, name, 'name is neither a standard finalizer name nor is it fully qualified'));
  return errors;
}

function validatePhase(object: ApiObject): FieldError[] {
  const phase = textAt(object, 'status', 'phase');
  const isDeleted = object.metadata.deletionTimestamp !== undefined;
  const expected = isDeleted ? 'Terminating' : 'Active';
  if (phase === expected) return [];
  const condition = isDeleted ? 'is not empty' : 'is empty';
  return [invalidValue('status.Phase', phase, `may only be '${expected}' if \`deletionTimestamp\` ${condition}`)];
}
