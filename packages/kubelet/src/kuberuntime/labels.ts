/**
 * The only place that knows the labels and annotations which the kubelet puts on sandboxes and containers. After a restart
 * everything is rebuilt from them. The keys are those of Kubernetes, so that `crictl` and others understand them.
 */
import { createHash } from 'node:crypto';
import type { Container, ContainerPort, LifecycleHandler, Pod } from '../api/types.ts';
import { configFileAnnotation, type ExistingPod } from '../config/pod-update.ts';

const podNameLabel = 'io.kubernetes.pod.name';
const podNamespaceLabel = 'io.kubernetes.pod.namespace';
const podUidLabel = 'io.kubernetes.pod.uid';
const containerNameLabel = 'io.kubernetes.container.name';
/** Whose pod it is, when several kubelets, or other clients, share a runtime: what has another value is none of our business. */
const kubeletLabel = 'podwright.dev/kubelet';

const hashAnnotation = 'io.kubernetes.container.hash';
const restartCountAnnotation = 'io.kubernetes.container.restartCount';
const messagePathAnnotation = 'io.kubernetes.container.terminationMessagePath';
const messagePolicyAnnotation = 'io.kubernetes.container.terminationMessagePolicy';
const deletionGraceAnnotation = 'io.kubernetes.pod.deletionGracePeriod';
const terminationGraceAnnotation = 'io.kubernetes.pod.terminationGracePeriod';
const preStopAnnotation = 'io.kubernetes.container.preStopHandler';
const portsAnnotation = 'io.kubernetes.container.ports';

type StringMap = Record<string, string>;

/** Which pod something of the runtime belongs to. */
export type PodIdentity = { name: string; namespace: string; uid: string };

/** What a container's labels and annotations say about it. */
export type ContainerInfo = {
  pod: PodIdentity;
  containerName: string;
  hash: string;
  restartCount: number;
  terminationMessagePath: string;
  terminationMessagePolicy: 'File' | 'FallbackToLogsOnError';
  terminationGracePeriodSeconds: number | undefined;
  preStop: LifecycleHandler | undefined;
  ports: ContainerPort[];
};

export function podIdentity(pod: Pod): PodIdentity {
  const { name, namespace, uid } = pod.metadata;
  return { name, namespace, uid };
}

function podLabels(pod: Pod, kubeletId: string): StringMap {
  const { name, namespace, uid } = pod.metadata;
  return { [podNameLabel]: name, [podNamespaceLabel]: namespace, [podUidLabel]: uid, [kubeletLabel]: kubeletId };
}

/** Selects what one kubelet has in the runtime, of all pods or of one. */
export function labelSelector(kubeletId: string, podUid?: string): StringMap {
  return { [kubeletLabel]: kubeletId, ...(podUid === undefined ? {} : { [podUidLabel]: podUid }) };
}

/** Whether the kubelet made what has these labels. */
export function isOfKubelet(labels: StringMap, kubeletId: string): boolean {
  return labels[kubeletLabel] === kubeletId;
}

/** A label value that stands for the kubelet with this root directory. */
export function kubeletIdOf(rootDir: string): string {
  return createHash('sha256').update(rootDir).digest('hex').slice(0, 16);
}

/** The pod's own labels, and the identity, which wins. */
export function sandboxLabels(pod: Pod, kubeletId: string): StringMap {
  return { ...pod.metadata.labels, ...podLabels(pod, kubeletId) };
}

export function sandboxAnnotations(pod: Pod): StringMap {
  return { ...pod.metadata.annotations };
}

export function containerLabels(pod: Pod, container: Container, kubeletId: string): StringMap {
  return { ...podLabels(pod, kubeletId), [containerNameLabel]: container.name };
}

/** Everything that stopping the container and reading its end need when its pod is no longer known. */
export function containerAnnotations(pod: Pod, container: Container, restartCount: number): StringMap {
  const annotations: StringMap = {
    [hashAnnotation]: containerHash(container),
    [restartCountAnnotation]: String(restartCount),
    [messagePathAnnotation]: container.terminationMessagePath ?? '/dev/termination-log',
    [messagePolicyAnnotation]: container.terminationMessagePolicy ?? 'File',
  };
  const deletionGrace = pod.metadata.deletionGracePeriodSeconds;
  const grace = pod.spec.terminationGracePeriodSeconds;
  const preStop = container.lifecycle?.preStop;
  if (deletionGrace !== undefined) annotations[deletionGraceAnnotation] = String(deletionGrace);
  if (grace !== undefined) annotations[terminationGraceAnnotation] = String(grace);
  if (preStop !== undefined) annotations[preStopAnnotation] = JSON.stringify(preStop);
  if (container.ports !== undefined && container.ports.length > 0) {
    annotations[portsAnnotation] = JSON.stringify(container.ports);
  }
  return annotations;
}

/** A change of it means that the container must be replaced: its name and image, as upstream since 1.31. */
export function containerHash(container: Container): string {
  const text = JSON.stringify({ name: container.name, image: container.image });
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** The pod that a sandbox or container belongs to; undefined if it is none of a kubelet's. */
export function decodePodIdentity(labels: StringMap): PodIdentity | undefined {
  const uid = labels[podUidLabel];
  if (uid === undefined || uid === '') return undefined;
  return { uid, name: labels[podNameLabel] ?? '', namespace: labels[podNamespaceLabel] ?? '' };
}

/** The pod that a sandbox was made for. */
export function decodeSandboxOwner(labels: StringMap, annotations: StringMap): ExistingPod {
  const { uid, namespace, name } = decodePodIdentity(labels) ?? { uid: '', namespace: '', name: '' };
  return { uid, namespace, name, file: annotations[configFileAnnotation] ?? '' };
}

/** Decodes what `containerLabels` and `containerAnnotations` wrote; values that do not parse count as absent. */
export function decodeContainerInfo(labels: StringMap, annotations: StringMap): ContainerInfo | undefined {
  const pod = decodePodIdentity(labels);
  const containerName = labels[containerNameLabel];
  if (pod === undefined || containerName === undefined) return undefined;
  const policy = annotations[messagePolicyAnnotation];
  return {
    pod,
    containerName,
    hash: annotations[hashAnnotation] ?? '',
    restartCount: integer(annotations[restartCountAnnotation]) ?? 0,
    terminationMessagePath: annotations[messagePathAnnotation] ?? '',
    terminationMessagePolicy: policy === 'FallbackToLogsOnError' ? policy : 'File',
    terminationGracePeriodSeconds:
      integer(annotations[deletionGraceAnnotation]) ?? integer(annotations[terminationGraceAnnotation]),
    preStop: json<LifecycleHandler>(annotations[preStopAnnotation]),
    ports: json<ContainerPort[]>(annotations[portsAnnotation]) ?? [],
  };
}

function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** These annotations are our own writing, so their shape is taken on trust. */
function json<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
