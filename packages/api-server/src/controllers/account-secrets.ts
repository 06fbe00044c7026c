/**
 * Fills Secrets of type `kubernetes.io/service-account-token` with a token of their service account, and deletes them with the account
 * (upstream's tokens controller).
 */
import type { StoredObject, StoreEvent } from '@podwright/api-machinery';
import { type ApiObject, objectsAt, textAt, withValue } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { ignoreOvertaken } from './ignore-overtaken.ts';
import { type Location, locationOf, textOf } from './location.ts';
import { WorkQueue } from './work-queue.ts';

export type AccountSecretsParts = ControllerParts & {
  /** Returns a token of the service account, to be stored in the named Secret. */
  issue: (account: ApiObject, secretName: string) => string;
  /** The cluster's CA certificates, PEM. */
  caCertificate: string;
};

const SECRETS = 'secrets';
const ACCOUNTS = 'serviceaccounts';
const TYPE = 'kubernetes.io/service-account-token';
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';

/** Maintains the token Secrets of service accounts until the signal aborts. */
export async function keepAccountSecrets(parts: AccountSecretsParts): Promise<void> {
  const { store } = parts;
  /** Names of the deleted Secrets that a service account might still refer to, by key of the account. */
  const deleted = new Map<string, Set<string>>();
  const handle = (location: Location) =>
    location.resource === SECRETS ? keepSecret(parts, location) : removeReferences(parts, location, deleted);
  const queue = new WorkQueue({ ...parts, handle, failure: 'keep the token of a service account failed' });
  const seen = (stored: StoredObject) => {
    if (isTokenSecret(stored.decode())) queue.add(locationOf(SECRETS, stored));
  };
  const secretChanged = ({ type, object }: StoreEvent) => {
    if (type !== 'DELETED') return seen(object);
    const secret = object.decode();
    const { namespace, name } = locationOf(SECRETS, object);
    if (!isTokenSecret(secret)) return;
    const account = { resource: ACCOUNTS, namespace, name: accountOf(secret).name };
    deleted.set(textOf(account), (deleted.get(textOf(account)) ?? new Set()).add(name));
    queue.add(account);
  };
  const accountChanged = ({ type, object }: StoreEvent) => {
    const { namespace } = locationOf(ACCOUNTS, object);
    if (type === 'DELETED') for (const one of store.list(SECRETS, { namespace }).objects) seen(one);
  };
  const listed = (objects: readonly StoredObject[]) => objects.forEach((one) => void seen(one));
  const seenAll = () => listed(store.list(SECRETS).objects); // accounts may have been deleted without an event
  await Promise.all([
    followResource(SECRETS, { listed, changed: secretChanged }, parts),
    followResource(ACCOUNTS, { listed: seenAll, changed: accountChanged }, parts),
    queue.run(),
  ]);
}

const isTokenSecret = (secret: ApiObject): boolean => secret.type === TYPE && accountOf(secret).name !== '';

const accountOf = (secret: ApiObject) => ({
  name: textAt(secret, 'metadata', 'annotations', ACCOUNT_NAME),
  uid: textAt(secret, 'metadata', 'annotations', ACCOUNT_UID),
});

/** Fills a token Secret, or deletes it if its service account does not exist. */
async function keepSecret(parts: AccountSecretsParts, location: Location): Promise<void> {
  const { store, registryOf, context } = parts;
  const secret = store.get(location)?.decode();
  if (secret === undefined || !isTokenSecret(secret)) return;
  const { name, uid } = accountOf(secret);
  const account = store.get({ resource: ACCOUNTS, namespace: location.namespace, name })?.decode();
  if (account === undefined || (uid !== '' && uid !== account.metadata.uid)) {
    if (secret.metadata.deletionTimestamp !== undefined) return;
    const preconditions = { uid: secret.metadata.uid };
    await registryOf(SECRETS).delete(location, { preconditions }, context()).catch(ignoreOvertaken);
    return;
  }
  if (filled(parts, secret, account) === secret) return;
  const fill = (now: ApiObject) =>
    isTokenSecret(now) && accountOf(now).name === name ? filled(parts, now, account) : now;
  await registryOf(SECRETS).change(location, fill, context());
}

function filled({ issue, caCertificate }: AccountSecretsParts, secret: ApiObject, account: ApiObject): ApiObject {
  const { namespace = '', name = '' } = secret.metadata;
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const dataOf = (key: string) => textAt(secret, 'data', key);
  const missing = {
    ...(dataOf('ca.crt') === base64(caCertificate) ? {} : { 'ca.crt': base64(caCertificate) }),
    ...(dataOf('namespace') === '' ? { namespace: base64(namespace) } : {}),
    ...(dataOf('token') === '' ? { token: base64(issue(account, name)) } : {}),
  };
  if (Object.keys(missing).length === 0) return secret;
  const annotations = { [ACCOUNT_NAME]: account.metadata.name, [ACCOUNT_UID]: account.metadata.uid };
  const annotated = withValue(secret, ['metadata', 'annotations'], { ...secret.metadata.annotations, ...annotations });
  return { ...annotated, data: { ...(secret.data as object | undefined), ...missing } };
}

/** Removes a service account's references to deleted Secrets. */
async function removeReferences(
  { store, registryOf, context }: ControllerParts,
  location: Location,
  deleted: Map<string, Set<string>>,
): Promise<void> {
  const names = [...(deleted.get(textOf(location)) ?? [])];
  const removed = new Set(names.filter((name) => store.get({ ...location, resource: SECRETS, name }) === undefined));
  const isRemoved = (one: object) => removed.has(textAt(one, 'name'));
  const account = store.get(location)?.decode();
  if (account !== undefined && objectsAt(account, 'secrets').some(isRemoved)) {
    const change = (now: ApiObject) => {
      const secrets = objectsAt(now, 'secrets').filter((one) => !isRemoved(one));
      return withValue(now, ['secrets'], secrets.length === 0 ? undefined : secrets);
    };
    await registryOf(ACCOUNTS).change(location, change, context());
  }
  deleted.delete(textOf(location));
}
