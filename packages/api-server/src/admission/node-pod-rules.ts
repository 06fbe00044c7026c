/** Rules for kubelet writes to pods. */

import { type ApiError, notFound } from '@podwright/api-machinery';
import { type ApiObject, isSameValue, listAt, objectsAt, textAt, valueAt } from '@podwright/kube-kinds';
import { isMirrorPod, MIRROR_ANNOTATION, referencesOf } from '../authorization/node/pod-references.ts';
import type { NodeWrite, NodeWriteRule } from './node-write.ts';

const PODS = { group: '', plural: 'pods' };
const NODES = { group: '', plural: 'nodes' };

export const podRefusal: NodeWriteRule = (write) => {
  switch (write.attributes.subresource) {
    case '':
      return mainRefusal(write);
    case 'status':
      return statusRefusal(write);
    case 'eviction':
      return evictionRefusal(write);
    default: {
      const shown = JSON.stringify(write.attributes.subresource);
      return `unexpected pod subresource ${shown}, only 'status' and 'eviction' are allowed`;
    }
  }
};

const nodeNameOf = (pod: ApiObject | undefined): string => textAt(pod, 'spec', 'nodeName');

function mainRefusal(write: NodeWrite): string | ApiError | undefined {
  const { node, attributes } = write;
  switch (attributes.operation) {
    case 'CREATE':
      return creationRefusal(write, attributes.object!);
    case 'DELETE':
      if (nodeNameOf(attributes.oldObject) === node) return undefined;
      return `node ${JSON.stringify(node)} can only delete pods with spec.nodeName set to itself`;
    default:
      return `unexpected operation "${attributes.operation}", node ${JSON.stringify(node)} can only create and delete mirror pods`;
  }
}

function creationRefusal(write: NodeWrite, pod: ApiObject): string | ApiError | undefined {
  const node = JSON.stringify(write.node);
  if (!isMirrorPod(pod))
    return `pod does not have "${MIRROR_ANNOTATION}" annotation, node ${node} can only create mirror pods`;
  if (nodeNameOf(pod) !== write.node) return `node ${node} can only create pods with spec.nodeName set to itself`;
  const refusal = ownerRefusal(write, pod);
  if (refusal !== undefined) return refusal;
  const reference = apiReferenceOf(pod);
  return reference === undefined ? undefined : `node ${node} can not create pods that reference ${reference}`;
}

function ownerRefusal({ node, store }: NodeWrite, { metadata }: ApiObject): string | ApiError | undefined {
  const [owner, ...others] = metadata.ownerReferences ?? [];
  const only = `node ${JSON.stringify(node)} can only create pods with`;
  if (others.length > 0) return `${only} a single owner reference set to itself`;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    return `${only} an owner reference set to itself`;
  if (owner.controller !== true) return `${only} a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true)
    return `node ${JSON.stringify(node)} must not set blockOwnerDeletion on an owner reference`;
  const stored = store.get({ resource: 'nodes', namespace: '', name: node })?.decode();
  if (stored === undefined) return notFound(NODES, node);
  const { uid = '' } = stored.metadata;
  return owner.uid === uid ? undefined : `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`;
}

/** Returns the type of API object that a mirror pod references, worded as in upstream's messages, or `undefined` if there is none. */
function apiReferenceOf(pod: ApiObject): string | undefined {
  const references = referencesOf(pod);
  const named = (['serviceaccount', 'secret', 'configmap'] as const).find((kind) =>
    references.some((reference) => reference.startsWith(`${kind}/`)),
  );
  if (named !== undefined) return `${named}s`;
  if (listAt(pod, 'spec', 'resourceClaims').length > 0) return 'resourceclaims';
  return objectsAt(pod, 'spec', 'volumes')
    .map(volumeReference)
    .find((one) => one !== undefined);
}

const VOLUMES: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};
const PROJECTIONS: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
};

function volumeReference(volume: unknown): string | undefined {
  const inTable = (value: unknown, table: Readonly<Record<string, string>>) =>
    Object.entries(table).find(([field]) => valueAt(value, field) !== undefined)?.[1];
  const own = inTable(volume, VOLUMES);
  const sources = objectsAt(volume, 'projected', 'sources');
  return own ?? sources.map((source) => inTable(source, PROJECTIONS)).find((one) => one !== undefined);
}

function statusRefusal({ node, attributes }: NodeWrite): string | undefined {
  const { operation, object, oldObject } = attributes;
  const own = JSON.stringify(node);
  if (operation !== 'UPDATE') return `unexpected operation "${operation}"`;
  if (nodeNameOf(oldObject) !== node)
    return `node ${own} can only update pod status for pods with spec.nodeName set to itself`;
  const isChanged = (...path: string[]) => !isSameValue(valueAt(object, ...path), valueAt(oldObject, ...path));
  if (isChanged('metadata', 'labels')) return `node ${own} cannot update labels through pod status`;
  if (isChanged('status', 'resourceClaimStatuses')) return `node ${own} cannot update resource claim statues`;
  if (isChanged('status', 'extendedResourceClaimStatus'))
    return `node ${own} cannot update extended resource claim status`;
  return undefined;
}

function evictionRefusal({ node, store, attributes }: NodeWrite): string | ApiError | undefined {
  const { operation, namespace, object } = attributes;
  if (operation !== 'CREATE') return `unexpected operation ${operation}`;
  const name = attributes.name || (object?.metadata.name ?? '');
  if (name === '') return 'could not determine pod from request data';
  const pod = store.get({ resource: 'pods', namespace, name })?.decode();
  if (pod === undefined) return notFound(PODS, name);
  return nodeNameOf(pod) === node ? undefined : `node ${node} can only evict pods with spec.nodeName set to itself`;
}
