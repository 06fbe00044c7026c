/** Warnings about the affinity, node selectors and topology spread constraints of pods. */
import type { Field } from '../field.ts';
import { labelValueProblems } from '../names.ts';
import { deprecatedNodeLabel, expressionWarnings } from '../node-selector.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textEntriesAt, textsAt, valueAt } from '../values.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const NO_SELECTOR = 'a null labelSelector results in matching no pod';

/** Returns the warnings about a pod's scheduling constraints. `field` refers to the pod spec. */
export function schedulingWarnings(spec: JsonObject, field: Field): string[] {
  const ofSelector = textEntriesAt(spec, 'nodeSelector').flatMap(([key]) => {
    const message = deprecatedNodeLabel(key);
    return message === undefined ? [] : [`${field.at('nodeSelector').key(key).path}: ${message}`];
  });
  const node = objectAt(spec, 'affinity', 'nodeAffinity');
  const at = field.at('affinity', 'nodeAffinity');
  const ofNodes = [
    ...objectsAt(node, REQUIRED, 'nodeSelectorTerms').flatMap((term, index) =>
      expressionWarnings(at.at(REQUIRED, 'nodeSelectorTerms', index).path, term),
    ),
    ...objectsAt(node, PREFERRED).flatMap((term, index) => {
      const preference = objectAt(term, 'preference');
      const place = at.at(PREFERRED, index, 'preference');
      return [...expressionWarnings(place.path, preference), ...labelValueWarnings(preference, place)];
    }),
  ];
  const warnings = [...ofSelector, ...ofNodes];
  for (const [index, constraint] of objectsAt(spec, 'topologySpreadConstraints').entries()) {
    const one = field.at('topologySpreadConstraints', index);
    const key = textAt(constraint, 'topologyKey');
    const message = deprecatedNodeLabel(key);
    if (message !== undefined) warnings.push(`${one.at('topologyKey').path}: ${key} is ${message}`);
    if (valueAt(constraint, 'labelSelector') === undefined)
      warnings.push(`${one.at('labelSelector').path}: ${NO_SELECTOR}`);
  }
  return warnings;
}

const labelValueWarnings = (term: JsonObject | undefined, field: Field): string[] =>
  objectsAt(term, 'matchExpressions').flatMap((expression, index) =>
    textsAt(expression, 'values').flatMap((value, valueIndex) =>
      labelValueProblems(value).map(
        (problem) =>
          `${field.at('matchExpressions', index, 'values', valueIndex).path}: ${value} is invalid, ${problem}`,
      ),
    ),
  );

/** Returns the warnings about pod affinity and anti-affinity. `field` refers to the pod's affinity. */
export function affinityWarnings(spec: JsonObject, field: Field): string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((name) => {
    const affinity = objectAt(spec, 'affinity', name);
    const required = objectsAt(affinity, REQUIRED).map((term, index) => ({
      term,
      at: field.at(name, REQUIRED, index),
    }));
    const preferred = objectsAt(affinity, PREFERRED).map((one, index) => ({
      term: objectAt(one, 'podAffinityTerm') ?? {},
      at: field.at(name, PREFERRED, index, 'podAffinityTerm'),
    }));
    return [...required, ...preferred]
      .filter(({ term }) => valueAt(term, 'labelSelector') === undefined)
      .map(({ at }) => `${at.at('labelSelector').path}: ${NO_SELECTOR}`);
  });
}
