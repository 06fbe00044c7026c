/** Rules shared by the specs of several workloads. */
import type { Field } from '../field.ts';
import { matchesSelector, type SelectorOptions, validateLabelSelector } from '../labels.ts';
import type { PodOptions } from '../pod-spec/options.ts';
import { validatePodTemplate } from '../pod-spec/pod-spec.ts';
import { isEmptySelector, isUsableSelector, shownLabels, shownSelector } from '../selectors.ts';
import { percentProblems } from '../texts.ts';
import { isSameValue, type JsonObject, numberAt, objectAt, textAt, valueAt } from '../values.ts';

const NO_MATCH = '`selector` does not match template `labels`';

/** Validates a required label selector. It must not be empty. `kind` appears in the error message. */
export function validateRequiredSelector(
  spec: JsonObject,
  field: Field,
  { kind, ...options }: SelectorOptions & { kind: string },
): void {
  const selector = objectAt(spec, 'selector');
  const at = field.at('selector');
  if (selector === undefined) return at.required();
  at.add(validateLabelSelector(at.path, selector, options));
  if (isEmptySelector(selector)) at.invalid(shownSelector(selector), `empty selector is invalid for ${kind}`);
}

/** Requires the template's labels to match the selector. Errors of an invalid selector are reported separately. */
export function validateTemplateLabels(spec: JsonObject, field: Field): void {
  const selector = objectAt(spec, 'selector');
  const labels = valueAt(spec, 'template', 'metadata', 'labels');
  if (!isUsableSelector(selector) || (selector !== undefined && isEmptySelector(selector))) return;
  if (!matchesSelector(selector, labels))
    field.at('template', 'metadata', 'labels').invalid(shownLabels(labels), NO_MATCH);
}

/** Requires the template's labels to match a plain selector (a label map). */
export function validatePlainSelector(spec: JsonObject, field: Field): void {
  const labels = valueAt(spec, 'template', 'metadata', 'labels');
  if (!matchesSelector({ matchLabels: objectAt(spec, 'selector') }, labels))
    field.at('template', 'metadata', 'labels').invalid(shownLabels(labels), NO_MATCH);
}

/** Requires pods to always restart and not to have a deadline. `kind` appears in the error message. */
export function validateEndlessPods(spec: JsonObject, field: Field, kind: string): void {
  const policy = textAt(spec, 'template', 'spec', 'restartPolicy');
  const at = field.at('template', 'spec');
  if (policy !== 'Always') at.at('restartPolicy').notSupported(policy, ['Always']);
  if (valueAt(spec, 'template', 'spec', 'activeDeadlineSeconds') !== undefined)
    at.at('activeDeadlineSeconds').forbidden(`activeDeadlineSeconds in ${kind} is not Supported`);
}

/** Validates the pod template of a Deployment or ReplicaSet. If the selector is invalid, no other problems are reported. */
export function validateReplicaTemplate(spec: JsonObject, field: Field, options: PodOptions): void {
  if (!isUsableSelector(objectAt(spec, 'selector')))
    return field.at('selector').invalid(shownSelector(spec.selector), 'invalid label selector');
  validateTemplateLabels(spec, field);
  validatePodTemplate(objectAt(spec, 'template') ?? {}, field.at('template'), options);
  validateEndlessPods(spec, field, 'ReplicaSet');
}

export function validateImmutable(value: unknown, old: unknown, field: Field): void {
  if (!isSameValue(value, old)) field.invalid(value, 'field is immutable');
}

/** Validates a non-negative number or a percentage (ValidatePositiveIntOrPercent). */
export function validateCountOrPercent(value: unknown, field: Field): void {
  if (typeof value === 'string') field.invalidEach(value, percentProblems(value));
  else field.notNegative(typeof value === 'number' ? value : 0);
}

/** Returns the number in a count or percentage: 50 for both `50` and `50%`; 0 if the value is neither. */
export function countOrPercent(value: unknown): number {
  if (typeof value === 'number') return value;
  const text = typeof value === 'string' ? value : '';
  return percentProblems(text).length === 0 || /^[+-]?\d+$/.test(text) ? Number.parseInt(text, 10) : 0;
}

export function validateAtMost100Percent(value: unknown, field: Field): void {
  if (typeof value === 'string' && percentProblems(value).length === 0 && countOrPercent(value) > 100)
    field.invalid(value, 'must not be greater than 100%');
}

export const validateCount = (spec: JsonObject, field: Field, name: string): void =>
  field.at(name).notNegative(numberAt(spec, name));
