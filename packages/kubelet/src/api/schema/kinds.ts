import { didYouMean } from '@podwright/base';
import type { IssueList } from '../issue.ts';
import type { ManifestObject } from '../types.ts';
import type { Decoder } from './decoder.ts';
import { configMap, runtimeClass, secret } from './local-object-schema.ts';
import { pod } from './pod-schema.ts';

type Kind = ManifestObject['kind'];

const kinds: Record<Kind, { apiVersion: string; decode: Decoder<ManifestObject> }> = {
  Pod: { apiVersion: 'v1', decode: pod },
  ConfigMap: { apiVersion: 'v1', decode: configMap },
  Secret: { apiVersion: 'v1', decode: secret },
  RuntimeClass: { apiVersion: 'node.k8s.io/v1', decode: runtimeClass },
};

const SUPPORTED = 'Pod, ConfigMap, Secret and RuntimeClass work';

const fromTemplate = (kind: string, template: string) =>
  `${kind} needs the controllers of a cluster, which a single node does not have; ${SUPPORTED}: ` +
  `put the content of ${template} into a Pod`;

/** Kinds that people often have in the same files, and what to do about each. */
const OTHER_KINDS: Record<string, string> = {
  ...Object.fromEntries(
    ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController', 'Job'].map((kind) => [
      kind,
      fromTemplate(kind, 'spec.template'),
    ]),
  ),
  CronJob: fromTemplate('CronJob', 'spec.jobTemplate.spec.template'),
  Service: `Service needs a cluster's network; ${SUPPORTED}: give the pod's port a hostPort, or use the pod's address`,
  Ingress: `Ingress needs a cluster's network; ${SUPPORTED}: give the pod's port a hostPort`,
  Namespace: `Namespace is not needed here: a pod may name any namespace; leave it out (${SUPPORTED})`,
  PersistentVolumeClaim: `PersistentVolumeClaim is not supported yet; ${SUPPORTED}: use a hostPath or emptyDir volume`,
  PersistentVolume: `PersistentVolume is not supported yet; ${SUPPORTED}: use a hostPath or emptyDir volume`,
  ServiceAccount: `ServiceAccount needs an API server; leave it out (${SUPPORTED})`,
};

/** Decodes one object by its kind. Returns `undefined` if the kind is none that a lone node runs; that is then reported. */
export function decodeObject(value: unknown, issues: IssueList): ManifestObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    issues.add(`must be a Kubernetes object with apiVersion, kind and metadata; ${SUPPORTED}`);
    return undefined;
  }
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown };
  if (kind === undefined || kind === null) issues.at('kind').addKey(`is required; ${SUPPORTED}`);
  if (apiVersion === undefined || apiVersion === null) issues.at('apiVersion').addKey('is required, such as v1');
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') return undefined;
  if (!Object.hasOwn(kinds, kind)) {
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
  if (Object.hasOwn(OTHER_KINDS, kind)) return OTHER_KINDS[kind]!;
  const hint = didYouMean(kind, Object.keys(kinds));
  return `kind "${kind.slice(0, 60)}" of ${apiVersion.slice(0, 60)} is not supported; ${SUPPORTED}${hint}`;
}
