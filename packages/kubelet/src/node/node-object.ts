import { readFileSync } from 'node:fs';
import { arch, hostname, release } from 'node:os';
import { isErrno, VERSION } from '@podwright/base';
import { formatTime, type ObjectMeta } from '@podwright/kube-api';
import { standardLabels } from './node-facts.ts';
import { type NodeResources, resourceList } from './node-resources.ts';

/** A v1 Node, limited to the fields that a standalone node sets. */
export type NodeObject = {
  apiVersion: 'v1';
  kind: 'Node';
  metadata: ObjectMeta;
  spec: object;
  status: {
    capacity: Record<string, string>;
    allocatable: Record<string, string>;
    conditions: {
      type: string;
      status: 'True' | 'False';
      reason: string;
      message: string;
      lastTransitionTime: string;
    }[];
    addresses: { type: string; address: string }[];
    nodeInfo: Record<string, string>;
    declaredFeatures: string[];
  };
};

/** Facts about the node that are known once the kubelet has started. */
export type NodeFacts = {
  name: string;
  labels: Record<string, string>;
  maxPods: number;
  addresses: string[];
  capacity: NodeResources;
  allocatable: NodeResources;
  runtime: { name: string; version: string };
  startedAtMs: number;
  /** The node's current conditions, except `Ready`. */
  conditions: () => NodeObject['status']['conditions'];
};

/**
 * The declared features from upstream's list that this kubelet implements. In-place resizes of init containers other than sidecars and of
 * pod-level resources are not implemented, nor are user namespaces for pods on the host network.
 */
export const DECLARED_FEATURES: readonly string[] = [
  'ExtendWebSocketsToKubelet',
  'RestartAllContainersOnContainerExits',
];

/** Builds the node as an API object. It is Ready if `isReady` is set (the manifests have been read) and there are no `problems`. */
export function nodeObject(facts: NodeFacts, isReady: boolean, problems: string[]): NodeObject {
  const startedAt = formatTime(facts.startedAtMs);
  const reasons = isReady ? problems : ['the sources of pods have not been read yet', ...problems];
  const ready =
    reasons.length === 0
      ? { status: 'True' as const, reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { status: 'False' as const, reason: 'KubeletNotReady', message: aggregate(reasons) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: facts.name,
      namespace: '',
      uid: bootText('machine-id'),
      labels: { ...standardLabels(facts.name), ...facts.labels },
      creationTimestamp: startedAt,
      resourceVersion: isReady ? '2' : '1',
    },
    spec: {},
    status: {
      capacity: { ...resourceList(facts.capacity), pods: String(facts.maxPods) },
      allocatable: { ...resourceList(facts.allocatable), pods: String(facts.maxPods) },
      conditions: [...facts.conditions(), { type: 'Ready', ...ready, lastTransitionTime: startedAt }],
      addresses: [
        ...facts.addresses.map((address) => ({ type: 'InternalIP', address })),
        { type: 'Hostname', address: facts.name || hostname() },
      ],
      nodeInfo: {
        machineID: bootText('machine-id'),
        bootID: bootText('boot-id'),
        kernelVersion: release(),
        osImage: osImage(),
        containerRuntimeVersion: `${facts.runtime.name}://${facts.runtime.version}`,
        kubeletVersion: `v${VERSION}`,
        operatingSystem: 'linux',
        architecture: { x64: 'amd64' }[arch() as string] ?? arch(),
      },
      declaredFeatures: [...DECLARED_FEATURES],
    },
  };
}

/** Joins errors as apimachinery's Aggregate does: deduplicated, and in brackets if there are several. */
export function aggregate(errors: string[]): string {
  const unique = [...new Set(errors)];
  return unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]`;
}

/** Returns the host's machine ID or boot ID; '' if the host has none. */
function bootText(id: 'machine-id' | 'boot-id'): string {
  return readIfThere(id === 'machine-id' ? '/etc/machine-id' : '/proc/sys/kernel/random/boot_id').trim();
}

/** Returns the OS name from os-release(5), such as `Debian GNU/Linux 12 (bookworm)`. */
export function osImage(): string {
  return /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(readIfThere('/etc/os-release'))?.[1] ?? 'Linux';
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}
