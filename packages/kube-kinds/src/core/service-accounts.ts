import type { ApiObject } from '../api-object.ts';
import type { Strategy } from '../strategy.ts';
import { textAt, withItems } from '../values.ts';
import { annotationOf } from './status.ts';

const MOUNTABLE_SECRETS = 'kubernetes.io/enforce-mountable-secrets';

export const serviceAccounts: Strategy = {
  prepareForCreate: withSecretNames,
  prepareForUpdate: withSecretNames,
  warnings: (object, old) => {
    const isNew = old === undefined || annotationOf(old, MOUNTABLE_SECRETS) === undefined;
    if (!isNew || annotationOf(object, MOUNTABLE_SECRETS) === undefined) return [];
    const advice = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets';
    return [`metadata.annotations[${MOUNTABLE_SECRETS}]: ${advice}`];
  },
};

/** Strips references to secrets down to their names. */
function withSecretNames(object: ApiObject): ApiObject {
  return withItems(object, ['secrets'], (secret) => {
    const name = textAt(secret, 'name');
    return name === '' ? {} : { name };
  });
}
