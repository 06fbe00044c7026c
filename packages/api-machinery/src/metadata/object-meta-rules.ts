/** Validates the metadata of all kinds, with upstream's error messages (apimachinery, api/validation/objectmeta.go). */
import {
  type ApiObject,
  dns1123LabelProblems,
  type FieldError,
  forbiddenField,
  invalidValue,
  type NameRule,
  required,
} from '@podwright/kube-kinds';
import { validateAnnotations, validateLabels } from './key-value-rules.ts';
import { validateManagedFields } from './managed-fields-rules.ts';
import { validateFinalizers, validateOwnerReferences } from './reference-rules.ts';

type Metadata = ApiObject['metadata'];

/** Validates the metadata of a new object after its name was generated (ValidateObjectMeta). */
export function validateObjectMeta(
  metadata: Metadata,
  { isNamespaced, nameProblems }: { isNamespaced: boolean; nameProblems: NameRule },
): FieldError[] {
  const { name = '', generateName = '' } = metadata;
  const inName = (field: string, value: string, isPrefix: boolean) =>
    nameProblems(value, isPrefix).map((problem) => invalidValue(field, value, problem));
  return [
    ...(generateName === '' ? [] : inName('metadata.generateName', generateName, true)),
    ...(name === '' ? [NAME_REQUIRED] : inName('metadata.name', name, false)),
    ...validateCommonFields(metadata, isNamespaced),
  ];
}

const NAME_REQUIRED = required('metadata.name', 'name or generateName is required');

/** Validates metadata by the rules common to creates and updates. Names are not checked. */
export function validateCommonFields(metadata: Metadata, isNamespaced: boolean): FieldError[] {
  return [
    ...validateNamespace(metadata.namespace ?? '', isNamespaced),
    ...validateGeneration(metadata.generation ?? 0),
    ...validateLabels(metadata.labels ?? {}),
    ...validateAnnotations(metadata.annotations ?? {}),
    ...validateOwnerReferences(metadata.ownerReferences ?? []),
    ...validateFinalizers(metadata.finalizers ?? []),
    ...validateManagedFields(metadata.managedFields),
  ];
}

function validateNamespace(namespace: string, isNamespaced: boolean): FieldError[] {
  const field = 'metadata.namespace';
  if (!isNamespaced) return namespace === '' ? [] : [forbiddenField(field, 'not allowed on this type')];
  if (namespace === '') return [required(field)];
  return dns1123LabelProblems(namespace).map((problem) => invalidValue(field, namespace, problem));
}

const validateGeneration = (generation: number): FieldError[] =>
  generation >= 0 ? [] : [invalidValue('metadata.generation', generation, 'must be greater than or equal to 0')];
