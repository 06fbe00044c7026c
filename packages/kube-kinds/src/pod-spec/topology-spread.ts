/** Validates topology spread constraints (validateTopologySpreadConstraints). */
import { Field } from '../field.ts';
import { validateLabelSelector } from '../labels.ts';
import { qualifiedNameProblems } from '../names.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, textsAt, valueAt } from '../values.ts';
import { validateMatchLabelKeys } from './match-label-keys.ts';
import type { PodOptions } from './options.ts';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const INCLUSION_POLICIES = ['Honor', 'Ignore'];

export function validateTopologySpread(constraints: readonly JsonObject[], field: Field, options: PodOptions): void {
  const last = new Map(constraints.map((constraint, index) => [keyOf(constraint), index]));
  for (const [index, constraint] of constraints.entries()) {
    const at = field.at(index);
    const key = keyOf(constraint);
    const action = textAt(constraint, 'whenUnsatisfiable');
    at.at('maxSkew').positive(numberAt(constraint, 'maxSkew') ?? 0);
    if (textAt(constraint, 'topologyKey') === '') at.at('topologyKey').required('can not be empty');
    if (!ACTIONS.includes(action)) at.at('whenUnsatisfiable').notSupported(action, ACTIONS);
    if (last.get(key) !== index) at.at('{topologyKey, whenUnsatisfiable}').duplicate(key);
    validateMinDomains(numberAt(constraint, 'minDomains'), action, at.at('minDomains'));
    for (const name of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      const policy = textAt(constraint, name);
      if (valueAt(constraint, name) !== undefined && !INCLUSION_POLICIES.includes(policy))
        at.at(name).notSupported(policy, INCLUSION_POLICIES);
    }
    if (options.allowInvalidMatchLabelKeys) validateLegacyKeys(constraint, at.at('matchLabelKeys'));
    else validateMatchLabelKeys(constraint, at);
    if (!options.allowInvalidSpreadSelectors)
      at.add(validateLabelSelector(at.at('labelSelector').path, valueAt(constraint, 'labelSelector')));
  }
}

const keyOf = (constraint: JsonObject): string =>
  `{${textAt(constraint, 'topologyKey')}, ${textAt(constraint, 'whenUnsatisfiable')}}`;

function validateMinDomains(minDomains: number | undefined, action: string, field: Field): void {
  if (minDomains === undefined) return;
  field.positive(minDomains);
  if (action !== 'DoNotSchedule')
    field.invalid(minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`);
}

/**
 * Validates the `matchLabelKeys` of a constraint in a pod created before such keys were merged into label selectors
 * (ValidateMatchLabelKeysInTopologySpread).
 */
function validateLegacyKeys(constraint: JsonObject, field: Field): void {
  const keys = textsAt(constraint, 'matchLabelKeys');
  const selector = objectAt(constraint, 'labelSelector');
  if (keys.length > 0 && selector === undefined) field.forbidden('must not be specified when labelSelector is not set');
  const expressions = objectsAt(selector, 'matchExpressions').map((one) => textAt(one, 'key'));
  const selected = new Set([...Object.keys(objectAt(selector, 'matchLabels') ?? {}), ...expressions]);
  for (const [index, key] of keys.entries()) {
    field.at(index).invalidEach(key, qualifiedNameProblems(key));
    if (selected.has(key)) field.at(index).invalid(key, 'exists in both matchLabelKeys and labelSelector');
  }
}

export const spreadSelectorsAreInvalid = (constraints: readonly JsonObject[]): boolean =>
  constraints.some((constraint) => validateLabelSelector('', valueAt(constraint, 'labelSelector')).length > 0);

export function matchLabelKeysAreInvalid(constraints: readonly JsonObject[]): boolean {
  const field = new Field();
  for (const constraint of constraints) validateMatchLabelKeys(constraint, field);
  return field.errors.length > 0;
}
