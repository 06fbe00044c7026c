import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import { nextInt64, parseInt64 } from '../int64.ts';
import { hasInvalidSelectorValues, matchesSelector, validateLabelSelector } from '../labels.ts';
import { podOptions } from '../pod-spec/pod-options.ts';
import { validatePodTemplate } from '../pod-spec/pod-spec.ts';
import { isEmptySelector, isUsableSelector, shownLabels, shownSelector } from '../selectors.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, type JsonObject, objectAt, textAt, valueAt, withValue } from '../values.ts';
import { defaultTemplateAt, prepareTemplateAt, templateWarnings } from './pod-templates.ts';
import { resetStatus, retainStatus, statusOnly, validateCollisions, validateCounts } from './status-fields.ts';
import {
  countOrPercent,
  validateAtMost100Percent,
  validateCount,
  validateCountOrPercent,
  validateEndlessPods,
  validateImmutable,
} from './workload-spec.ts';

const TEMPLATE = ['spec', 'template'];
const HISTORY_LIMIT = 10;
/** The annotation that counts changes to the pod template. Clients cannot modify it. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
const EMPTY_STATUS = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};
const COUNTS = [
  ...['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady', 'observedGeneration'],
  ...['updatedNumberScheduled', 'numberAvailable', 'numberUnavailable', 'collisionCount'],
];

function applyDefaults(object: ApiObject): ApiObject {
  const spec = { revisionHistoryLimit: HISTORY_LIMIT, ...objectAt(object, 'spec') };
  const updateStrategy = defaultStrategy(objectAt(spec, 'updateStrategy') ?? {});
  const complete = defaultTemplateAt({ ...object, spec: { ...spec, updateStrategy } }, TEMPLATE);
  // upstream's conversion to v1 always sets the annotation, so `managedFields` must list it as owned by the writer
  return withGeneration(complete, generationOf(complete));
}

function defaultStrategy(strategy: JsonObject): JsonObject {
  const type = textAt(strategy, 'type') || 'RollingUpdate';
  if (type !== 'RollingUpdate') return strategy;
  return {
    ...strategy,
    type,
    rollingUpdate: { maxUnavailable: 1, maxSurge: 0, ...objectAt(strategy, 'rollingUpdate') },
  };
}

/** Returns the template generation in the annotation, 0 if absent, or Go's error message if it is not a number. */
function readGeneration(object: ApiObject): bigint | string {
  const text = valueAt(object, 'metadata', 'annotations', TEMPLATE_GENERATION);
  return typeof text === 'string' ? parseInt64(text) : 0n;
}

/**
 * Returns the template generation of an object, or 0 if its annotation is not a number, which is possible in objects stored by earlier
 * releases.
 */
function generationOf(object: ApiObject): bigint {
  const read = readGeneration(object);
  return typeof read === 'string' ? 0n : read;
}

function conversionProblem(object: ApiObject): string | undefined {
  const read = readGeneration(object);
  return typeof read === 'string' ? read : undefined;
}

const withGeneration = (object: ApiObject, generation: bigint): ApiObject =>
  withValue(object, ['metadata', 'annotations', TEMPLATE_GENERATION], String(generation));

function prepareForUpdate(object: ApiObject, old: ApiObject): ApiObject {
  const prepared = retainStatus(prepareTemplateAt(object, old, TEMPLATE), old);
  const isChanged = !isSameValue(objectAt(prepared, ...TEMPLATE), objectAt(old, ...TEMPLATE));
  const generation = generationOf(old);
  return withGeneration(prepared, isChanged ? nextInt64(generation) : generation);
}

/** Status updates cannot change the template generation annotation, because upstream's internal object has the generation in its spec. */
const prepareStatus = (object: ApiObject, old: ApiObject): ApiObject =>
  withGeneration(statusOnly(object, old), generationOf(old));

function validate(object: ApiObject, old?: ApiObject) {
  const root = new Field();
  const field = root.at('spec');
  const spec = objectAt(object, 'spec') ?? {};
  const selector = objectAt(spec, 'selector');
  const oldSelector = valueAt(old, 'spec', 'selector');
  const generation = generationOf(object);
  // this fails only if the template generation overflowed int64 and wrapped around
  if (old !== undefined && generation < generationOf(old))
    field.at('templateGeneration').invalid(generation, 'must not be decremented');
  if (old !== undefined) validateImmutable(spec.selector, oldSelector, field.at('selector'));
  const options = podOptions(objectAt(old, ...TEMPLATE));
  const allowInvalidValues = options.allowInvalidSelectorValues || hasInvalidSelectorValues(oldSelector);
  field.add(validateLabelSelector(field.at('selector').path, selector, { allowInvalidValues }));
  const labels = valueAt(spec, 'template', 'metadata', 'labels');
  if (isUsableSelector(selector) && !matchesSelector(selector, labels))
    field
      .at('template', 'metadata', 'labels')
      .invalid(shownLabels(labels), '`selector` does not match template `labels`');
  if (selector !== undefined && isEmptySelector(selector))
    field.at('selector').invalid(shownSelector(selector), 'empty selector is invalid for daemonset');
  validatePodTemplate(objectAt(spec, 'template') ?? {}, field.at('template'), options);
  validateEndlessPods(spec, field, 'DaemonSet');
  validateCount(spec, field, 'minReadySeconds');
  if (generation < 0n) field.at('templateGeneration').invalid(generation, 'must be greater than or equal to 0');
  validateStrategy(objectAt(spec, 'updateStrategy') ?? {}, field.at('updateStrategy'));
  validateCount(spec, field, 'revisionHistoryLimit');
  return root.errors;
}

function validateStrategy(strategy: JsonObject, field: Field): void {
  const type = textAt(strategy, 'type');
  const rollingUpdate = objectAt(strategy, 'rollingUpdate');
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    // upstream's error prints the value as a Go struct
    const shown = { Type: type, RollingUpdate: rollingUpdate ?? null };
    return field.notSupported(shown, ['RollingUpdate', 'OnDelete']);
  }
  if (rollingUpdate === undefined) return field.at('rollingUpdate').required();
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const fields = [
    { value: maxUnavailable, at: field.at('rollingUpdate', 'maxUnavailable') },
    { value: maxSurge, at: field.at('rollingUpdate', 'maxSurge') },
  ];
  for (const { value, at } of fields) validateCountOrPercent(value, at);
  for (const { value, at } of fields) validateAtMost100Percent(value, at);
  const [hasUnavailable, hasSurge] = [countOrPercent(maxUnavailable) !== 0, countOrPercent(maxSurge) !== 0];
  if (hasUnavailable && hasSurge) fields[1]!.at.invalid(maxSurge, 'may not be set when maxUnavailable is non-zero');
  if (!hasUnavailable && !hasSurge) fields[0]!.at.required('cannot be 0 when maxSurge is 0');
}

function validateStatus(object: ApiObject, old: ApiObject) {
  const root = new Field();
  validateCounts(objectAt(object, 'status'), COUNTS, root.at('status'));
  validateCollisions(object, old, root.at('status'));
  return root.errors;
}

export const DAEMON_SETS: Strategy = {
  applyDefaults,
  conversionProblem,
  prepareForCreate: (object) => {
    const prepared = resetStatus(prepareTemplateAt(object, undefined, TEMPLATE), EMPTY_STATUS);
    const generation = generationOf(object);
    return withGeneration(prepared, generation < 1n ? 1n : generation);
  },
  prepareForUpdate,
  validate: (object) => validate(object),
  validateUpdate: validate,
  warnings: (object, old) => {
    const isSame = old !== undefined && generationOf(object) === generationOf(old);
    return isSame ? [] : templateWarnings(object, undefined, TEMPLATE);
  },
  subresources: { status: { prepareForUpdate: prepareStatus, validateUpdate: validateStatus } },
  hasGeneration: true,
};
