/** Rules for kubelet writes to the kubelet's own Node and to other objects that belong to it. */

import type { AdmissionAttributes } from '@podwright/api-machinery';
import { type ApiObject, isSameValue, textAt, valueAt, withValue } from '@podwright/kube-kinds';
import { readCertificateRequest } from '../certificates/certificate-request.ts';
import { forbiddenLabels } from './node-labels.ts';
import type { NodeWriteRule } from './node-write.ts';

/** Returns the name of the written object. The attributes of a create request contain it only in the object. */
const nameOf = ({ name, object }: AdmissionAttributes): string => name || (object?.metadata.name ?? '');

export const nodeRefusal: NodeWriteRule = ({ node, attributes }) => {
  const { operation, object, oldObject } = attributes;
  const own = JSON.stringify(node);
  if (nameOf(attributes) !== node)
    return `node ${own} is not allowed to modify node ${JSON.stringify(nameOf(attributes))}`;
  const isChanged = (...path: string[]) => !isSameValue(valueAt(object, ...path), valueAt(oldObject, ...path));
  const hasSource = valueAt(object, 'spec', 'configSource') !== undefined && isChanged('spec', 'configSource');
  const labels = forbiddenLabels(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {}).join(', ');
  if (operation === 'CREATE') {
    if (hasSource) return `node ${own} is not allowed to create pods with a non-nil configSource`;
    return labels === '' ? undefined : `node ${own} is not allowed to set the following labels: ${labels}`;
  }
  if (operation !== 'UPDATE') return undefined;
  if (hasSource) return `node ${own} is not allowed to update configSource to a new non-nil configSource`;
  if (isChanged('spec', 'taints')) return `node ${own} is not allowed to modify taints`;
  if (isChanged('metadata', 'ownerReferences')) return `node ${own} is not allowed to modify ownerReferences`;
  return labels === '' ? undefined : `is not allowed to modify labels: ${labels}`;
};

/** Claim status fields that a kubelet changes after expanding a volume, plus metadata fields that change on every write. */
const CLAIM_FIELDS = [
  ['metadata', 'resourceVersion'],
  ['metadata', 'managedFields'],
  ['status', 'capacity'],
  ['status', 'conditions'],
  ['status', 'allocatedResources'],
  ['status', 'allocatedResourceStatuses'],
];

export const claimRefusal: NodeWriteRule = ({ node, attributes }) => {
  const { operation, subresource, object, oldObject } = attributes;
  if (subresource !== 'status') return 'may only update PVC status';
  if (operation !== 'UPDATE') return `unexpected operation "${operation}"`;
  const rest = (claim: ApiObject) =>
    CLAIM_FIELDS.reduce(
      (one, path) => (valueAt(one, ...path) === undefined ? one : withValue(one, path, undefined)),
      claim,
    );
  if (isSameValue(rest(object!), rest(oldObject!))) return undefined;
  return `node ${JSON.stringify(node)} is not allowed to update fields other than status.quantity and status.conditions`;
};

export const leaseRefusal: NodeWriteRule = ({ node, attributes }) => {
  if (attributes.namespace !== 'kube-node-lease')
    return 'can only access leases in the "kube-node-lease" system namespace';
  if (nameOf(attributes) === node) return undefined;
  return 'can only access node lease with the same name as the requesting node';
};

export const csiNodeRefusal: NodeWriteRule = ({ node, attributes }) =>
  nameOf(attributes) === node ? undefined : 'can only access CSINode with the same name as the requesting node';

export const sliceRefusal: NodeWriteRule = ({ node, attributes }) => {
  const { operation, object, oldObject } = attributes;
  const isOwn = (slice: ApiObject | undefined) => textAt(slice, 'spec', 'nodeName') === node;
  if (operation === 'CREATE' && !isOwn(object))
    return 'can only create ResourceSlice with the same NodeName as the requesting node';
  if (operation === 'DELETE' && !isOwn(oldObject))
    return 'can only delete ResourceSlice with the same NodeName as the requesting node';
  return undefined;
};

const NODE_SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

export const requestRefusal: NodeWriteRule = ({ node, attributes }) => {
  const { operation, object } = attributes;
  if (operation !== 'CREATE' || !NODE_SIGNERS.includes(textAt(object, 'spec', 'signerName'))) return undefined;
  const subject = readCertificateRequest(textAt(object, 'spec', 'request'))?.subject;
  if (subject === undefined) return 'unable to parse csr: PEM block type must be CERTIFICATE REQUEST';
  if (subject.commonName === `system:node:${node}`) return undefined;
  return `can only create a node CSR with CN=system:node:${node}`;
};
