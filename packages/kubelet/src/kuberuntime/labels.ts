/**
 * Encodes and decodes all labels and annotations of sandboxes and containers. A restarted kubelet rebuilds its state from them. The keys
 * are upstream's, so that `crictl` and other tools understand them.
 */
import { createHash } from 'node:crypto';
import {
  CONFIG_FILE_ANNOTATION,
  type Container,
  type ContainerPort,
  type ExistingPod,
  type LifecycleHandler,
  type Pod,
} from '@podwright/kube-api';
import type { PodIdentity } from '../kubecontainer/pod-identity.ts';
import type { GivenResources, ListedContainer } from '../kubecontainer/runtime-pod.ts';

const POD_NAME_LABEL = 'io.kubernetes.pod.name';
const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';
const POD_UID_LABEL = 'io.kubernetes.pod.uid';
const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';
/**
 * Label that identifies the kubelet that created a pod, in case other kubelets or clients share the container runtime. Pods whose label has
 * a different value are ignored.
 */
const KUBELET_LABEL = 'podwright.dev/kubelet';

const HASH_ANNOTATION = 'io.kubernetes.container.hash';
const RESTART_COUNT_ANNOTATION = 'io.kubernetes.container.restartCount';
const MESSAGE_PATH_ANNOTATION = 'io.kubernetes.container.terminationMessagePath';
const MESSAGE_POLICY_ANNOTATION = 'io.kubernetes.container.terminationMessagePolicy';
const DELETION_GRACE_ANNOTATION = 'io.kubernetes.pod.deletionGracePeriod';
const TERMINATION_GRACE_ANNOTATION = 'io.kubernetes.pod.terminationGracePeriod';
const PRE_STOP_ANNOTATION = 'io.kubernetes.container.preStopHandler';
/** Annotation with the requests and limits that a container was created with. */
const RESOURCES_ANNOTATION = 'podwright.dev/resources';
/**
 * Annotation that names the list in the pod spec that contains the container, and the container's index in that list; absent for
 * `containers`.
 */
const LISTED_ANNOTATION = 'podwright.dev/listed-in';
const PORTS_ANNOTATION = 'io.kubernetes.container.ports';

/** Prefixes of annotations read by `decodeContainerInfo`. */
const OWN_PREFIXES = ['podwright.dev/', 'io.kubernetes.container.', 'io.kubernetes.pod.'];

/** The fields of a container port, in upstream's encoding order. */
const PORT_FIELDS = ['name', 'hostPort', 'containerPort', 'protocol', 'hostIP'];

type StringMap = Record<string, string>;

/** A container's decoded labels and annotations. */
export type ContainerInfo = {
  pod: PodIdentity;
  containerName: string;
  hash: string;
  restartCount: number;
  terminationMessagePath: string;
  terminationMessagePolicy: 'File' | 'FallbackToLogsOnError';
  terminationGracePeriodSeconds: number | undefined;
  preStop: LifecycleHandler | undefined;
  resources: GivenResources | undefined;
  listed: ListedContainer | undefined;
  ports: ContainerPort[];
};

function podLabels(pod: Pod, kubeletId: string): StringMap {
  const { name, namespace, uid } = pod.metadata;
  return { [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid, [KUBELET_LABEL]: kubeletId };
}

/** Selects the sandboxes and containers of one kubelet, either for all of its pods or for a single one. */
export function labelSelector(kubeletId: string, podUid?: string): StringMap {
  return { [KUBELET_LABEL]: kubeletId, ...(podUid === undefined ? {} : { [POD_UID_LABEL]: podUid }) };
}

/** Whether the labels belong to one of this kubelet's sandboxes or containers. */
export function isOfKubelet(labels: StringMap, kubeletId: string): boolean {
  return labels[KUBELET_LABEL] === kubeletId;
}

/** Returns the label value for the kubelet with this root directory. */
export function kubeletIdOf(rootDir: string): string {
  return createHash('sha256').update(rootDir).digest('hex').slice(0, 16);
}

/** Returns the pod's own labels plus the identity labels, which take precedence. */
export function sandboxLabels(pod: Pod, kubeletId: string): StringMap {
  return { ...pod.metadata.labels, ...podLabels(pod, kubeletId) };
}

export function sandboxAnnotations(pod: Pod): StringMap {
  return { ...pod.metadata.annotations };
}

export function containerLabels(pod: Pod, container: Container, kubeletId: string): StringMap {
  return { ...podLabels(pod, kubeletId), [CONTAINER_NAME_LABEL]: container.name };
}

/** Returns the annotations needed to stop a container, and to read its termination state, when the pod's spec is no longer available. */
export function containerAnnotations(pod: Pod, container: Container, restartCount: number): StringMap {
  const annotations: StringMap = {
    [HASH_ANNOTATION]: containerHash(container),
    [RESTART_COUNT_ANNOTATION]: String(restartCount),
    [MESSAGE_PATH_ANNOTATION]: container.terminationMessagePath ?? '/dev/termination-log',
    [MESSAGE_POLICY_ANNOTATION]: container.terminationMessagePolicy ?? 'File',
    [RESOURCES_ANNOTATION]: JSON.stringify({ ...container.resources, pod: pod.spec.resources }),
  };
  const deletionGrace = pod.metadata.deletionGracePeriodSeconds;
  const grace = pod.spec.terminationGracePeriodSeconds;
  const preStop = container.lifecycle?.preStop;
  if (deletionGrace !== undefined) annotations[DELETION_GRACE_ANNOTATION] = String(deletionGrace);
  if (grace !== undefined) annotations[TERMINATION_GRACE_ANNOTATION] = String(grace);
  const listed = listedIn(pod, container);
  if (preStop !== undefined) annotations[PRE_STOP_ANNOTATION] = JSON.stringify(preStop);
  if (listed !== undefined) annotations[LISTED_ANNOTATION] = JSON.stringify(listed);
  if (container.ports !== undefined && container.ports.length > 0) {
    annotations[PORTS_ANNOTATION] = JSON.stringify(container.ports, PORT_FIELDS);
  }
  return annotations;
}

/** Whether this container annotation is reserved for the kubelet. */
export function isOwnAnnotation(key: string): boolean {
  return OWN_PREFIXES.some((prefix) => key.startsWith(prefix));
}

function listedIn({ spec }: Pod, { name, restartPolicy }: Container): ListedContainer | undefined {
  for (const list of ['initContainers', 'ephemeralContainers'] as const) {
    const position = (spec[list] ?? []).findIndex((other) => other.name === name);
    if (position >= 0) return { list, position, restartPolicy };
  }
}

/** Returns a hash of the container's name and image, as in upstream since 1.31. If it changes, the container must be replaced. */
export function containerHash(container: Container): string {
  const text = JSON.stringify({ name: container.name, image: container.image });
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** Decodes the pod that a sandbox or container belongs to; `undefined` if it was not created by a kubelet. */
export function decodePodIdentity(labels: StringMap): PodIdentity | undefined {
  const uid = labels[POD_UID_LABEL];
  if (uid === undefined || uid === '') return undefined;
  return { uid, name: labels[POD_NAME_LABEL] ?? '', namespace: labels[POD_NAMESPACE_LABEL] ?? '' };
}

/** Returns the pod that a sandbox was created for. */
export function decodeSandboxOwner(labels: StringMap, annotations: StringMap): ExistingPod {
  const { uid, namespace, name } = decodePodIdentity(labels) ?? { uid: '', namespace: '', name: '' };
  return { uid, namespace, name, file: annotations[CONFIG_FILE_ANNOTATION] ?? '' };
}

/**
 * Decodes a container's labels and annotations, as encoded by `containerLabels` and `containerAnnotations`. Values that cannot be parsed
 * are treated as absent.
 */
export function decodeContainerInfo(labels: StringMap, annotations: StringMap): ContainerInfo | undefined {
  const pod = decodePodIdentity(labels);
  const containerName = labels[CONTAINER_NAME_LABEL];
  if (pod === undefined || containerName === undefined) return undefined;
  const policy = annotations[MESSAGE_POLICY_ANNOTATION];
  return {
    pod,
    containerName,
    hash: annotations[HASH_ANNOTATION] ?? '',
    restartCount: integer(annotations[RESTART_COUNT_ANNOTATION]) ?? 0,
    terminationMessagePath: annotations[MESSAGE_PATH_ANNOTATION] ?? '',
    terminationMessagePolicy: policy === 'FallbackToLogsOnError' ? policy : 'File',
    terminationGracePeriodSeconds:
      integer(annotations[DELETION_GRACE_ANNOTATION]) ?? integer(annotations[TERMINATION_GRACE_ANNOTATION]),
    preStop: json<LifecycleHandler>(annotations[PRE_STOP_ANNOTATION]),
    resources: json<GivenResources>(annotations[RESOURCES_ANNOTATION]),
    listed: json<ListedContainer>(annotations[LISTED_ANNOTATION]),
    ports: json<ContainerPort[]>(annotations[PORTS_ANNOTATION]) ?? [],
  };
}

function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Parses an annotation written by the kubelet itself, without validating its structure. */
function json<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
