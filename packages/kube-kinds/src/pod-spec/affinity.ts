/** Validates the affinity of pods (validateAffinity). */
import { Field } from '../field.ts';
import { validateLabelName, validateLabelSelector } from '../labels.ts';
import { dns1123LabelProblems } from '../names.ts';
import { validateNodeSelector, validateNodeSelectorTerm } from '../node-selector.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, textsAt, valueAt } from '../values.ts';
import { validateMatchLabelKeys } from './match-label-keys.ts';
import type { PodOptions } from './options.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const MAX_WEIGHT = 100;

export function validateAffinity(affinity: JsonObject | undefined, field: Field, options: PodOptions): void {
  const node = objectAt(affinity, 'nodeAffinity');
  if (node !== undefined) validateNodeAffinity(node, field.at('nodeAffinity'), options);
  for (const name of ['podAffinity', 'podAntiAffinity'])
    for (const { term, at, weight } of podTerms(objectAt(affinity, name), field.at(name))) {
      if (weight !== undefined) validateWeight(weight.value, weight.at);
      validatePodTerm(term, at, options);
    }
}

function validateWeight(weight: number, field: Field): void {
  if (weight <= 0 || weight > MAX_WEIGHT) field.invalid(weight, 'must be in the range 1-100');
}

type PodTerm = { term: JsonObject; at: Field; weight?: { value: number; at: Field } };

/** Returns the terms of a pod affinity or anti-affinity, the required ones first. */
function podTerms(affinity: JsonObject | undefined, field: Field): PodTerm[] {
  const required = objectsAt(affinity, REQUIRED).map((term, index) => ({ term, at: field.at(REQUIRED, index) }));
  const preferred = objectsAt(affinity, PREFERRED).map((one, index) => ({
    term: objectAt(one, 'podAffinityTerm') ?? {},
    at: field.at(PREFERRED, index, 'podAffinityTerm'),
    weight: { value: numberAt(one, 'weight') ?? 0, at: field.at(PREFERRED, index, 'weight') },
  }));
  return [...required, ...preferred];
}

function validatePodTerm(term: JsonObject, field: Field, options: PodOptions): void {
  validateTermSelectors(term, field, options.allowInvalidSelectorValues);
  for (const namespace of textsAt(term, 'namespaces'))
    field.at('namespace').invalidEach(namespace, dns1123LabelProblems(namespace));
  validateMatchLabelKeys(term, field);
  const key = textAt(term, 'topologyKey');
  if (key === '') field.at('topologyKey').required('can not be empty');
  field.add(validateLabelName(field.at('topologyKey').path, key));
}

function validateTermSelectors(term: JsonObject, field: Field, allowInvalidValues = false): void {
  for (const name of ['labelSelector', 'namespaceSelector'])
    field.add(validateLabelSelector(field.at(name).path, valueAt(term, name), { allowInvalidValues }));
}

/** Returns true if a pod affinity or anti-affinity has an invalid selector, which updates must tolerate. */
export function hasInvalidAffinitySelector(affinity: JsonObject | undefined): boolean {
  const field = new Field();
  for (const name of ['podAffinity', 'podAntiAffinity'])
    for (const { term, at } of podTerms(objectAt(affinity, name), field)) validateTermSelectors(term, at);
  return field.errors.length > 0;
}

function validateNodeAffinity(affinity: JsonObject, field: Field, options: PodOptions): void {
  const required = objectAt(affinity, REQUIRED);
  if (required !== undefined)
    field.add(
      validateNodeSelector(field.at(REQUIRED).path, required, {
        allowInvalidValues: options.allowInvalidRequiredAffinityValues,
      }),
    );
  for (const [index, one] of objectsAt(affinity, PREFERRED).entries()) {
    const at = field.at(PREFERRED, index);
    validateWeight(numberAt(one, 'weight') ?? 0, at.at('weight'));
    const preference = objectAt(one, 'preference') ?? {};
    field.add(validateNodeSelectorTerm(at.at('preference').path, preference, { allowInvalidValues: true }));
  }
}
