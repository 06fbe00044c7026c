import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError } from '../field-error.ts';
import { repeats } from '../repeats.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, type JsonObject, objectAt, objectsAt, textAt, textsAt, withItems } from '../values.ts';
import { withScope } from './admission-rules.ts';
import { staticNameWarnings } from './static-names.ts';
import { withServicePort } from './webhook-client.ts';
import {
  hasKnownVersion,
  validateSelectors,
  validateVersions,
  validateWebhook,
  type WebhookRules,
} from './webhook-rules.ts';

const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];

const DEFAULTS = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};

const withDefaults =
  (defaults: JsonObject) =>
  (object: ApiObject): ApiObject =>
    withItems(object, ['webhooks'], (webhook) => {
      const given = Object.entries(webhook).filter(([, value]) => value !== null);
      const filled: JsonObject = { ...defaults, ...Object.fromEntries(given) };
      const clientConfig = withServicePort(objectAt(filled, 'clientConfig') ?? {});
      return withItems({ ...filled, clientConfig }, ['rules'], withScope);
    });

const webhooksOf = (object: ApiObject): readonly JsonObject[] => objectsAt(object, 'webhooks');

const STRICT: WebhookRules = {
  sideEffects: NO_SIDE_EFFECTS,
  requireKnownVersion: true,
  requireUniqueNames: true,
  allowInvalidValues: false,
  ignoreConditions: false,
};

function rulesFor(object: ApiObject, old: ApiObject): WebhookRules {
  const before = webhooksOf(old);
  const hadNone = before.every((webhook) => NO_SIDE_EFFECTS.includes(textAt(webhook, 'sideEffects')));
  const conditions = (one: ApiObject) => webhooksOf(one).map((webhook) => objectsAt(webhook, 'matchConditions'));
  return {
    sideEffects: hadNone ? NO_SIDE_EFFECTS : SIDE_EFFECTS,
    requireKnownVersion: before.every((webhook) => hasKnownVersion(textsAt(webhook, 'admissionReviewVersions'))),
    requireUniqueNames: !repeats(before.map((webhook) => textAt(webhook, 'name'))).includes(true),
    allowInvalidValues: before.some((webhook) => validateSelectors('', webhook, false).length > 0),
    ignoreConditions: isSameValue(conditions(object), conditions(old)),
  };
}

function validateWith(object: ApiObject, rules: WebhookRules): FieldError[] {
  const webhooks = webhooksOf(object);
  const names = webhooks.map((webhook) => textAt(webhook, 'name'));
  const isRepeated = repeats(names);
  return webhooks.flatMap((webhook, index) => {
    const field = `webhooks[${index}]`;
    const versions = textsAt(webhook, 'admissionReviewVersions');
    const isSecond = rules.requireUniqueNames && isRepeated[index] && names[index] !== '';
    return [
      ...validateWebhook(field, webhook, rules),
      ...validateVersions(`${field}.admissionReviewVersions`, versions, rules.requireKnownVersion),
      ...(isSecond ? [duplicate(`${field}.name`, names[index])] : []),
    ];
  });
}

const strategyWith = (defaults: JsonObject): Strategy => ({
  applyDefaults: withDefaults(defaults),
  validate: (object) => validateWith(object, STRICT),
  validateUpdate: (object, old) => validateWith(object, rulesFor(object, old)),
  warnings: staticNameWarnings,
  allowUnconditionalUpdate: false,
  hasGeneration: true,
});

export const VALIDATING_WEBHOOK_CONFIGURATION = strategyWith(DEFAULTS);
export const MUTATING_WEBHOOK_CONFIGURATION = strategyWith({ ...DEFAULTS, reinvocationPolicy: 'Never' });
