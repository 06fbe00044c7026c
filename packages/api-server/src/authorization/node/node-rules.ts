/** Rules for resources where a kubelet may only access some objects, by group resource. */
import type { AuthorizationAttributes } from '../authorizer.ts';
import { requiresField } from './field-requirements.ts';
import type { NodeRelations, Requested } from './node-relations.ts';

type Requestor = { node: string; relations: NodeRelations };

/** Checks a kubelet's request. Returns `undefined` if it is allowed, otherwise the reason, possibly ''. */
type NodeRule = (attributes: AuthorizationAttributes, requestor: Requestor) => string | undefined;

/** Whether the requested object is related to the kubelet's node: a pod on the node refers to it, or it is assigned to the node. */
type Relation = (requestor: Requestor, requested: Requested) => boolean;

const ALLOWED = undefined;
const LEASE_NAMESPACE = 'kube-node-lease';
const SINGLE = ['get', 'create', 'update', 'patch', 'delete'];

/** Returns the relation of objects that a pod on the node refers to. */
const referred =
  (kind: string): Relation =>
  ({ node, relations }, { namespace, name }) =>
    relations.hasPodWith(node, namespace, `${kind}/${name}`);

/** Returns the relation of objects assigned to the node by `spec.nodeName`. */
const assigned =
  (resource: string): Relation =>
  ({ node, relations }, requested) =>
    relations.names(node, resource, requested);

/** Returns a rule that allows requests for objects with the given relation to the node. */
function related(relation: Relation): NodeRule {
  return ({ namespace, name }, requestor) => {
    if (name === '') return 'No Object name found';
    if (relation(requestor, { namespace, name })) return ALLOWED;
    return `no relationship found between node '${requestor.node}' and this object`;
  };
}

/**
 * Returns a rule that allows reading an object with the given relation to the node: getting it, and listing or watching this object alone.
 */
function readRelated(relation: Relation): NodeRule {
  const check = related(relation);
  return (attributes, requestor) => {
    const { verb, subresource, namespace } = attributes;
    if (!['get', 'list', 'watch'].includes(verb)) return 'can only read resources of this type';
    if (subresource !== '') return 'cannot read subresource';
    if (namespace === '') return 'can only read namespaced object of this type';
    return check(attributes, requestor);
  };
}

function getRelated(relation: Relation): NodeRule {
  const check = related(relation);
  return (attributes, requestor) => {
    if (attributes.verb !== 'get') return 'can only get individual resources of this type';
    if (attributes.subresource !== '') return 'cannot get subresource';
    return check(attributes, requestor);
  };
}

const claim = referred('claim');
const serviceAccount = referred('serviceaccount');
const pod = assigned('pods');
const slice = assigned('resourceslices.resource.k8s.io');

const claims: NodeRule = (attributes, requestor) => {
  if (attributes.subresource !== 'status') return getRelated(claim)(attributes, requestor);
  if (!['update', 'patch'].includes(attributes.verb)) return 'can only get/update/patch this type';
  return related(claim)(attributes, requestor);
};

const serviceAccounts: NodeRule = (attributes, requestor) => {
  const { verb, subresource, name } = attributes;
  if (verb === 'get' && subresource === '') return readRelated(serviceAccount)(attributes, requestor);
  if (verb !== 'create' || name === '') return 'can only create tokens for individual service accounts';
  if (subresource !== 'token') return 'can only create token subresource of serviceaccount';
  return related(serviceAccount)(attributes, requestor);
};

/** Lets a kubelet use only the Lease with its node's name. On create, the name is not known yet, so it is left to admission to check it. */
const leases: NodeRule = ({ verb, namespace, name }, { node }) => {
  if (!SINGLE.includes(verb)) return 'can only get, create, update, patch, or delete a node lease';
  if (namespace !== LEASE_NAMESPACE) return `can only access leases in the "${LEASE_NAMESPACE}" system namespace`;
  const isOwn = verb === 'create' || name === node;
  return isOwn ? ALLOWED : 'can only access node lease with the same name as the requesting node';
};

const csiNodes: NodeRule = ({ verb, subresource, name }, { node }) => {
  if (!SINGLE.includes(verb)) return 'can only get, create, update, patch, or delete a CSINode';
  if (subresource !== '') return 'cannot authorize CSINode subresources';
  const isOwn = verb === 'create' || name === node;
  return isOwn ? ALLOWED : 'can only access CSINode with the same name as the requesting node';
};

const resourceSlices: NodeRule = (attributes, requestor) => {
  const { verb, subresource, fieldSelector = '' } = attributes;
  if (subresource !== '') return 'cannot authorize ResourceSlice subresources';
  if (verb === 'create') return ALLOWED;
  if (SINGLE.includes(verb)) return related(slice)(attributes, requestor);
  if (!['watch', 'list', 'deletecollection'].includes(verb))
    return 'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection';
  if (requiresField(fieldSelector, 'spec.nodeName', requestor.node)) return ALLOWED;
  return 'can only list/watch/deletecollection resourceslices with nodeName field selector';
};

/** Lets a kubelet read its own Node object, even before it exists, and write Node objects. Admission restricts the writes to its own. */
const nodes: NodeRule = ({ verb, subresource, name }, { node }) => {
  if (subresource === 'status') return ['update', 'patch'].includes(verb) ? ALLOWED : '';
  if (subresource !== '') return '';
  if (['create', 'update', 'patch'].includes(verb)) return ALLOWED;
  if (!['get', 'list', 'watch'].includes(verb)) return '';
  if (name === '') return `node '${node}' cannot read all nodes, only its own Node object`;
  return name === node ? ALLOWED : `node '${node}' cannot read '${name}', only its own Node object`;
};

/**
 * Lets a kubelet read its own node's pods and write pods. Admission lets it create only mirror pods, and restricts other writes to pods on
 * its node.
 */
const pods: NodeRule = (attributes, requestor) => {
  const { verb, subresource, name, fieldSelector = '' } = attributes;
  if (subresource === 'status') return ['update', 'patch'].includes(verb) ? ALLOWED : '';
  if (subresource === 'eviction') return verb === 'create' ? ALLOWED : '';
  if (subresource !== '') return '';
  if (verb === 'get') return related(pod)(attributes, requestor);
  if (verb === 'create' || verb === 'delete') return ALLOWED;
  if (verb !== 'list' && verb !== 'watch') return '';
  if (requiresField(fieldSelector, 'spec.nodeName', requestor.node)) return ALLOWED;
  return name === ''
    ? 'can only list/watch pods with spec.nodeName field selector'
    : related(pod)(attributes, requestor);
};

export const NODE_RULES: ReadonlyMap<string, NodeRule> = new Map<string, NodeRule>([
  ['secrets', readRelated(({ node, relations }, requested) => relations.hasSecret(node, requested))],
  ['configmaps', readRelated(referred('configmap'))],
  ['persistentvolumeclaims', claims],
  ['persistentvolumes', getRelated(({ node, relations }, { name }) => relations.hasVolume(node, name))],
  ['resourceclaims.resource.k8s.io', getRelated(referred('resourceclaim'))],
  ['volumeattachments.storage.k8s.io', getRelated(assigned('volumeattachments.storage.k8s.io'))],
  ['serviceaccounts', serviceAccounts],
  ['leases.coordination.k8s.io', leases],
  ['csinodes.storage.k8s.io', csiNodes],
  ['resourceslices.resource.k8s.io', resourceSlices],
  ['nodes', nodes],
  ['pods', pods],
]);
