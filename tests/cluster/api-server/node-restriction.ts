/** Fields that nodes may change in the objects that they may write, as in upstream's NodeRestriction. */
import { type ApiObject, at, isObject, listAt, sameJson, textAt } from './json.ts';
import { isMirror } from './pod-references.ts';
import type { Registry } from './registry.ts';
import { coreKind } from './resource-kinds.ts';

export type NodeChange = {
  node: string;
  verb: string;
  /** The plural, including `/subresource`. */
  resource: string;
  object: ApiObject;
  old?: ApiObject;
};

const NODES = coreKind('nodes');
const PODS = coreKind('pods');
const LEASE_NAMESPACE = 'kube-node-lease';

/** The reason for a denial; undefined if allowed. */
export function nodeChangeRefusal(registry: Registry, change: NodeChange): string | undefined {
  switch (change.resource) {
    case 'pods':
      return change.verb === 'create' ? podRefusal(registry, change) : deleteRefusal(change);
    case 'pods/status':
      return statusRefusal(change);
    case 'nodes':
    case 'nodes/status':
      return nodeRefusal(change);
    case 'persistentvolumeclaims/status':
      return claimRefusal(change);
    case 'serviceaccounts/token':
      return tokenRefusal(registry, change);
    case 'leases':
      return change.verb !== 'create' || isOwnLease(change)
        ? undefined
        : 'can only access node lease with the same name as the requesting node';
    default:
      return undefined;
  }
}

const nodeOf = (pod: ApiObject | undefined) => textAt(pod, 'spec', 'nodeName');

const isOwnLease = ({ object, node }: NodeChange) =>
  object.metadata.namespace === LEASE_NAMESPACE && object.metadata.name === node;

function deleteRefusal({ old, node, verb }: NodeChange): string | undefined {
  if (verb !== 'delete')
    return `unexpected operation "${verb.toUpperCase()}", node "${node}" can only create and delete mirror pods`;
  return nodeOf(old) === node ? undefined : `node "${node}" can only delete pods with spec.nodeName set to itself`;
}

function podRefusal(registry: Registry, { object, node }: NodeChange): string | undefined {
  if (!isMirror(object))
    return `pod does not have "kubernetes.io/config.mirror" annotation, node "${node}" can only create mirror pods`;
  if (nodeOf(object) !== node) return `node "${node}" can only create pods with spec.nodeName set to itself`;
  const owners = object.metadata.ownerReferences ?? [];
  const [owner] = owners;
  if (owners.length > 1) return `node "${node}" can only create pods with a single owner reference set to itself`;
  if (owner === undefined || owner.kind !== 'Node' || owner.apiVersion !== 'v1' || owner.name !== node)
    return `node "${node}" can only create pods with an owner reference set to itself`;
  if (owner.controller !== true)
    return `node "${node}" can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion === true) return `node "${node}" must not set blockOwnerDeletion on an owner reference`;
  const uid = registry.find({ kind: NODES, namespace: '', name: node })?.metadata.uid;
  return uid === owner.uid ? undefined : `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`;
}

function statusRefusal({ object, old, node }: NodeChange): string | undefined {
  if (nodeOf(old) !== node)
    return `node "${node}" can only update pod status for pods with spec.nodeName set to itself`;
  if (!sameJson(object.metadata.labels ?? {}, old?.metadata.labels ?? {}))
    return `node "${node}" cannot update labels through pod status`;
  const claims = (pod: ApiObject | undefined) => at(pod, 'status', 'resourceClaimStatuses');
  return sameJson(claims(object), claims(old)) ? undefined : `node "${node}" cannot update resource claim statues`;
}

/** A node may only write the result of a volume expansion to a claim. */
function claimRefusal({ object, old, node }: NodeChange): string | undefined {
  const rest = (claim: ApiObject | undefined) => {
    const { capacity, conditions, allocatedResources, allocatedResourceStatuses, ...status } = {
      ...(claim?.status as Record<string, unknown> | undefined),
    };
    const { resourceVersion, managedFields, ...metadata } = { ...(claim?.metadata as Record<string, unknown>) };
    return { spec: claim?.spec, status, metadata };
  };
  return sameJson(rest(object), rest(old))
    ? undefined
    : `node "${node}" is not allowed to update fields other than status.quantity and status.conditions`;
}

function nodeRefusal({ object, old, node, verb }: NodeChange): string | undefined {
  if (object.metadata.name !== node) return `node "${node}" is not allowed to modify node "${object.metadata.name}"`;
  const labels = changedLabels(object, old).filter((label) => !mayLabel(label));
  if (verb === 'create')
    return labels.length === 0
      ? undefined
      : `node "${node}" is not allowed to set the following labels: ${labels.sort().join(', ')}`;
  if (!sameJson(listAt(object, 'spec', 'taints'), listAt(old, 'spec', 'taints')))
    return `node "${node}" is not allowed to modify taints`;
  if (!sameJson(object.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? []))
    return `node "${node}" is not allowed to modify ownerReferences`;
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.sort().join(', ')}`;
}

const KNOWN_LABELS = [
  ...['hostname', 'os', 'arch', 'instance-type'].map((name) => `kubernetes.io/${name}`),
  ...['os', 'arch', 'instance-type'].map((name) => `beta.kubernetes.io/${name}`),
  ...['zone', 'region'].flatMap((name) => [
    `topology.kubernetes.io/${name}`,
    `failure-domain.beta.kubernetes.io/${name}`,
  ]),
  ...['node.kubernetes.io/instance-type', 'kubernetes.io/os', 'kubernetes.io/arch'],
];
const OWN_PREFIXES = /(^|\.)(kubelet|node)\.kubernetes\.io\//;
const RESERVED = /(^|\.)(kubernetes|k8s)\.io\//;
const RESTRICTED = /(^|\.)node-restriction\.kubernetes\.io\//;

const mayLabel = (label: string) =>
  !RESTRICTED.test(label) && (!RESERVED.test(label) || KNOWN_LABELS.includes(label) || OWN_PREFIXES.test(label));

function changedLabels(object: ApiObject, old: ApiObject | undefined): string[] {
  const [now, before] = [object.metadata.labels ?? {}, old?.metadata.labels ?? {}];
  return [...new Set([...Object.keys(now), ...Object.keys(before)])].filter((label) => now[label] !== before[label]);
}

function tokenRefusal(registry: Registry, { object, node }: NodeChange): string | undefined {
  const reference = at(object, 'spec', 'boundObjectRef');
  if (!isObject(reference) || reference.kind !== 'Pod') return 'node requested token not bound to a pod';
  if (!reference.uid) return 'node requested token with a pod binding without a uid';
  const name = textAt(reference, 'name');
  const pod = registry.find({ kind: PODS, namespace: object.metadata.namespace ?? '', name });
  if (pod === undefined) return `pod "${name}" not found`;
  if (pod.metadata.uid !== reference.uid)
    return `the UID in the bound object reference (${String(reference.uid)}) does not match the UID in record. The object might have been deleted and then recreated`;
  if (nodeOf(pod) !== node) return 'node requested token bound to a pod scheduled on a different node';
  return audienceRefusal(pod, listAt(object, 'spec', 'audiences').map(String), node);
}

/** A node may only request tokens for audiences in a volume of the pod. */
function audienceRefusal(pod: ApiObject, audiences: string[], node: string): string | undefined {
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const [audience = ''] = audiences;
  const volumes = listAt(pod, 'spec', 'volumes');
  const projected = volumes.flatMap((volume) => listAt(volume, 'projected', 'sources'));
  const mounted = projected
    .filter((source) => at(source, 'serviceAccountToken') !== undefined)
    .map((source) => textAt(source, 'serviceAccountToken', 'audience'));
  const requested = volumes.some((volume) => at(volume, 'csi') !== undefined);
  return mounted.includes(audience) || requested
    ? undefined
    : `audience "${audience}" not found in pod spec volume, system:node:${node} is not authorized to request tokens for this audience`;
}
