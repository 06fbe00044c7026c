/**
 * The controllers of a control plane that a node depends on: contents of namespaces, certificates, a scheduler. Each acts after an event
 * has been delivered to all subscribers, never during the delivery.
 */
import type { CertificateAuthority } from './certificates.ts';
import { readSigningRequest, type SigningRequest } from './certificates.ts';
import { type ApiObject, at, type JsonObject, listAt, sameJson, textAt } from './json.ts';
import { isTerminating, timestamp } from './object-meta.ts';
import type { Registry } from './registry.ts';
import { coreKind, findKind, kindOfObject, RESOURCE_KINDS } from './resource-kinds.ts';
import { bindPod } from './subresources.ts';
import { NODES as NODES_GROUP } from './user-info.ts';

const NAMESPACES = coreKind('namespaces');
const PODS = coreKind('pods');
const NODES = coreKind('nodes');
const CERTIFICATE_REQUESTS = findKind('certificates.k8s.io', 'v1', 'certificatesigningrequests')!;

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';
const YEAR_MS = 365 * 86_400_000;

export type ControlSwitches = {
  /** Which nodes' certificate requests are approved automatically; upstream approves those for clients. */
  approves: 'none' | 'client' | 'all';
  /** Whether approved requests are signed. */
  signs: boolean;
  /** Lifetime of certificates, unless the request specifies less. */
  certificateLifeMs: number;
  /** Where pods without a node are scheduled: to this node, or to the first one; `off`: nowhere. */
  schedules: 'off' | 'first' | { node: string };
};

export const defaultSwitches = (): ControlSwitches => ({
  approves: 'client',
  signs: true,
  certificateLifeMs: YEAR_MS,
  schedules: 'first',
});

type Parts = { registry: Registry; authority: CertificateAuthority; switches: ControlSwitches };

/** Starts the controllers; returns a function that stops them. */
export function startControllers(parts: Parts): () => void {
  const { registry } = parts;
  const later = (work: () => void) => setImmediate(work);
  const stops = [
    registry.subscribe(CERTIFICATE_REQUESTS, ({ object, type }) => {
      if (type !== 'DELETED') later(() => handleCertificateRequest(parts, object.metadata.name!));
    }),
    registry.subscribe(PODS, ({ object, type }) => {
      if (type !== 'DELETED') later(() => schedule(parts, object));
    }),
    registry.subscribe(NODES, ({ type }) => {
      if (type === 'ADDED') later(() => scheduleAll(parts));
    }),
    registry.subscribe(NAMESPACES, ({ object, type }) => {
      if (type === 'ADDED') later(() => fill(parts, object.metadata.name!));
      if (type === 'MODIFIED' && isTerminating(object)) later(() => empty(registry, object.metadata.name!));
    }),
    ...namespaced().map((kind) =>
      registry.subscribe(kind, ({ object, type }) => {
        if (type === 'DELETED') later(() => removeIfEmpty(registry, object.metadata.namespace!));
      }),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function fill({ registry, authority }: Parts, name: string): void {
  const namespace = registry.find({ kind: NAMESPACES, namespace: '', name });
  if (namespace !== undefined && !isTerminating(namespace)) fillNamespace(registry, name, authority.certificate);
}

const namespaced = () => RESOURCE_KINDS.filter((kind) => kind.namespaced && !kind.review);

/** Creates the standard objects of each namespace if they are missing. */
export function fillNamespace(registry: Registry, name: string, certificateAuthority: string): void {
  for (const object of namespaceContents(name, certificateAuthority)) {
    const kind = kindOfObject(object)!;
    const place = { kind, namespace: name, name: object.metadata.name! };
    if (registry.find(place) === undefined) registry.create(kind, object);
  }
}

function namespaceContents(name: string, certificateAuthority: string): ApiObject[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kube-root-ca.crt', namespace: name },
      data: { 'ca.crt': certificateAuthority },
    },
  ];
}

/** Deletes the objects of a terminating namespace, pods with their grace period. */
function empty(registry: Registry, name: string): void {
  for (const kind of namespaced())
    for (const object of registry.list(kind, name)) {
      if (isTerminating(object)) continue;
      registry.delete({ kind, namespace: name, name: object.metadata.name! });
    }
  removeIfEmpty(registry, name);
}

function removeIfEmpty(registry: Registry, name: string): void {
  const namespace = registry.find({ kind: NAMESPACES, namespace: '', name });
  if (namespace === undefined || !isTerminating(namespace)) return;
  if (namespaced().some((kind) => registry.list(kind, name).length > 0)) return;
  const place = { kind: NAMESPACES, namespace: '', name };
  registry.update(place, (old) => ({ ...old, spec: { ...old.spec, finalizers: [] } }), { subresource: 'finalize' });
}

function scheduleAll(parts: Parts): void {
  for (const pod of parts.registry.list(PODS)) schedule(parts, pod);
}

function schedule(
  { registry, switches: { schedules } }: Parts,
  { metadata: { namespace = '', name = '' } }: ApiObject,
) {
  const pod = registry.find({ kind: PODS, namespace, name });
  if (schedules === 'off' || pod === undefined || isTerminating(pod)) return;
  if (textAt(pod, 'spec', 'nodeName') !== '' || listAt(pod, 'spec', 'schedulingGates').length > 0) return;
  const node = schedules === 'first' ? registry.list(NODES)[0]?.metadata.name : schedules.node;
  if (node !== undefined) bindPod(registry, pod, node);
}

function handleCertificateRequest({ registry, authority, switches }: Parts, name: string): void {
  const place = { kind: CERTIFICATE_REQUESTS, namespace: '', name };
  const object = registry.find(place);
  if (object === undefined || textAt(object, 'status', 'certificate') !== '') return;
  const signer = textAt(object, 'spec', 'signerName');
  const purpose = { [CLIENT_SIGNER]: 'client' as const, [SERVING_SIGNER]: 'server' as const }[signer];
  if (purpose === undefined || hasCondition(object, 'Denied') || hasCondition(object, 'Failed')) return;
  if (!hasCondition(object, 'Approved')) {
    const isApproved = switches.approves === 'all' || (switches.approves === 'client' && purpose === 'client');
    if (isApproved) approveRequest(registry, name);
    return;
  }
  if (!switches.signs) return;
  const result = signed(object, { authority, purpose, switches });
  registry.update(place, (old) => ({ ...old, status: { ...old.status, ...result(old) } }), { subresource: 'status' });
}

const hasCondition = (object: ApiObject, type: string) =>
  listAt(object, 'status', 'conditions').some((condition) => at(condition, 'type') === type);

function withCondition(object: ApiObject, condition: JsonObject): unknown[] {
  const time = timestamp(new Date());
  return [
    ...listAt(object, 'status', 'conditions'),
    { status: 'True', ...condition, lastUpdateTime: time, lastTransitionTime: time },
  ];
}

/** Approves a request, like `kubectl certificate approve`. */
export function approveRequest(registry: Registry, name: string): void {
  const place = { kind: CERTIFICATE_REQUESTS, namespace: '', name };
  const condition = { type: 'Approved', reason: 'AutoApproved', message: 'Auto approving kubelet client certificate.' };
  registry.update(place, (old) => ({ ...old, status: { ...old.status, conditions: withCondition(old, condition) } }), {
    subresource: 'approval',
  });
}

/** Denies a request. */
export function denyRequest(registry: Registry, name: string, message: string): void {
  const place = { kind: CERTIFICATE_REQUESTS, namespace: '', name };
  const condition = { type: 'Denied', reason: 'KubectlDeny', message };
  registry.update(place, (old) => ({ ...old, status: { ...old.status, conditions: withCondition(old, condition) } }), {
    subresource: 'approval',
  });
}

type Signing = { authority: CertificateAuthority; purpose: 'client' | 'server'; switches: ControlSwitches };

/** Returns an update that adds the certificate or a failure to the status. */
function signed(object: ApiObject, { authority, purpose, switches }: Signing): (old: ApiObject) => JsonObject {
  try {
    const pem = Buffer.from(textAt(object, 'spec', 'request'), 'base64').toString();
    const request = readSigningRequest(pem);
    checkNodeRequest(request, object);
    const asked = Number(at(object, 'spec', 'expirationSeconds') ?? Number.POSITIVE_INFINITY) * 1000;
    const certificate = authority.sign(request, purpose, Math.min(asked, switches.certificateLifeMs));
    return () => ({ certificate: Buffer.from(certificate).toString('base64') });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return (old) => ({
      conditions: withCondition(old, { type: 'Failed', reason: 'SignerValidationFailure', message }),
    });
  }
}

function checkNodeRequest({ commonName, organizations }: SigningRequest, object: ApiObject): void {
  if (!sameJson(organizations, [NODES_GROUP])) throw new Error(`organization in subject is not ${NODES_GROUP}`);
  if (!commonName.startsWith('system:node:')) throw new Error('subject common name does not begin with system:node:');
  const username = textAt(object, 'spec', 'username');
  const isOwn = username === commonName;
  if (textAt(object, 'spec', 'signerName') === SERVING_SIGNER && !isOwn)
    throw new Error(`the requestor ${username} is not the node of the subject ${commonName}`);
}
