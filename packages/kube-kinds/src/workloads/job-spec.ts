/** Validates the specs of Jobs and Job templates (validateJobSpec). */
import type { Field } from '../field.ts';
import { dns1123SubdomainProblems, patternProblem } from '../names.ts';
import type { PodOptions } from '../pod-spec/options.ts';
import { validatePodTemplate } from '../pod-spec/pod-spec.ts';
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from '../values.ts';
import { validatePodFailurePolicy } from './pod-failure-policy.ts';
import { validateSuccessPolicy } from './success-policy.ts';
import { validateCount } from './workload-spec.ts';

const MAX_INDEXED_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
/** With more completions than this, stricter limits apply to parallelism and failed indexes. */
const MANY_COMPLETIONS = 100_000;
const LIMIT_OF_MANY = 10_000;
const MAX_MANAGED_BY = 63;
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const httpPath = new RegExp(`^${HTTP_PATH}$`);

const COMPLETION_MODES = ['NonIndexed', 'Indexed'];
const REPLACEMENT_POLICIES = ['Failed', 'TerminatingOrFailed'];
const COUNTS = [
  ...['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'],
  ...['backoffLimitPerIndex', 'maxFailedIndexes'],
];

export const isIndexed = (spec: JsonObject | undefined): boolean => textAt(spec, 'completionMode') === 'Indexed';

/**
 * Validates a Job spec, except for its selector and the template's labels: Job templates have no selector, so the callers validate both
 * where they exist.
 */
export function validateJobSpec(spec: JsonObject, field: Field, options: PodOptions): void {
  for (const name of COUNTS) validateCount(spec, field, name);
  if (valueAt(spec, 'maxFailedIndexes') !== undefined && valueAt(spec, 'backoffLimitPerIndex') === undefined)
    field.at('backoffLimitPerIndex').required('when maxFailedIndexes is specified');
  if (valueAt(spec, 'managedBy') !== undefined) validateManagedBy(textAt(spec, 'managedBy'), field.at('managedBy'));
  validateCompletionMode(spec, field);
  const failurePolicy = objectAt(spec, 'podFailurePolicy');
  if (failurePolicy !== undefined) validatePodFailurePolicy(failurePolicy, spec, field.at('podFailurePolicy'));
  const successPolicy = objectAt(spec, 'successPolicy');
  if (successPolicy !== undefined && isIndexed(spec))
    validateSuccessPolicy(successPolicy, numberAt(spec, 'completions') ?? 0, field.at('successPolicy'));
  else if (successPolicy !== undefined)
    field.at('successPolicy').invalid(successPolicy, 'requires indexed completion mode');
  validateReplacement(spec, field.at('podReplacementPolicy'));
  validatePodTemplate(objectAt(spec, 'template') ?? {}, field.at('template'), options);
  validateRestartPolicy(spec, field.at('template', 'spec', 'restartPolicy'));
}

/** Validates the name of the controller that manages the Job (IsDomainPrefixedPath). */
function validateManagedBy(name: string, field: Field): void {
  const slash = name.indexOf('/');
  const host = name.slice(0, Math.max(slash, 0));
  const path = name.slice(slash + 1);
  if (name === '') field.required();
  else if (host === '' || path === '') field.invalid(name, 'must be a domain-prefixed path (such as "acme.io/foo")');
  else {
    field.invalidEach(host, dns1123SubdomainProblems(host));
    if (!httpPath.test(path)) field.invalid(path, patternProblem('Invalid path', HTTP_PATH, []));
  }
  if (Buffer.byteLength(name) > MAX_MANAGED_BY) field.tooLong(MAX_MANAGED_BY);
}

function validateCompletionMode(spec: JsonObject, field: Field): void {
  const mode = textAt(spec, 'completionMode');
  const isSet = valueAt(spec, 'completionMode') !== undefined;
  if (isSet && !COMPLETION_MODES.includes(mode)) field.at('completionMode').notSupported(mode, COMPLETION_MODES);
  if (mode === 'Indexed') validateIndexed(spec, field);
  if (isSet && mode !== 'NonIndexed') return;
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes'])
    if (valueAt(spec, name) !== undefined)
      field.at(name).invalid(numberAt(spec, name), 'requires indexed completion mode');
}

function validateIndexed(spec: JsonObject, field: Field): void {
  const completions = numberAt(spec, 'completions');
  const parallelism = numberAt(spec, 'parallelism') ?? 0;
  const maxFailed = numberAt(spec, 'maxFailedIndexes');
  if (completions === undefined) field.at('completions').required('when completion mode is Indexed');
  atMost(parallelism, MAX_INDEXED_PARALLELISM, {
    field: field.at('parallelism'),
    words: ' when completion mode is Indexed',
  });
  const at = field.at('maxFailedIndexes');
  if (completions !== undefined && maxFailed !== undefined && maxFailed > completions)
    at.invalid(maxFailed, 'must be less than or equal to completions');
  atMost(maxFailed ?? 0, MAX_FAILED_INDEXES, { field: at, words: '' });
  if ((completions ?? 0) <= MANY_COMPLETIONS || valueAt(spec, 'backoffLimitPerIndex') === undefined) return;
  if (maxFailed === undefined) at.required(`must be specified when completions is above ${MANY_COMPLETIONS}`);
  const words = ` when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  atMost(parallelism, LIMIT_OF_MANY, { field: field.at('parallelism'), words });
  atMost(maxFailed ?? 0, LIMIT_OF_MANY, { field: at, words });
}

function atMost(value: number, limit: number, { field, words }: { field: Field; words: string }): void {
  if (value > limit) field.invalid(value, `must be less than or equal to ${limit}${words}`);
}

/** With a pod failure policy, `Failed` is the only valid `podReplacementPolicy`. */
function validateReplacement(spec: JsonObject, field: Field): void {
  if (valueAt(spec, 'podReplacementPolicy') === undefined) return;
  const policy = textAt(spec, 'podReplacementPolicy');
  const supported = objectAt(spec, 'podFailurePolicy') === undefined ? REPLACEMENT_POLICIES : ['Failed'];
  if (!supported.includes(policy)) field.notSupported(policy, supported);
}

function validateRestartPolicy(spec: JsonObject, field: Field): void {
  const policy = textAt(spec, 'template', 'spec', 'restartPolicy');
  if (policy === 'Always' || policy === '') field.required('valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') field.notSupported(policy, ['OnFailure', 'Never']);
  else if (objectAt(spec, 'podFailurePolicy') !== undefined && policy !== 'Never')
    field.invalid(policy, 'only "Never" is supported when podFailurePolicy is specified');
}
