/** Records of pulled images and the credentials used to pull them (kubelet.config.k8s.io/v1beta1, ImagePulledRecord). */
import { createHash } from 'node:crypto';
import { canonicalName, withoutTag } from '@podwright/kube-api';
import type { KeyringEntry, RegistryCredential, SecretCoordinates } from './keyring.ts';
import { MAX_PULL_SECRETS_PER_IMAGE } from './limits.ts';

/** A Secret used to pull an image, and the hash of its credential. */
export type PullSecret = SecretCoordinates & { credentialHash: string };

/** The pods that may use an image under a given name: all pods on the node, or those with one of the Secrets. */
export type PullCredentials = { nodePodsAccessible?: boolean; kubernetesSecrets?: PullSecret[] };

/** `credentialMapping`: credentials keyed by the name (without tag and digest) that was used to pull the image. */
export type PulledRecord = {
  lastUpdatedTime: string;
  imageRef: string;
  credentialMapping?: Record<string, PullCredentials>;
};

/** Returns the credentials to record for a successful pull. If there is no entry, the pull was anonymous. */
export function usedCredentials(entry: KeyringEntry | undefined): PullCredentials {
  return entry?.secret === undefined ? { nodePodsAccessible: true } : { kubernetesSecrets: [pullSecret(entry)!] };
}

/** Returns the record for a credential from a Secret; `undefined` for one of the node's credentials. */
export function pullSecret({ credential, secret }: KeyringEntry): PullSecret | undefined {
  return secret && { ...secret, credentialHash: credentialHash(credential) };
}

/** SHA-256 of the credential's JSON in upstream's encoding (username, password), plus the identity token as a third field. */
function credentialHash({ username, password, identityToken }: RegistryCredential): string {
  const fields = {
    ...(username && { username }),
    ...(password && { password }),
    ...(identityToken && { identitytoken: identityToken }),
  };
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/**
 * Whether a pod may use an image on the node. `adds`: one of the pod's Secrets to add to the pull record, because it is equivalent to a
 * recorded one.
 */
export type Access = { allowed: false } | { allowed: true; adds?: PullSecret };

/** Whether the pod may use the image under this name. Calls `podSecrets` only if the answer depends on them. Pure. */
export function accessTo(record: PulledRecord | undefined, image: string, podSecrets: () => PullSecret[]): Access {
  const known = record?.credentialMapping?.[keyOf(record, image)];
  if (known?.nodePodsAccessible) return { allowed: true };
  const secrets = known?.kubernetesSecrets ?? [];
  if (secrets.length === 0) return { allowed: false };
  for (const own of podSecrets()) {
    for (const other of secrets) {
      const sameHash = own.credentialHash === other.credentialHash;
      const sameSecret = isSameSecret(own, other);
      if (sameHash && sameSecret) return { allowed: true };
      if (sameHash || sameSecret)
        return { allowed: true, ...(secrets.length < MAX_PULL_SECRETS_PER_IMAGE && { adds: own }) };
    }
  }
  return { allowed: false };
}

/**
 * Returns the key for an image name: the name without its tag or, if that is not a key, an existing key with the same canonical name
 * (`busybox` is `docker.io/library/busybox`).
 */
function keyOf({ credentialMapping = {} }: PulledRecord, image: string): string {
  const name = withoutTag(image);
  if (Object.hasOwn(credentialMapping, name)) return name;
  const canonical = canonicalName(name);
  return Object.keys(credentialMapping).find((key) => canonicalName(key) === canonical) ?? name;
}

/**
 * Whether both are the same Secret. Always false for a Secret without a UID, as on a standalone node, because a later Secret could have the
 * same name; access then depends on the hash alone.
 */
function isSameSecret(a: PullSecret, b: PullSecret): boolean {
  return a.uid !== '' && a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;
}

export type Pulled = { image: string; imageRef: string; credentials: PullCredentials | undefined };

/**
 * Returns the record with the credentials of another pull added, or the same object if nothing changes. If the credentials are unknown
 * (`undefined`), every pod must authenticate. Pure.
 */
export function withPull(
  record: PulledRecord | undefined,
  { image, imageRef, credentials }: Pulled,
  now: Date,
): PulledRecord {
  const lastUpdatedTime = `${now.toISOString().slice(0, 19)}Z`;
  if (record === undefined) {
    const credentialMapping = credentials === undefined ? {} : { [withoutTag(image)]: credentials };
    return { lastUpdatedTime, imageRef, credentialMapping };
  }
  const name = keyOf(record, image);
  const known = record.credentialMapping?.[name];
  const merged = mergeCredentials(known, credentials);
  if (merged === known || merged === undefined) return record;
  return { ...record, lastUpdatedTime, credentialMapping: { ...record.credentialMapping, [name]: merged } };
}

function mergeCredentials(
  known: PullCredentials | undefined,
  added: PullCredentials | undefined,
): PullCredentials | undefined {
  if (added === undefined || known?.nodePodsAccessible) return known;
  if (known === undefined || added.nodePodsAccessible) return added;
  const before = known.kubernetesSecrets ?? [];
  const news = (added.kubernetesSecrets ?? []).filter((secret) => !before.some((other) => isEqual(secret, other)));
  if (news.length === 0) return known;
  const kept = before.filter((secret) => !news.some((other) => isSamePlace(secret, other)));
  return { kubernetesSecrets: [...kept, ...news].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)) };
}

const placeOf = ({ namespace, name, uid }: PullSecret) => `${namespace}/${name}/${uid}`;
const isSamePlace = (a: PullSecret, b: PullSecret) => placeOf(a) === placeOf(b);
const isEqual = (a: PullSecret, b: PullSecret) => isSamePlace(a, b) && a.credentialHash === b.credentialHash;
