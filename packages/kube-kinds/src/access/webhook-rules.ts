import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { validateLabelSelector } from '../labels.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../names.ts';
import { repeats } from '../repeats.ts';
import { problemsAt } from '../rules.ts';
import { type JsonObject, numberAt, objectsAt, textAt, valueAt } from '../values.ts';
import { validateRule } from './admission-rules.ts';
import { validateMatchConditions } from './match-conditions.ts';
import { validateClient } from './webhook-client.ts';

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const MAX_TIMEOUT_SECONDS = 30;

/** How to validate webhooks. Updates may tolerate violations already present in the old object. */
export type WebhookRules = {
  sideEffects: readonly string[];
  requireKnownVersion: boolean;
  requireUniqueNames: boolean;
  allowInvalidValues: boolean;
  ignoreConditions: boolean;
};

export const hasKnownVersion = (versions: readonly string[]): boolean =>
  versions.length === 0 || versions.some((version) => REVIEW_VERSIONS.includes(version));

export function validateWebhook(field: string, webhook: JsonObject, rules: WebhookRules): FieldError[] {
  const timeout = numberAt(webhook, 'timeoutSeconds') ?? 1;
  const wrongTimeout = timeout < 1 || timeout > MAX_TIMEOUT_SECONDS;
  const between = 'the timeout value must be between 1 and 30 seconds';
  const conditions = objectsAt(webhook, 'matchConditions');
  return [
    ...validateName(`${field}.name`, textAt(webhook, 'name')),
    ...objectsAt(webhook, 'rules').flatMap((rule, index) => validateRule(`${field}.rules[${index}]`, rule)),
    ...oneOf(`${field}.failurePolicy`, valueAt(webhook, 'failurePolicy'), FAILURE_POLICIES),
    ...oneOf(`${field}.matchPolicy`, valueAt(webhook, 'matchPolicy'), MATCH_POLICIES),
    ...validateSideEffects(`${field}.sideEffects`, valueAt(webhook, 'sideEffects'), rules.sideEffects),
    ...(wrongTimeout ? [invalidValue(`${field}.timeoutSeconds`, timeout, between)] : []),
    ...validateSelectors(field, webhook, rules.allowInvalidValues),
    ...oneOf(`${field}.reinvocationPolicy`, valueAt(webhook, 'reinvocationPolicy'), REINVOCATION_POLICIES),
    ...validateClient(`${field}.clientConfig`, webhook.clientConfig),
    ...(rules.ignoreConditions ? [] : validateMatchConditions(`${field}.matchConditions`, conditions)),
  ];
}

/** Validates a domain name, which must have three or more labels (IsFullyQualifiedName). */
function validateName(field: string, name: string): FieldError[] {
  if (name === '') return [required(field)];
  const problems = dns1123SubdomainProblems(name);
  if (problems.length > 0) return [invalidValue(field, name, problems.join(','))];
  const short = 'should be a domain with at least three segments separated by dots';
  return name.split('.', 3).length < 3 ? [invalidValue(field, name, short)] : [];
}

const oneOf = (field: string, value: unknown, supported: readonly string[]): FieldError[] =>
  value === undefined || supported.includes(String(value)) ? [] : [notSupported(field, value, supported)];

const validateSideEffects = (field: string, value: unknown, supported: readonly string[]): FieldError[] =>
  value === undefined
    ? [required(field, `must specify one of ${supported.join(', ')}`)]
    : oneOf(field, value, supported);

export const validateSelectors = (field: string, webhook: JsonObject, allowInvalidValues: boolean): FieldError[] =>
  ['namespaceSelector', 'objectSelector'].flatMap((name) =>
    validateLabelSelector(`${field}.${name}`, webhook[name], { allowInvalidValues }),
  );

export function validateVersions(field: string, versions: readonly string[], requireKnown: boolean): FieldError[] {
  const known = REVIEW_VERSIONS.join(', ');
  if (versions.length === 0) return [required(field, `must specify one of ${known}`)];
  const isRepeated = repeats(versions);
  const errors = versions.flatMap((version, index) => {
    const at = `${field}[${index}]`;
    if (isRepeated[index]) return [invalidValue(at, version, 'duplicate version')];
    return problemsAt(at, version, dns1035LabelProblems(version));
  });
  if (!requireKnown || hasKnownVersion(versions)) return errors;
  return [...errors, invalidValue(field, versions, `must include at least one of ${known}`)];
}
