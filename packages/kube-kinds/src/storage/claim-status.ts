import { quantityMilliValue, quantityValue } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import { nonNegativeQuantity, problemsAt } from '../rules.ts';
import { listAt, textEntriesAt } from '../values.ts';

const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();

export function validateClaimStatusUpdate(object: ApiObject): FieldError[] {
  const capacity = textEntriesAt(object, 'status', 'capacity');
  const statuses = textEntriesAt(object, 'status', 'allocatedResourceStatuses');
  const allocated = textEntriesAt(object, 'status', 'allocatedResources');
  return [
    ...(object.metadata.resourceVersion ? [] : [required('resourceVersion')]),
    ...(listAt(object, 'spec', 'accessModes').length === 0 ? [required('Spec.accessModes')] : []),
    ...capacity.flatMap(([name, quantity]) => validateBasic(`status.capacity[${name}]`, quantity)),
    ...statuses.flatMap(([name, status]) => validateResize('status.allocatedResourceStatuses', name, status)),
    ...allocated.flatMap(([name, quantity]) => validateAllocated('status.allocatedResources', name, quantity)),
  ];
}

/** Validates a resize status. As in upstream, the error shows the resource name instead of the status. */
const validateResize = (field: string, name: string, status: string): FieldError[] => [
  ...validateName(field, name),
  ...(RESIZE_STATUSES.includes(status) ? [] : [notSupported(field, name, RESIZE_STATUSES)]),
];

function validateAllocated(field: string, name: string, quantity: string): FieldError[] {
  const wrongName = validateName(field, name);
  if (wrongName.length > 0) return wrongName;
  const at = `${field}[${name}]`;
  const wrong = validateBasic(at, quantity);
  if (wrong.length > 0) return wrong;
  const isWhole = quantityMilliValue(quantity) % 1000n === 0n;
  return [...nonNegativeQuantity(at, quantity), ...(isWhole ? [] : [invalidValue(at, quantity, 'must be an integer')])];
}

/** Validates a resource name. The only valid Kubernetes resource is storage. */
function validateName(field: string, name: string): FieldError[] {
  const problems = problemsAt(field, name, qualifiedNameProblems(name));
  if (problems.length > 0) return problems;
  const isNative = !name.includes('/') || name.includes('kubernetes.io/');
  return isNative && name !== 'storage' ? [notSupported(field, name, ['storage'])] : [];
}

function validateBasic(field: string, quantity: string): FieldError[] {
  const value = quantityValue(quantity);
  return value < 0n ? [invalidValue(field, Number(value), 'must be a valid resource quantity')] : [];
}
