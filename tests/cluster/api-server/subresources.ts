/** Subresources that are not part of the object: binding, eviction, tokens; logs and streams are forwarded to the node. */
import type { KeyPair } from './certificates.ts';
import type { DeleteOptions } from './deletion.ts';
import { type ApiObject, at, isObject, listAt, objectAt, textAt } from './json.ts';
import { proxyToNode } from './node-proxy.ts';
import { isTerminating, timestamp } from './object-meta.ts';
import type { Registry } from './registry.ts';
import { placeOf, type ResourceRequest } from './resource-handler.ts';
import { coreKind, findKind } from './resource-kinds.ts';
import { labelPredicate } from './selectors.ts';
import { badRequest, conflict, invalid, methodNotAllowed, notFound, tooManyRequests } from './status-error.ts';
import { API_AUDIENCE, type BoundObject, type TokenIssuer } from './tokens.ts';

export type SubresourceParts = {
  issuer: TokenIssuer;
  /** The server's client certificate for kubelets. */
  nodeClient: KeyPair;
};

const PODS = coreKind('pods');
const NODES = coreKind('nodes');
const SECRETS = coreKind('secrets');
const BUDGETS = findKind('policy', 'v1', 'poddisruptionbudgets')!;

const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
/** Delay before the retry of an eviction that a budget forbids, like upstream. */
const EVICTION_RETRY_S = 10;
const DEFAULT_TOKEN_S = 3600;
const LEAST_TOKEN_S = 600;

type Handler = (request: ResourceRequest, parts: SubresourceParts) => Promise<void>;

const CREATED: Record<string, Handler> = {
  'pods/binding': bind,
  'pods/eviction': evict,
  'serviceaccounts/token': createToken,
};
const PROXIED = ['pods/log', 'nodes/proxy'];

export async function handleSubresource(request: ResourceRequest, parts: SubresourceParts): Promise<void> {
  const { kind, subresource, verb, name } = request.info;
  const resource = `${kind.plural}/${subresource}`;
  if (PROXIED.includes(resource)) return proxyToNode(request, parts);
  const create = CREATED[resource];
  if (create === undefined) throw notFound(kind, `${name}/${subresource}`);
  if (verb !== 'create') throw methodNotAllowed();
  return create(request, parts);
}

async function bind({ exchange, info, registry }: ResourceRequest): Promise<void> {
  const body = await exchange.body();
  const node = textAt(body, 'target', 'name');
  if (node === '')
    throw invalid({ group: '', kind: 'Binding' }, info.name, [
      { reason: 'FieldValueRequired', message: 'Required value', field: 'target.name' },
    ]);
  bindPod(registry, registry.get(placeOf(info)), node);
  exchange.answer(201, SUCCESS);
}

/** Binds a pod to a node, once, and sets the condition PodScheduled. */
export function bindPod(registry: Registry, pod: ApiObject, node: string): void {
  const { namespace = '', name = '' } = pod.metadata;
  const refuse = (why: string) => conflict({ ...PODS, plural: 'pods/binding' }, name, why);
  const present = textAt(pod, 'spec', 'nodeName');
  if (present !== '') throw refuse(`pod ${name} is already assigned to node "${present}"`);
  if (isTerminating(pod)) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  const condition = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(new Date()),
  };
  const others = listAt(pod, 'status', 'conditions').filter((one) => at(one, 'type') !== 'PodScheduled');
  registry.replace(
    { kind: PODS, namespace, name },
    {
      ...pod,
      spec: { ...pod.spec, nodeName: node },
      status: { ...pod.status, conditions: [...others, condition] },
    },
  );
}

async function evict({ exchange, info, user, registry }: ResourceRequest): Promise<void> {
  const body = await exchange.body();
  if (textAt(body, 'metadata', 'name') !== info.name)
    throw badRequest(`name in URL does not match name in Eviction object: ${info.name}`);
  const place = placeOf(info);
  const pod = registry.get(place);
  if (!isTerminating(pod) && textAt(pod, 'status', 'phase') === 'Running') checkBudgets(registry, pod);
  registry.delete(place, { ...(objectAt(body, 'deleteOptions') as DeleteOptions), user });
  exchange.answer(201, SUCCESS);
}

/** Rejects an eviction if a budget allows no disruption. */
function checkBudgets(registry: Registry, pod: ApiObject): void {
  for (const budget of registry.list(BUDGETS, pod.metadata.namespace)) {
    const labels = objectAt(budget, 'spec', 'selector', 'matchLabels');
    const selector = Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`);
    if (selector.length === 0 || !labelPredicate(selector.join(','))(pod)) continue;
    if (Number(at(budget, 'status', 'disruptionsAllowed') ?? 0) > 0) continue;
    throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", EVICTION_RETRY_S);
  }
}

async function createToken({ exchange, info, registry, admit }: ResourceRequest, { issuer }: SubresourceParts) {
  const body = await exchange.body();
  const account = registry.get(placeOf(info));
  const spec = objectAt(body, 'spec');
  admit({ object: { metadata: { name: info.name, namespace: info.namespace }, spec }, body });
  const expirationSeconds = Number(spec.expirationSeconds ?? DEFAULT_TOKEN_S);
  if (expirationSeconds < LEAST_TOKEN_S)
    throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, info.name, [
      {
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${expirationSeconds}: may not specify a duration less than 10 minutes`,
        field: 'spec.expirationSeconds',
      },
    ]);
  const given = listAt(spec, 'audiences').map(String);
  const audiences = given.length === 0 ? [API_AUDIENCE] : given;
  const serviceAccount = { name: info.name, uid: account.metadata.uid ?? '' };
  const bound = boundTo(registry, { reference: spec.boundObjectRef, namespace: info.namespace, account: info.name });
  const wanted = { namespace: info.namespace, serviceAccount, audiences, expirationSeconds, ...bound };
  const { token, expirationTimestamp } = issuer.issue(wanted);
  exchange.answer(201, {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: info.name, namespace: info.namespace, creationTimestamp: timestamp(new Date()) },
    spec: { ...spec, audiences, expirationSeconds },
    status: { token, expirationTimestamp: timestamp(expirationTimestamp) },
  });
}

type Binding = { reference: unknown; namespace: string; account: string };

/** The object to which a token is bound. It must exist, and a pod must use the account. */
function boundTo(
  registry: Registry,
  { reference, namespace, account }: Binding,
): { pod?: BoundObject; secret?: BoundObject; node?: { name: string; uid?: string } } {
  if (!isObject(reference)) return {};
  const name = textAt(reference, 'name');
  const wantedUid = textAt(reference, 'uid');
  const kind = { Pod: PODS, Secret: SECRETS, Node: NODES }[textAt(reference, 'kind')];
  if (kind === undefined)
    throw badRequest(`cannot bind token for serviceaccount "${account}" to type "${textAt(reference, 'kind')}"`);
  const object = registry.get({ kind, namespace: kind.namespaced ? namespace : '', name });
  const uid = object.metadata.uid ?? '';
  if (wantedUid !== '' && wantedUid !== uid)
    throw conflict(
      kind,
      name,
      `the UID in the bound object reference (${wantedUid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (kind !== PODS) return kind === SECRETS ? { secret: { name, uid } } : { node: { name, uid } };
  if (textAt(object, 'spec', 'serviceAccountName') !== account)
    throw badRequest(
      `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
    );
  const node = textAt(object, 'spec', 'nodeName');
  const nodeUid = registry.find({ kind: NODES, namespace: '', name: node })?.metadata.uid;
  return { pod: { name, uid }, ...(node === '' ? {} : { node: { name: node, uid: nodeUid } }) };
}
