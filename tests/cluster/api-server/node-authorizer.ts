/** A node's rights, as in upstream's Node authorizer: its own objects, and those to which its pods refer. */
import { textAt } from './json.ts';
import { referencesOf } from './pod-references.ts';
import type { Registry } from './registry.ts';
import { coreKind, findKind } from './resource-kinds.ts';

export type NodeQuestion = {
  node: string;
  verb: string;
  group: string;
  /** The plural, including `/subresource`. */
  resource: string;
  namespace: string;
  name: string;
  /** The field selector of a list or watch. */
  fieldSelector: string;
};

const PODS = coreKind('pods');
const CLAIMS = coreKind('persistentvolumeclaims');
const ATTACHMENTS = findKind('storage.k8s.io', 'v1', 'volumeattachments')!;
const SLICES = findKind('resource.k8s.io', 'v1', 'resourceslices')!;

const READ = ['get', 'list', 'watch'];
const WRITE_ONE = ['get', 'create', 'update', 'patch', 'delete'];
const LEASE_NAMESPACE = 'kube-node-lease';

/** Rights of all nodes regardless of the object: verbs by resource. */
const COMMON: Record<string, string[]> = {
  'tokenreviews.authentication.k8s.io': ['create'],
  'subjectaccessreviews.authorization.k8s.io': ['create'],
  services: READ,
  events: ['create', 'update', 'patch'],
  endpoints: ['get'],
  'certificatesigningrequests.certificates.k8s.io': ['create', ...READ],
  'csidrivers.storage.k8s.io': READ,
  'runtimeclasses.node.k8s.io': READ,
};

const NO_RELATION = (node: string) => `no relationship found between node '${node}' and this object`;
const YES = undefined;

/** The reason for a denial; undefined if allowed. */
export function nodeRefusal(registry: Registry, question: NodeQuestion): string | undefined {
  const resource = question.group === '' ? question.resource : `${question.resource}.${question.group}`;
  const rule = RULES[resource];
  if (rule !== undefined) return rule(question, registry);
  return COMMON[resource]?.includes(question.verb) ? YES : '';
}

type Rule = (question: NodeQuestion, registry: Registry) => string | undefined;

const RULES: Record<string, Rule> = {
  nodes: authorizeNode,
  'nodes/status': (question) =>
    ['update', 'patch'].includes(question.verb) && question.name === question.node
      ? YES
      : `node '${question.node}' cannot ${question.verb} the status of node '${question.name}'`,
  pods: authorizePods,
  'pods/status': ({ verb }) => (['update', 'patch'].includes(verb) ? YES : ''),
  'pods/eviction': ({ verb }) => (verb === 'create' ? YES : ''),
  secrets: referredTo('Secret', READ, 'can only read resources of this type'),
  configmaps: referredTo('ConfigMap', READ, 'can only read resources of this type'),
  persistentvolumeclaims: referredTo(
    'PersistentVolumeClaim',
    ['get'],
    'can only get individual resources of this type',
  ),
  'persistentvolumeclaims/status': referredTo(
    'PersistentVolumeClaim',
    ['update', 'patch'],
    'can only update/patch individual resources of this type',
  ),
  'resourceclaims.resource.k8s.io': referredTo(
    'ResourceClaim',
    ['get'],
    'can only get individual resources of this type',
  ),
  serviceaccounts: referredTo('ServiceAccount', ['get'], 'can only create tokens for individual service accounts'),
  'serviceaccounts/token': referredTo(
    'ServiceAccount',
    ['create'],
    'can only create tokens for individual service accounts',
  ),
  persistentvolumes: authorizeVolume,
  'volumeattachments.storage.k8s.io': (question, registry) => {
    if (question.verb !== 'get') return 'can only get individual resources of this type';
    const found = registry.find({ kind: ATTACHMENTS, namespace: '', name: question.name });
    return textAt(found, 'spec', 'nodeName') === question.node ? YES : NO_RELATION(question.node);
  },
  'leases.coordination.k8s.io': ({ verb, namespace, name, node }) => {
    if (!WRITE_ONE.includes(verb)) return 'can only get, create, update, patch, or delete a node lease';
    if (namespace !== LEASE_NAMESPACE) return `can only access leases in the "${LEASE_NAMESPACE}" system namespace`;
    const isOwn = verb === 'create' || name === node;
    return isOwn ? YES : 'can only access node lease with the same name as the requesting node';
  },
  'csinodes.storage.k8s.io': ({ verb, name, node }) => {
    if (!WRITE_ONE.includes(verb)) return 'can only get, create, update, patch, or delete a CSINode';
    const isOwn = verb === 'create' || name === node;
    return isOwn ? YES : 'can only access CSINode with the same name as the requesting node';
  },
  'resourceslices.resource.k8s.io': authorizeSlices,
};

function authorizeNode({ verb, name, node, fieldSelector }: NodeQuestion): string | undefined {
  switch (verb) {
    case 'create':
      return YES;
    case 'get':
    case 'update':
    case 'patch':
      return name === node ? YES : `node '${node}' cannot read '${name}', only its own Node object`;
    case 'list':
    case 'watch':
      return selects(fieldSelector, 'metadata.name', node)
        ? YES
        : `node '${node}' cannot read all nodes, only its own Node object`;
    default:
      return '';
  }
}

function authorizePods({ verb, namespace, name, node, fieldSelector }: NodeQuestion, registry: Registry) {
  switch (verb) {
    case 'create':
    case 'delete':
      return YES;
    case 'get': {
      const pod = registry.find({ kind: PODS, namespace, name });
      return textAt(pod, 'spec', 'nodeName') === node ? YES : NO_RELATION(node);
    }
    case 'list':
    case 'watch':
      return selects(fieldSelector, 'spec.nodeName', node)
        ? YES
        : 'can only list/watch pods with spec.nodeName field selector';
    default:
      return '';
  }
}

const selects = (selector: string, field: string, value: string) =>
  selector.split(',').some((term) => term === `${field}=${value}` || term === `${field}==${value}`);

/** Objects to which a pod of the node refers. */
function referredTo(kind: string, verbs: string[], otherVerb: string): Rule {
  return ({ verb, namespace, name, node }, registry) => {
    if (!verbs.includes(verb)) return otherVerb;
    if (name === '') return 'No Object name found';
    return isReferred(registry, { node, namespace, kind, name }) ? YES : NO_RELATION(node);
  };
}

type Referred = { node: string; namespace: string; kind: string; name: string };

function isReferred(registry: Registry, { node, namespace, kind, name }: Referred): boolean {
  return podsOf(registry, node, namespace).some((pod) =>
    referencesOf(pod).some((reference) => reference.kind === kind && reference.name === name),
  );
}

function podsOf(registry: Registry, node: string, namespace: string) {
  return registry.list(PODS, namespace).filter((pod) => textAt(pod, 'spec', 'nodeName') === node);
}

/** A node may read the volumes of its pods' claims. */
function authorizeVolume({ verb, name, node }: NodeQuestion, registry: Registry): string | undefined {
  if (verb !== 'get') return 'can only get individual resources of this type';
  const claims = registry.list(CLAIMS).filter((claim) => textAt(claim, 'spec', 'volumeName') === name);
  const isUsed = claims.some(({ metadata: { namespace = '', name: claim = '' } }) =>
    isReferred(registry, { node, namespace, kind: 'PersistentVolumeClaim', name: claim }),
  );
  return isUsed ? YES : NO_RELATION(node);
}

function authorizeSlices({ verb, name, node, fieldSelector }: NodeQuestion, registry: Registry): string | undefined {
  if (verb === 'create') return YES;
  if (['get', 'update', 'patch', 'delete'].includes(verb)) {
    const slice = registry.find({ kind: SLICES, namespace: '', name });
    return textAt(slice, 'spec', 'nodeName') === node ? YES : NO_RELATION(node);
  }
  return selects(fieldSelector, 'spec.nodeName', node)
    ? YES
    : 'can only list/watch/deletecollection resourceslices with nodeName field selector';
}
