import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { textAt } from '../values.ts';

const ANNOTATION = 'api-approved.kubernetes.io';
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

/**
 * Validates the approval annotation required in Kubernetes-owned API groups. Updates that do not change the approval state are always
 * valid.
 */
export function validateApproval(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const group = textAt(object, 'spec', 'group');
  if (!['k8s.io', 'kubernetes.io'].some((domain) => `.${group}`.endsWith(`.${domain}`))) return [];
  const annotation = annotationOf(object);
  const state = stateOf(annotation);
  const field = `metadata.annotations[${ANNOTATION}]`;
  const must = `protected groups must have approval annotation "${ANNOTATION}"`;
  if (old !== undefined && state === stateOf(annotationOf(old))) return [];
  if (state === 'missing') return [required(field, `${must}, ${SEE}`)];
  if (state !== 'invalid') return [];
  return [invalidValue(field, annotation, `${must} with either a URL or a reason starting with "unapproved", ${SEE}`)];
}

const annotationOf = (object: ApiObject): string => textAt(object.metadata, 'annotations', ANNOTATION);

function stateOf(annotation: string): 'missing' | 'bypassed' | 'approved' | 'invalid' {
  if (annotation === '') return 'missing';
  if (annotation.startsWith('unapproved')) return 'bypassed';
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#\s]+/.test(annotation) ? 'approved' : 'invalid';
}
