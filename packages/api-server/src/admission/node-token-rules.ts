/** Rules for tokens requested by a kubelet: only for pods on its node, and only for the audiences these pods use. */

import { type ApiError, notFound, type ObjectStore } from '@podwright/api-machinery';
import { type ApiObject, objectAt, objectsAt, textAt, textsAt, valueAt } from '@podwright/kube-kinds';
import type { NodeWrite, NodeWriteRule } from './node-write.ts';

const PODS = { group: '', plural: 'pods' };

export const tokenRefusal: NodeWriteRule = (write) => {
  const { operation, subresource, object } = write.attributes;
  if (operation !== 'CREATE' || subresource !== 'token') return undefined;
  return bindingRefusal(write, valueAt(object, 'spec', 'boundObjectRef'), textsAt(object, 'spec', 'audiences'));
};

function bindingRefusal(
  write: NodeWrite,
  reference: unknown,
  audiences: readonly string[],
): string | ApiError | undefined {
  const { node, store, attributes } = write;
  const [name, uid] = [textAt(reference, 'name'), textAt(reference, 'uid')];
  const isPod = textAt(reference, 'apiVersion') === 'v1' && textAt(reference, 'kind') === 'Pod';
  if (!isPod || name === '') return 'node requested token not bound to a pod';
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = store.get({ resource: 'pods', namespace: attributes.namespace, name })?.decode();
  if (pod === undefined) return notFound(PODS, name);
  if (pod.metadata.uid !== uid)
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  if (textAt(pod, 'spec', 'nodeName') !== node)
    return 'node requested token bound to a pod scheduled on a different node';
  return audienceRefusal(write, pod, audiences);
}

function audienceRefusal(write: NodeWrite, pod: ApiObject, audiences: readonly string[]): string | undefined {
  const [audience = '', ...others] = audiences;
  if (others.length > 0) return 'node may only request 0 or 1 audiences';
  if (usesAudience(write.store, pod, audience) || mayRequest(write, audience)) return undefined;
  const { username } = write.attributes.user;
  return `audience ${JSON.stringify(audience)} not found in pod spec volume, ${username} is not authorized to request tokens for this audience`;
}

/** Whether RBAC lets the node request tokens for an additional audience. The rule names the audience as its resource. */
function mayRequest({ authorizer, attributes }: NodeWrite, audience: string): boolean {
  const { user, namespace, name } = attributes;
  const target = {
    isResourceRequest: true,
    apiGroup: '',
    resource: audience,
    subresource: '',
    namespace,
    name,
    path: '',
  };
  const verb = 'request-serviceaccounts-token-audience';
  return authorizer.authorize({ user, verb, ...target }).decision === 'allow';
}

/** Whether one of the pod's volumes uses a token for the audience: either a projected token or one requested by a CSI driver. */
function usesAudience(store: ObjectStore, pod: ApiObject, audience: string): boolean {
  return objectsAt(pod, 'spec', 'volumes').some((volume) => {
    const projected = objectsAt(volume, 'projected', 'sources').map((source) =>
      objectAt(source, 'serviceAccountToken'),
    );
    if (projected.some((token) => token !== undefined && textAt(token, 'audience') === audience)) return true;
    const name = driverOf(store, pod, volume);
    const driver = name && store.get({ resource: 'csidrivers.storage.k8s.io', namespace: '', name })?.decode();
    return objectsAt(driver, 'spec', 'tokenRequests').some((request) => textAt(request, 'audience') === audience);
  });
}

/** Returns the name of the volume's CSI driver, or '' if it has none. */
function driverOf(store: ObjectStore, { metadata }: ApiObject, volume: unknown): string {
  const inline = textAt(volume, 'csi', 'driver');
  if (inline !== '') return inline;
  const isEphemeral = valueAt(volume, 'ephemeral', 'volumeClaimTemplate') !== undefined;
  const name = isEphemeral
    ? `${metadata.name}-${textAt(volume, 'name')}`
    : textAt(volume, 'persistentVolumeClaim', 'claimName');
  const { namespace = '' } = metadata;
  const claim = store.get({ resource: 'persistentvolumeclaims', namespace, name })?.decode();
  const bound = { resource: 'persistentvolumes', namespace: '', name: textAt(claim, 'spec', 'volumeName') };
  return textAt(store.get(bound)?.decode(), 'spec', 'csi', 'driver');
}
