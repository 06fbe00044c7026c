import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { repeats } from '../repeats.ts';
import { problemsAt } from '../rules.ts';
import { statusWith } from '../status-update.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, numberAt, objectAt, objectsAt, textAt, withValue } from '../values.ts';
import { validateFlowRule } from './flow-rules.ts';
import { MANDATORY_FLOW_SCHEMAS } from './mandatory-flows.ts';

const DEFAULT_PRECEDENCE = 1000;
const MAX_PRECEDENCE = 10_000;
const DISTINGUISHERS = ['ByNamespace', 'ByUser'];

function applyDefaults(object: ApiObject): ApiObject {
  const precedence = numberAt(object, 'spec', 'matchingPrecedence') ?? 0;
  return precedence === 0 ? withValue(object, ['spec', 'matchingPrecedence'], DEFAULT_PRECEDENCE) : object;
}

function validate(object: ApiObject): FieldError[] {
  const name = object.metadata.name ?? '';
  const mandatory = MANDATORY_FLOW_SCHEMAS.get(name);
  const isOther = mandatory !== undefined && !isSameValue(object.spec, mandatory);
  const fixed = `spec of '${name}' must equal the fixed value`;
  return [
    ...validatePrecedence('spec.matchingPrecedence', object),
    ...validateDistinguisher('spec.distinguisherMethod', objectAt(object, 'spec', 'distinguisherMethod')),
    ...validateLevel('spec.priorityLevelConfiguration.name', object),
    ...objectsAt(object, 'spec', 'rules').flatMap((rule, index) => validateFlowRule(`spec.rules[${index}]`, rule)),
    ...(isOther ? [invalidValue('spec', object.spec, fixed)] : []),
    ...validateFlowStatus(object),
  ];
}

function validatePrecedence(field: string, object: ApiObject): FieldError[] {
  const precedence = numberAt(object, 'spec', 'matchingPrecedence') ?? 0;
  const wrong = (detail: string) => [invalidValue(field, precedence, detail)];
  if (precedence <= 0) return wrong('must be a positive value');
  if (precedence > MAX_PRECEDENCE) return wrong(`must not be greater than ${MAX_PRECEDENCE}`);
  const isExempt = precedence !== 1 || object.metadata.name === 'exempt';
  return isExempt ? [] : wrong("only the schema named 'exempt' may have matchingPrecedence 1");
}

/** Validates the distinguisher method. As in upstream, an error about its type shows the whole method. */
function validateDistinguisher(field: string, method: unknown): FieldError[] {
  const isKnown = method === undefined || DISTINGUISHERS.includes(textAt(method, 'type'));
  return isKnown ? [] : [notSupported(`${field}.type`, method, DISTINGUISHERS)];
}

function validateLevel(field: string, object: ApiObject): FieldError[] {
  const name = textAt(object, 'spec', 'priorityLevelConfiguration', 'name');
  if (name === '') return [required(field, 'must reference a priority level')];
  return problemsAt(field, name, dns1123SubdomainProblems(name));
}

/** Validates the conditions of a flow schema or priority level: their types must be unique and not empty. */
export function validateFlowStatus(object: ApiObject): FieldError[] {
  const types = objectsAt(object, 'status', 'conditions').map((condition) => textAt(condition, 'type'));
  const isRepeated = repeats(types);
  return types.flatMap((type, index) => {
    const field = `status.conditions[${index}].type`;
    return [...(isRepeated[index] ? [duplicate(field, type)] : []), ...(type === '' ? [required(field)] : [])];
  });
}

export const FLOW_SCHEMA: Strategy = {
  applyDefaults,
  validate,
  validateUpdate: validate,
  subresources: { status: statusWith(validateFlowStatus) },
  hasGeneration: true,
};
