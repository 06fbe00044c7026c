import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { hasInvalidSelectorValues, matchesSelector, validateLabelSelector } from '../labels.ts';
import { dns1123LabelProblems } from '../names.ts';
import type { PodOptions } from '../pod-spec/options.ts';
import { podOptions } from '../pod-spec/pod-options.ts';
import { isUsableSelector, shownLabels } from '../selectors.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, numberAt, objectAt, textEntriesAt, valueAt, withItems, withValue } from '../values.ts';
import { hasPrefixedLabels, validateGeneratedSelector, withGeneratedSelector } from './job-labels.ts';
import { isIndexed, validateJobSpec } from './job-spec.ts';
import { validateJobStatus } from './job-status.ts';
import { validateJobUpdate } from './job-update.ts';
import { defaultTemplateAt, nameWarnings, prepareTemplateAt, templateWarnings } from './pod-templates.ts';
import { resetStatus, retainStatus, statusOnly } from './status-fields.ts';

const TEMPLATE = ['spec', 'template'];
const LABELS = [...TEMPLATE, 'metadata', 'labels'];
const BACKOFF_LIMIT = 6;
const UNLIMITED = 2 ** 31 - 1;
const MANY_COMPLETIONS = 100_000;
const HIGH_PARALLELISM = 10_000;

/** Sets the defaults. The Job's own labels default to its template's labels. */
function applyDefaults(object: ApiObject): ApiObject {
  const labels = objectAt(object, ...LABELS);
  const hasLabels = textEntriesAt(object, 'metadata', 'labels').length > 0;
  const labelled = labels === undefined || hasLabels ? object : withValue(object, ['metadata', 'labels'], labels);
  const complete = { ...labelled, spec: defaultSpec(objectAt(object, 'spec') ?? {}) };
  return defaultTemplateAt(complete, TEMPLATE);
}

function defaultSpec(spec: JsonObject): JsonObject {
  const isSingle = spec.completions === undefined && spec.parallelism === undefined;
  const replacement = objectAt(spec, 'podFailurePolicy') === undefined ? 'TerminatingOrFailed' : 'Failed';
  return defaultPodConditions({
    ...(isSingle ? { completions: 1 } : {}),
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex === undefined ? BACKOFF_LIMIT : UNLIMITED,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: replacement,
    manualSelector: false,
    ...spec,
  });
}

/** Defaults the status of each pod condition in a pod failure policy to `True`. */
export const defaultPodConditions = (spec: JsonObject): JsonObject =>
  withItems(spec, ['podFailurePolicy', 'rules'], (rule) =>
    withItems(rule, ['onPodConditions'], (condition) => ({ ...condition, status: condition.status || 'True' })),
  );

/** Validates the rules common to new and updated Jobs. */
function validateJob(job: ApiObject, root: Field, { pod, old }: { pod: PodOptions; old?: ApiObject }): void {
  validateGeneratedSelector(job, root, old === undefined || hasPrefixedLabels(old));
  validateSpec(job, root.at('spec'), pod);
  const completions = numberAt(job, 'spec', 'completions') ?? 0;
  if (!isIndexed(objectAt(job, 'spec')) || completions <= 0) return;
  const name = job.metadata.name ?? '';
  const hostname = `${name}-${completions - 1}`;
  if (dns1123LabelProblems(hostname).length > 0)
    root.at('metadata', 'name').invalid(name, `will not able to create pod with invalid DNS label: ${hostname}`);
}

function validateSpec(job: ApiObject, field: Field, pod: PodOptions): void {
  const spec = objectAt(job, 'spec') ?? {};
  const selector = objectAt(spec, 'selector');
  validateJobSpec(spec, field, pod);
  if (selector === undefined) field.at('selector').required();
  const allowInvalidValues = pod.allowInvalidSelectorValues;
  field.add(validateLabelSelector(field.at('selector').path, selector, { allowInvalidValues }));
  const labels = valueAt(spec, 'template', 'metadata', 'labels');
  if (isUsableSelector(selector) && !matchesSelector(selector, labels))
    field
      .at('template', 'metadata', 'labels')
      .invalid(shownLabels(labels), '`selector` does not match template `labels`');
}

function validate(job: ApiObject): FieldError[] {
  const root = new Field();
  validateJob(job, root, { pod: {} });
  return root.errors;
}

/** As in upstream, errors in the spec are reported twice: for the Job and for the update. */
function validateUpdate(job: ApiObject, old: ApiObject): FieldError[] {
  const root = new Field();
  const options = podOptions(objectAt(old, ...TEMPLATE));
  const allowInvalidSelectorValues =
    options.allowInvalidSelectorValues || hasInvalidSelectorValues(valueAt(old, 'spec', 'selector'));
  const pod = { ...options, allowInvalidSelectorValues };
  validateJob(job, root, { pod, old });
  validateSpec(job, root.at('spec'), pod);
  validateJobUpdate(job, old, root.at('spec'));
  return root.errors;
}

/** Returns the warnings about a Job spec. `path` is its path, in a Job or in a Job template. */
export function jobSpecWarnings(spec: JsonObject | undefined, path: string): string[] {
  const isLarge =
    (numberAt(spec, 'completions') ?? 0) > MANY_COMPLETIONS && (numberAt(spec, 'parallelism') ?? 0) > HIGH_PARALLELISM;
  const words =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return isIndexed(spec) && isLarge ? [`${path}: ${words}`] : [];
}

export const JOBS: Strategy = {
  applyDefaults,
  prepareForCreate: (object) => resetStatus(prepareTemplateAt(withGeneratedSelector(object), undefined, TEMPLATE)),
  prepareForUpdate: (object, old) => retainStatus(prepareTemplateAt(object, old, TEMPLATE), old),
  validate,
  validateUpdate,
  warnings: (object, old) => [
    ...nameWarnings(object, old),
    ...jobSpecWarnings(objectAt(object, 'spec'), 'spec'),
    ...templateWarnings(object, old, TEMPLATE),
  ],
  subresources: { status: { prepareForUpdate: statusOnly, validateUpdate: validateJobStatus } },
  selectableFields: { 'status.successful': (object) => String(numberAt(object, 'status', 'succeeded') ?? 0) },
  hasGeneration: true,
  defaultDeletion: 'orphan',
};
