import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { dns1035LabelProblems } from '../names.ts';
import { repeats } from '../repeats.ts';
import { problemsAt } from '../rules.ts';
import { type JsonObject, objectAt, textAt, textsAt } from '../values.ts';
import { validateClient } from './webhook-client.ts';

const STRATEGIES = ['None', 'Webhook'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

/**
 * Validates a CustomResourceDefinition's conversion. If `requireKnown` is true, the server must support at least one of the webhook's
 * review versions.
 */
export function validateConversion(
  field: string,
  conversion: JsonObject | undefined,
  { requireKnown }: { requireKnown: boolean },
): FieldError[] {
  if (conversion === undefined) return [];
  const strategy = textAt(conversion, 'strategy');
  const versions = textsAt(conversion, 'conversionReviewVersions');
  return [
    ...validateEnum(`${field}.strategy`, strategy, STRATEGIES),
    ...(strategy === 'Webhook'
      ? [
          ...validateWebhook(`${field}.webhookClientConfig`, conversion),
          ...validateVersions(`${field}.conversionReviewVersions`, versions, requireKnown),
        ]
      : validateNoWebhook(field, conversion)),
  ];
}

/** Validates a required enum value. */
export function validateEnum(field: string, value: string, supported: readonly string[]): FieldError[] {
  if (value === '') return [required(field)];
  return supported.includes(value) ? [] : [notSupported(field, value, supported)];
}

function validateWebhook(field: string, conversion: JsonObject): FieldError[] {
  const client = objectAt(conversion, 'webhookClientConfig');
  if (client === undefined) return [required(field, 'required when strategy is set to Webhook')];
  return validateClient(field, client);
}

function validateNoWebhook(field: string, conversion: JsonObject): FieldError[] {
  const detail = 'should not be set when strategy is not set to Webhook';
  const hasClient = objectAt(conversion, 'webhookClientConfig') !== undefined;
  const hasVersions = textsAt(conversion, 'conversionReviewVersions').length > 0;
  return [
    ...(hasClient ? [forbiddenField(`${field}.webhookClientConfig`, detail)] : []),
    ...(hasVersions ? [forbiddenField(`${field}.conversionReviewVersions`, detail)] : []),
  ];
}

export const hasKnownReviewVersion = (versions: readonly string[]): boolean =>
  versions.some((version) => REVIEW_VERSIONS.includes(version));

function validateVersions(field: string, versions: readonly string[], requireKnown: boolean): FieldError[] {
  if (versions.length === 0) return [required(field)];
  const isRepeated = repeats(versions);
  const errors = versions.flatMap((version, index) => {
    const at = `${field}[${index}]`;
    if (isRepeated[index]) return [invalidValue(at, version, 'duplicate version')];
    return problemsAt(at, version, dns1035LabelProblems(version));
  });
  const detail = `must include at least one of ${REVIEW_VERSIONS.join(', ')}`;
  const isUnknown = requireKnown && !hasKnownReviewVersion(versions);
  return isUnknown ? [...errors, invalidValue(field, versions, detail)] : errors;
}
