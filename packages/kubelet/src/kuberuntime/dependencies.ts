import type { Backoff, Logger } from '@podwright/base';
import type { CriClient, PodSandboxConfig } from '@podwright/cri';
import type { Container, EventRecorder, EventSubject, Pod } from '../api/types.ts';
import type { ObjectLookup } from '../config/local-objects.ts';
import type { ImageManager } from '../images/image-manager.ts';
import type { HookRunner } from '../lifecycle/contract.ts';
import type { PodTracer } from '../pod/pod-tracer.ts';
import type { PreparedContainer } from './container-config.ts';
import type { NodeResources } from './container-resources.ts';
import type { DnsSettings } from './dns-config.ts';
import { podIps, type RuntimePodStatus } from './runtime-pod.ts';
import type { SandboxNetworks } from './sandbox-networks.ts';

export type PrepareRequest = { pod: Pod; container: Container; podIps: string[]; sandboxConfig: PodSandboxConfig };

/** What the steps of a sync need from the rest of the kubelet. */
export type KuberuntimeDependencies = {
  cri: CriClient;
  networks: SandboxNetworks;
  images: ImageManager;
  events: EventRecorder;
  hooks: HookRunner;
  objects: ObjectLookup;
  tracer: PodTracer;
  logger: Logger;
  /** Delays between restarts, by `crashKey`. */
  crashBackoff: Backoff;
  /** Environment, command and mounts of a container. Rejects with why it cannot be configured. */
  prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedContainer>;
  /** Host DNS and cluster DNS, as they are now. */
  dns(): Promise<DnsSettings>;
  /** The pod's cgroup for the runtime, '' to leave it the choice. */
  cgroupParent(pod: Pod): string;
  /** Addresses of the node, primary first: those of the pods in its network. */
  hostIps(): string[];
  podLogsDir: string;
  /** Marks what is ours in the runtime. */
  kubeletId: string;
  clusterDomain: string;
  node: NodeResources;
  seccompDefault: boolean;
  seccompRoot: string;
};

/** The pod's addresses, primary first. */
export function podAddresses(
  deps: Pick<KuberuntimeDependencies, 'hostIps'>,
  pod: Pod,
  status: RuntimePodStatus,
): string[] {
  return pod.spec.hostNetwork ? deps.hostIps() : podIps(status);
}

/** Whom an event is about: the pod, or one of its containers. */
export function eventSubject(pod: Pod, container?: string): EventSubject {
  const { name, namespace, uid } = pod.metadata;
  return { kind: 'Pod', name, namespace, uid, ...(container === undefined ? {} : { container }) };
}

/** `name_namespace(uid)`, how the kubelet's messages name a pod. */
export function describePod(pod: Pod): string {
  return `${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
}
