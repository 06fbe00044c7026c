import { type AdmissionAttributes, groupResource, type ObjectStore } from '@podwright/api-machinery';
import { sleep } from '@podwright/base';
import { type ApiObject, listAt, objectsAt, textAt, valueAt, withValue } from '@podwright/kube-kinds';
import { isMirrorPod, referencesOf } from '../authorization/node/pod-references.ts';
import { type AdmissionPlugin, isWriteOf, type ObjectAttributes, rejected } from './admission-plugin.ts';
import { secretRefusal } from './mountable-secrets.ts';
import { withTokenVolume } from './token-volume.ts';

export type ServiceAccountParts = {
  store: ObjectStore;
  /** Waits between attempts to find the `default` service account of a new namespace, which a controller creates. Tests replace it. */
  wait?: (durationMs: number) => Promise<void>;
};

const DEFAULT = 'default';
/** A controller creates the `default` service account shortly after the namespace. Pod creation waits at most 1.4 s for it. */
const ATTEMPTS = 10;
const RETRY_MS = 150;

/** Sets each pod's service account, and adds the account's token and image pull secrets. */
export class ServiceAccountAdmission implements AdmissionPlugin {
  readonly name = 'ServiceAccount';
  readonly #store: ObjectStore;
  readonly #wait: (durationMs: number) => Promise<void>;

  constructor({ store, wait = sleep }: ServiceAccountParts) {
    this.#store = store;
    this.#wait = wait;
  }

  async mutate(attributes: ObjectAttributes): Promise<ApiObject> {
    const { object } = attributes;
    if (!isWriteOf(attributes, 'pods', 'CREATE')) return object;
    if (isMirrorPod(object)) {
      checkMirrorPod(attributes, object); // as in upstream, before the plugins that follow
      return object;
    }
    const name = textAt(object, 'spec', 'serviceAccountName') || textAt(object, 'spec', 'serviceAccount') || DEFAULT;
    const account = await this.#account(attributes, name);
    const named = withValue(withValue(object, ['spec', 'serviceAccountName'], name), ['spec', 'serviceAccount'], name);
    return withPullSecrets(mountsToken(account, named) ? withTokenVolume(named) : named, account);
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { object, namespace } = attributes;
    const isDebugging = isDebuggingOf(attributes);
    if (object === undefined || !(isDebugging || isWriteOf(attributes, 'pods', 'CREATE'))) return;
    if (!isDebugging && isMirrorPod(object)) return checkMirrorPod(attributes, object);
    const name = textAt(object, 'spec', 'serviceAccountName');
    if (name === '')
      throw rejected(attributes, `no service account specified for pod ${namespace}/${object.metadata.name ?? ''}`);
    const account = await this.#account(attributes, name);
    const refusal = secretRefusal(account, object, isDebugging);
    if (refusal !== undefined) throw rejected(attributes, refusal);
  }

  async #account(attributes: AdmissionAttributes, name: string): Promise<ApiObject> {
    const { namespace } = attributes;
    for (let attempt = 1; ; attempt++) {
      const found = this.#store.get({ resource: 'serviceaccounts', namespace, name })?.decode();
      if (found !== undefined) return found;
      if (name !== DEFAULT || attempt >= ATTEMPTS) break;
      await this.#wait(RETRY_MS);
    }
    const missing = `serviceaccount ${JSON.stringify(name)} not found`;
    throw rejected(attributes, `error looking up service account ${namespace}/${name}: ${missing}`);
  }
}

/** Whether the write adds ephemeral containers to a pod, as `kubectl debug` does. */
const isDebuggingOf = ({ operation, resource, subresource }: AdmissionAttributes): boolean =>
  operation === 'UPDATE' && groupResource(resource) === 'pods' && subresource === 'ephemeralcontainers';

/** Whether to mount a service account token into the pod. The pod's `automountServiceAccountToken` overrides the service account's. */
function mountsToken(account: ApiObject, pod: ApiObject): boolean {
  const setting =
    valueAt(pod, 'spec', 'automountServiceAccountToken') ?? valueAt(account, 'automountServiceAccountToken');
  return setting !== false;
}

function withPullSecrets(pod: ApiObject, account: ApiObject): ApiObject {
  const secrets = objectsAt(account, 'imagePullSecrets').map((one) => ({ name: textAt(one, 'name') }));
  if (secrets.length === 0 || listAt(pod, 'spec', 'imagePullSecrets').length > 0) return pod;
  return withValue(pod, ['spec', 'imagePullSecrets'], secrets);
}

/**
 * Rejects mirror pods that refer to other API objects. Mirror pods are created by nodes, which must not gain access to objects this way.
 */
function checkMirrorPod(attributes: AdmissionAttributes, pod: ApiObject): void {
  if (textAt(pod, 'spec', 'serviceAccountName') !== '')
    throw rejected(attributes, 'a mirror pod may not reference service accounts');
  if (referencesOf(pod).some((reference) => reference.startsWith('secret/')))
    throw rejected(attributes, 'a mirror pod may not reference secrets');
  const sources = objectsAt(pod, 'spec', 'volumes').flatMap((volume) => objectsAt(volume, 'projected', 'sources'));
  if (sources.some((source) => valueAt(source, 'serviceAccountToken') !== undefined))
    throw rejected(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}
