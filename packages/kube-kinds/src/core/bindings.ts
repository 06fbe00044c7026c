import type { ApiObject } from '../api-object.ts';
import { type FieldError, notSupported, required } from '../field-error.ts';
import type { Strategy } from '../strategy.ts';
import { textAt } from '../values.ts';

/** Bindings can only be created: the server assigns the pod to the node, but does not store the binding. */
export const bindings: Strategy = { validate: validateBinding };

function validateBinding(object: ApiObject): FieldError[] {
  const kind = textAt(object, 'target', 'kind');
  const isSupported = kind === '' || kind === 'Node';
  return [
    ...(isSupported ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(textAt(object, 'target', 'name') === '' ? [required('target.name')] : []),
  ];
}
