import { validateCanonicalIp } from '../address-rules.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, required } from '../field-error.ts';
import { immutable, isDnsSubdomain, problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { pathSegmentProblems } from '../texts.ts';
import { objectAt, textAt } from '../values.ts';
import { validateSegment } from './ingress-backend.ts';

const FIELD = 'spec.parentRef';
const INVALID_PREFIX = /^Invalid value: ".*?": /s;

export const ipAddresses: Strategy = {
  validate: validateParent,
  validateUpdate: (object, old) => [
    ...validateParent(object),
    ...immutable(FIELD, internalParent(object), internalParent(old)),
  ],
  // use the validation of IP address fields, but return only the details of its messages, without the prefix
  nameProblems: (name) => validateCanonicalIp('', name).map(({ message }) => message.replace(INVALID_PREFIX, '')),
};

/** Returns the internal form of the parent reference, as shown in upstream's errors. */
function internalParent(object: ApiObject): unknown {
  const parent = objectAt(object, 'spec', 'parentRef');
  if (parent === undefined) return undefined;
  const [Group, Resource, Namespace, Name] = ['group', 'resource', 'namespace', 'name'].map((name) =>
    textAt(parent, name),
  );
  return { Group, Resource, Namespace, Name };
}

function validateParent(object: ApiObject): FieldError[] {
  const parent = objectAt(object, 'spec', 'parentRef');
  if (parent === undefined) return [required(FIELD)];
  const group = textAt(parent, 'group');
  const namespace = textAt(parent, 'namespace');
  return [
    ...(group === '' ? [] : isDnsSubdomain(`${FIELD}.group`, group)),
    ...validateSegment(`${FIELD}.resource`, textAt(parent, 'resource')),
    ...validateSegment(`${FIELD}.name`, textAt(parent, 'name')),
    ...(namespace === '' ? [] : problemsAt(`${FIELD}.namespace`, namespace, pathSegmentProblems(namespace))),
  ];
}
