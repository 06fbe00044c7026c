import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import type { Strategy } from '../strategy.ts';
import { objectsAt, valueAt } from '../values.ts';
import { MAX_CONFIGS, validateConfig } from './device-config.ts';
import { validateItems } from './device-lists.ts';
import { validateSelectors } from './device-requests.ts';

function validate(object: ApiObject): FieldError[] {
  const name = valueAt(object, 'spec', 'extendedResourceName');
  const field = 'spec.extendedResourceName';
  const wrongName = typeof name === 'string' && !isExtendedResource(name);
  const configs = objectsAt(object, 'spec', 'config');
  return [
    ...validateSelectors('spec.selectors', objectsAt(object, 'spec', 'selectors')),
    ...validateItems('spec.config', configs, { max: MAX_CONFIGS, validate: validateConfig }),
    ...(wrongName ? [invalidValue(field, name, 'must be a valid extended resource name')] : []),
  ];
}

/** Returns true if a resource is not in one of Kubernetes' own domains. */
function isExtendedResource(name: string): boolean {
  const isNative = !name.includes('/') || name.includes('kubernetes.io/');
  return !isNative && !name.startsWith('requests.') && qualifiedNameProblems(`requests.${name}`).length === 0;
}

export const DEVICE_CLASS: Strategy = { validate, validateUpdate: validate, hasGeneration: true };
