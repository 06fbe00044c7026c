import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue } from '../field-error.ts';
import type { Strategy } from '../strategy.ts';
import { textAt, valueAt } from '../values.ts';
import { ingressOptions, validateIngress } from './ingress-validation.ts';
import { validateIngressStatus } from './load-balancer-status.ts';
import { ingressIpWarnings } from './services.ts';
import { annotationOf, statusSubresource } from './status.ts';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

export const ingresses: Strategy = {
  prepareForCreate: (object) => ({ ...object, status: { loadBalancer: {} } }),
  validate: (object) => [...validateIngress(object, {}), ...validateClassAnnotation(object)],
  validateUpdate: (object, old) => validateIngress(object, ingressOptions(old)),
  warnings: (object, old) => {
    const isClassSet = valueAt(object, 'spec', 'ingressClassName') !== undefined;
    if (old !== undefined || isClassSet || annotationOf(object, CLASS_ANNOTATION) === undefined) return [];
    return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`];
  },
  subresources: { status: { ...statusSubresource(validateIngressStatus), warnings: ingressIpWarnings } },
  hasGeneration: true,
};

function validateClassAnnotation(object: ApiObject): FieldError[] {
  const annotation = annotationOf(object, CLASS_ANNOTATION);
  const isClassSet = valueAt(object, 'spec', 'ingressClassName') !== undefined;
  if (annotation === undefined || !isClassSet || annotation === textAt(object, 'spec', 'ingressClassName')) return [];
  const detail = 'must match `ingressClassName` when both are specified';
  return [invalidValue(`annotations.${CLASS_ANNOTATION}`, annotation, detail)];
}
