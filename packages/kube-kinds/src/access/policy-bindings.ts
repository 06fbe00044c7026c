import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { repeats } from '../repeats.ts';
import { problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { objectAt, textAt, textsAt, valueAt, withValue } from '../values.ts';
import {
  validateMatchResources,
  validateMutatingOperations,
  validateParamRef,
  withMatchDefaults,
} from './match-resources.ts';
import { staticNameWarnings } from './static-names.ts';

const ACTIONS = ['Audit', 'Deny', 'Warn'];
const MATCH = ['spec', 'matchResources'];

function applyDefaults(object: ApiObject): ApiObject {
  const match = objectAt(object, ...MATCH);
  return match === undefined ? object : withValue(object, MATCH, withMatchDefaults(match));
}

function validateSpec(field: string, object: ApiObject): FieldError[] {
  const name = textAt(object, 'spec', 'policyName');
  const wrongName = problemsAt(`${field}.policyName`, name, dns1123SubdomainProblems(name));
  return [
    ...(name === '' ? [required(`${field}.policyName`)] : wrongName),
    ...validateParamRef(`${field}.paramRef`, valueAt(object, 'spec', 'paramRef')),
    ...validateMatchResources(`${field}.matchResources`, valueAt(object, ...MATCH)),
  ];
}

const validateValidating = (object: ApiObject): FieldError[] => [
  ...validateSpec('spec', object),
  ...validateActions('spec.validationActions', textsAt(object, 'spec', 'validationActions')),
];

function validateActions(field: string, actions: readonly string[]): FieldError[] {
  const isRepeated = repeats(actions);
  const both =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  return [
    ...actions.flatMap((action, index) => [
      ...(ACTIONS.includes(action) ? [] : [notSupported(`${field}[${index}]`, action, ACTIONS)]),
      ...(isRepeated[index] ? [duplicate(`${field}[${index}]`, action)] : []),
    ]),
    ...(actions.includes('Deny') && actions.includes('Warn') ? [invalidValue(field, actions, both)] : []),
    ...(actions.length === 0 ? [required(field, 'at least one validation action is required')] : []),
  ];
}

const validateMutating = (object: ApiObject): FieldError[] => [
  ...validateSpec('spec', object),
  ...validateMutatingOperations('spec.matchResources', valueAt(object, ...MATCH)),
];

const strategyWith = (validate: (object: ApiObject) => FieldError[]): Strategy => ({
  applyDefaults,
  validate,
  validateUpdate: validate,
  warnings: staticNameWarnings,
  allowUnconditionalUpdate: false,
  hasGeneration: true,
});

export const VALIDATING_ADMISSION_POLICY_BINDING = strategyWith(validateValidating);
export const MUTATING_ADMISSION_POLICY_BINDING = strategyWith(validateMutating);
