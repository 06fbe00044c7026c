import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from '../field-error.ts';
import { dns1123SubdomainProblems, patternProblem } from '../names.ts';
import { immutable, isDnsLabel, problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, objectAt, textAt, valueAt, withValue } from '../values.ts';
import { validateReference } from './ingress-backend.ts';

const MAX_CONTROLLER_BYTES = 250;
const PATH_PATTERN = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const path = new RegExp(`^${PATH_PATTERN}$`);
const NO_PREFIX = 'must be a domain-prefixed path (such as "acme.io/foo")';

export const ingressClasses: Strategy = {
  applyDefaults: (object) => {
    const needsScope =
      objectAt(object, 'spec', 'parameters') !== undefined &&
      valueAt(object, 'spec', 'parameters', 'scope') === undefined;
    return needsScope ? withValue(object, ['spec', 'parameters', 'scope'], 'Cluster') : object;
  },
  validate: validateClass,
  validateUpdate: (object, old) => [
    ...immutable('spec.controller', textAt(object, 'spec', 'controller'), textAt(old, 'spec', 'controller')),
    ...validateClass(object),
  ],
  hasGeneration: true,
};

function validateClass(object: ApiObject): FieldError[] {
  const controller = textAt(object, 'spec', 'controller');
  const parameters = objectAt(object, 'spec', 'parameters');
  const isLong = Buffer.byteLength(controller) > MAX_CONTROLLER_BYTES;
  return [
    ...(isLong ? [tooLong('spec.controller', MAX_CONTROLLER_BYTES)] : []),
    ...validateController(controller),
    ...(parameters === undefined ? [] : validateParameters('spec.parameters', parameters)),
  ];
}

/** Validates the controller name (IsDomainPrefixedPath). */
function validateController(controller: string): FieldError[] {
  const field = 'spec.controller';
  if (controller === '') return [required(field)];
  const slash = controller.indexOf('/');
  const [host, rest] = [controller.slice(0, Math.max(slash, 0)), controller.slice(slash + 1)];
  if (host === '' || rest === '') return [invalidValue(field, controller, NO_PREFIX)];
  const errors = problemsAt(field, host, dns1123SubdomainProblems(host));
  return path.test(rest)
    ? errors
    : [...errors, invalidValue(field, rest, patternProblem('Invalid path', PATH_PATTERN, []))];
}

function validateParameters(field: string, parameters: JsonObject): FieldError[] {
  return [...validateReference(field, parameters), ...validateScope(field, parameters)];
}

function validateScope(field: string, parameters: JsonObject): FieldError[] {
  const scope = valueAt(parameters, 'scope');
  const hasNamespace = valueAt(parameters, 'namespace') !== undefined;
  if (scope === undefined) return [required(`${field}.scope`)];
  if (scope !== 'Cluster' && scope !== 'Namespace')
    return [notSupported(`${field}.scope`, scope, ['Cluster', 'Namespace'])];
  if (scope === 'Cluster')
    return hasNamespace ? [forbiddenField(`${field}.namespace`, "`parameters.scope` is set to 'Cluster'")] : [];
  if (!hasNamespace) return [required(`${field}.namespace`, "`parameters.scope` is set to 'Namespace'")];
  return isDnsLabel(`${field}.namespace`, textAt(parameters, 'namespace'));
}
