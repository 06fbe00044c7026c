import type { Message } from '@bufbuild/protobuf';
import { RecentlyUsed } from '@podwright/base';
import type {
  Container,
  ContainerEventResponse,
  ContainerStatus,
  ContainerStatusResponse,
  CreateContainerRequest,
  CreateContainerResponse,
  ListContainersResponse,
  ListPodSandboxResponse,
  PodSandboxMetadata,
  PodSandboxStatusResponse,
  RunPodSandboxRequest,
  RunPodSandboxResponse,
  StreamContainersResponse,
  StreamPodSandboxesResponse,
} from '@podwright/cri';
import type { Subject } from './subject.ts';

/** Maximum number of sandboxes and containers whose names are remembered. The least recently used are evicted. */
const MAX_KNOWN = 20_000;

/** Request fields that identify a pod or container. */
type Identified = {
  podSandboxId?: string;
  containerId?: string;
  filter?: { id?: string; podSandboxId?: string };
  sandboxConfig?: { metadata?: PodSandboxMetadata };
};

/** Methods whose responses list many objects. Their responses are decoded only while some IDs are unknown. */
const LISTS: ReadonlySet<string> = new Set([
  'ListPodSandbox',
  'StreamPodSandboxes',
  'ListContainers',
  'StreamContainers',
]);
/** Methods whose responses are always decoded, because they contain the IDs of a single pod or container. */
const TEACHING: ReadonlySet<string> = new Set([
  'RunPodSandbox',
  'CreateContainer',
  'PodSandboxStatus',
  'ContainerStatus',
  'GetContainerEvents',
]);

/** Maps a runtime's IDs to the names of pods and containers, which it learns from requests and responses. */
export class KnownPods {
  readonly #subjects = new RecentlyUsed<Subject>(MAX_KNOWN);
  #lacksIds = true;

  /** Whether responses of a method might contain unknown IDs and should be passed to `learn`. */
  learnsFrom(method: string): boolean {
    return TEACHING.has(method) || (this.#lacksIds && LISTS.has(method));
  }

  /** Returns the pod or container a request is about, or `undefined` if there is none or its ID is unknown. */
  subjectOf(method: string, request: Message | undefined): Subject | undefined {
    if (request === undefined) return undefined;
    if (method === 'RunPodSandbox') return subject((request as RunPodSandboxRequest).config?.metadata);
    const { podSandboxId, containerId, filter, sandboxConfig } = request as Identified;
    const inConfig = subject(sandboxConfig?.metadata);
    if (inConfig !== undefined && method === 'CreateContainer')
      return { ...inConfig, container: (request as CreateContainerRequest).config?.metadata?.name };
    if (inConfig !== undefined) return inConfig;
    const id = [containerId, podSandboxId, filter?.id, filter?.podSandboxId].find(
      (one) => one !== undefined && one !== '',
    );
    if (id === undefined) return undefined;
    const known = this.#subjects.get(id);
    if (known === undefined) this.#lacksIds = true;
    return known;
  }

  /** Learns the IDs in a response. `about` is the subject of the request. */
  learn(method: string, about: Subject | undefined, answer: Message): void {
    switch (method) {
      case 'RunPodSandbox':
        return this.#add((answer as RunPodSandboxResponse).podSandboxId, about);
      case 'CreateContainer':
        return this.#add((answer as CreateContainerResponse).containerId, about);
      case 'PodSandboxStatus': {
        const { status, containersStatuses } = answer as PodSandboxStatusResponse;
        return this.#addPod(status, containersStatuses);
      }
      case 'ContainerStatus':
        return this.#addContainer((answer as ContainerStatusResponse).status);
      case 'GetContainerEvents': {
        const { podSandboxStatus, containersStatuses } = answer as ContainerEventResponse;
        return this.#addPod(podSandboxStatus, containersStatuses);
      }
      default:
        return this.#learnList(method, answer);
    }
  }

  #learnList(method: string, answer: Message): void {
    if (method === 'ListPodSandbox' || method === 'StreamPodSandboxes') {
      const sandboxes =
        method === 'ListPodSandbox'
          ? (answer as ListPodSandboxResponse).items
          : (answer as StreamPodSandboxesResponse).podSandboxes;
      for (const sandbox of sandboxes) this.#addPod(sandbox, []);
    } else if (method === 'ListContainers' || method === 'StreamContainers') {
      for (const one of (answer as ListContainersResponse | StreamContainersResponse).containers)
        this.#addContainer(one);
      this.#lacksIds = false;
    }
  }

  #add(id: string, about: Subject | undefined): void {
    if (about !== undefined && id !== '') this.#subjects.set(id, about);
  }

  #addPod(pod: { id: string; metadata?: PodSandboxMetadata } | undefined, containers: ContainerStatus[]): void {
    const about = subject(pod?.metadata);
    if (pod !== undefined) this.#add(pod.id, about);
    for (const container of containers)
      if (about !== undefined) this.#add(container.id, { ...about, container: container.metadata?.name });
  }

  /** Adds a container. Its pod is looked up by sandbox ID or, if that is unknown, determined from the labels that all kubelets set. */
  #addContainer(container: Container | ContainerStatus | undefined): void {
    if (container === undefined) return;
    const inSandbox = 'podSandboxId' in container ? this.#subjects.get(container.podSandboxId) : undefined;
    const { 'io.kubernetes.pod.name': pod, 'io.kubernetes.pod.namespace': namespace } = container.labels;
    const about = inSandbox ?? (pod === undefined || namespace === undefined ? undefined : { namespace, pod });
    if (about !== undefined) this.#add(container.id, { ...about, container: container.metadata?.name });
  }
}

function subject(metadata: PodSandboxMetadata | undefined): Subject | undefined {
  return metadata && { namespace: metadata.namespace, pod: metadata.name };
}
