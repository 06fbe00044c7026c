import { didYouMean, isRecord } from '@podwright/base';
import type { IssueList } from '../issue.ts';
import type { ManifestObject } from '../objects/types.ts';
import type { Decoder } from './decoder.ts';
import { configMap, persistentVolumeClaim, runtimeClass, secret } from './local-object-schema.ts';
import { pod } from './pod-schema.ts';

type Kind = ManifestObject['kind'];

const kinds: Record<Kind, { apiVersion: string; decode: Decoder<ManifestObject> }> = {
  Pod: { apiVersion: 'v1', decode: pod },
  ConfigMap: { apiVersion: 'v1', decode: configMap },
  Secret: { apiVersion: 'v1', decode: secret },
  PersistentVolumeClaim: { apiVersion: 'v1', decode: persistentVolumeClaim },
  RuntimeClass: { apiVersion: 'node.k8s.io/v1', decode: runtimeClass },
};

/** Whether the kind is supported by every node, even without the Kubernetes API. */
export const isNodeKind = (kind: string): boolean => Object.hasOwn(kinds, kind);

const SUPPORTED = 'Pod, ConfigMap, Secret, PersistentVolumeClaim and RuntimeClass work';

const IN_SPEC = ['spec', 'template'];
/** Path of the pod template, by workload kind. */
const TEMPLATES: Record<string, readonly string[]> = {
  ...{ Deployment: IN_SPEC, StatefulSet: IN_SPEC, DaemonSet: IN_SPEC, ReplicaSet: IN_SPEC },
  ...{ ReplicationController: IN_SPEC, Job: IN_SPEC, CronJob: ['spec', 'jobTemplate', 'spec', 'template'] },
  PodTemplate: ['template'],
};

/** Returns the path of a workload's pod template; `undefined` for any other kind. */
export function templatePath(kind: unknown): readonly string[] | undefined {
  return typeof kind === 'string' && Object.hasOwn(TEMPLATES, kind) ? TEMPLATES[kind] : undefined;
}

const fromTemplate = (kind: string, template: string) =>
  `${kind} needs a node with a Kubernetes API, which 'podwright run' starts and '--api true' gives to 'podwright node'; ` +
  `without one, ${SUPPORTED}: put the content of ${template} into a Pod`;

/**
 * Kinds that need the controllers of a node that serves the Kubernetes API, with advice on alternatives. They are rejected rather than
 * ignored: ignoring them would leave their pods missing, or pods without their volumes.
 */
const REFUSED_KINDS: Record<string, string> = {
  ...Object.fromEntries(Object.entries(TEMPLATES).map(([kind, path]) => [kind, fromTemplate(kind, path.join('.'))])),
  PersistentVolume: `PersistentVolume needs a node with a Kubernetes API, which binds claims to it; ${SUPPORTED}: use a PersistentVolumeClaim alone, which is a directory of the node, or a hostPath or nfs volume`,
};

const UNUSED = 'nothing on a standalone node uses it';

/** Kinds in the core API group that a standalone node can ignore, each with the reason. */
const CORE_LEFT_OUT: Record<string, string> = {
  Service: "it needs a cluster's network; give the pod's port a hostPort, or use the pod's address",
  Namespace: 'it is not needed here, as a pod may name any namespace',
  ServiceAccount: 'it needs an API server',
  ...Object.fromEntries(
    ['LimitRange', 'ResourceQuota', 'Endpoints', 'Event', 'Node', 'Binding'].map((kind) => [kind, UNUSED]),
  ),
};
const INGRESS = "it needs a cluster's network; give the pod's port a hostPort";
/**
 * API groups without a dot whose kinds a standalone node can ignore. Excludes `apps`, `batch` and `extensions` because they contain
 * workloads.
 */
const GROUPS_LEFT_OUT = ['autoscaling', 'policy'];

/**
 * Returns why a standalone node can ignore an object like a Service, a Namespace, a Role or a custom resource, to be appended to a message.
 * Returns `undefined` for supported kinds, and for workloads and misspelled kinds, which are errors.
 */
export function reasonToLeaveOut(kind: string, apiVersion: string): string | undefined {
  if (apiVersion === 'v1') return Object.hasOwn(CORE_LEFT_OUT, kind) ? CORE_LEFT_OUT[kind] : undefined;
  const group = apiVersion.split('/')[0]!;
  if (kind === 'Ingress') return INGRESS;
  if (group === 'extensions') return ['NetworkPolicy', 'PodSecurityPolicy'].includes(kind) ? UNUSED : undefined;
  if (group.endsWith('node.k8s.io') || !apiVersion.includes('/')) return undefined;
  return group.includes('.') || GROUPS_LEFT_OUT.includes(group) ? UNUSED : undefined;
}

/** Decodes an object according to its kind. Adds an issue and returns `undefined` if the kind is not supported. */
export function decodeObject(value: unknown, issues: IssueList): ManifestObject | undefined {
  if (!isRecord(value)) {
    issues.add(`must be a Kubernetes object with apiVersion, kind and metadata; ${SUPPORTED}`);
    return undefined;
  }
  const { kind, apiVersion } = value;
  if (kind === undefined || kind === null) issues.at('kind').addKey(`is required; ${SUPPORTED}`);
  if (apiVersion === undefined || apiVersion === null) issues.at('apiVersion').addKey('is required, such as v1');
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') return undefined;
  if (!isNodeKind(kind)) {
    issues.at('kind').add(refusal(kind, apiVersion));
    return undefined;
  }
  const known = kinds[kind as Kind];
  if (apiVersion !== known.apiVersion) {
    issues.at('apiVersion').add(`must be ${known.apiVersion} for a ${kind}, got "${apiVersion}"`);
    return undefined;
  }
  return known.decode(value, issues);
}

function refusal(kind: string, apiVersion: string): string {
  if (Object.hasOwn(REFUSED_KINDS, kind)) return REFUSED_KINDS[kind]!;
  const reason = reasonToLeaveOut(kind, apiVersion);
  if (reason !== undefined) return `${kind.slice(0, 60)} cannot be used: ${reason} (${SUPPORTED})`;
  const hint = didYouMean(kind, Object.keys(kinds));
  return `kind "${kind.slice(0, 60)}" of ${apiVersion.slice(0, 60)} is not supported; ${SUPPORTED}${hint}`;
}
