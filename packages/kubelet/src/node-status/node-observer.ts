import { errorMessage, type Logger, raceAbort, withTimeout } from '@podwright/base';
import type { CriClient, Image } from '@podwright/cri';
import { formatQuantity, type NodeAddress, type NodeImage, type NodeStatus } from '@podwright/kube-api';
import type { NodeSettings } from '@podwright/kubelet-configuration';
import { type NodeResources, resourceList } from '../node/node-resources.ts';
import { addReserves, hardEvictionReserve } from './hard-eviction.ts';
import type { HostFacts } from './host-facts.ts';
import { NODE_IMAGES_PERIOD_MS } from './limits.ts';
import { nodeAddresses, providedAddresses, type WantedAddresses } from './node-addresses.ts';
import type { DeviceResources, ObservedNode, Pressure } from './observed-node.ts';

/** Maximum number of names per image in a node's status (upstream's MaxNamesPerImageInNodeStatus). */
const MAX_NAMES = 5;

/** Runtime handlers and features from the container runtime's CRI status. */
type RuntimeAbilities = {
  handlers: { name: string; features?: { recursiveReadOnlyMounts: boolean; userNamespaces: boolean } }[];
  features: { supplementalGroupsPolicy: boolean } | undefined;
};

/** Sources for parts of the node status. Each returns the current state. */
export type NodeStatusSources = {
  /** Returns the runtime handlers and features; `undefined` until the container runtime has been ready once. */
  abilities: () => RuntimeAbilities | undefined;
  pressure: () => Pressure;
  devices: () => DeviceResources;
  /** Returns the reasons why the node is not ready. */
  problems: () => string[];
  /** Volumes that the attach-detach controller must not detach (`volumesInUse`); `undefined` while unknown. */
  volumesInUse: () => string[] | undefined;
};

export type NodeObserverOptions = {
  wanted: WantedAddresses;
  settings: NodeSettings;
  host: Promise<HostFacts>;
  /** The host's capacity, without the resource `pods`. */
  resources: NodeResources;
  maxPods: number;
  reserved: { cpuMillis: number; memoryBytes: number; ephemeralStorageBytes: number };
  /** Port of the kubelet's HTTP API. */
  port: number;
  declaredFeatures: readonly string[];
  /** The container runtime's name, from its Version response when the kubelet started. */
  runtimeName: string;
  sources: NodeStatusSources;
  cri: Pick<CriClient, 'runtime' | 'image'>;
  logger: Logger;
  findAddresses?: typeof nodeAddresses;
};

/** Collects the data for the node's status. */
export class NodeObserver {
  readonly #options: NodeObserverOptions;
  #images: { list: Image[]; readAtMs: number } | undefined;
  /** The address lookup in progress. Name resolution can be slow, so only one lookup runs at a time. */
  #looking: Promise<NodeAddress[]> | undefined;
  /** Addresses from the last lookup; the fallback while the next one is slow. */
  #found: NodeAddress[] | undefined;
  #addressProblem = '';

  constructor(options: NodeObserverOptions) {
    this.#options = options;
  }

  /** Takes a snapshot of the node. Never rejects: unknown parts are omitted or replaced by upstream's placeholders. */
  async observe(signal: AbortSignal): Promise<ObservedNode> {
    const { wanted, settings, host, sources, declaredFeatures, port } = this.#options;
    const [facts, addresses, runtimeVersion, images] = await Promise.all([
      host,
      this.#addresses(),
      this.#runtimeVersion(signal),
      this.#listImages(signal),
    ]);
    const capacity = this.#capacity();
    return {
      atMs: Date.now(),
      addresses,
      externalCloudProvider: settings.externalCloudProvider,
      providedIps: providedAddresses(wanted),
      capacity,
      reserved: addReserves(this.#systemReserve(), hardEvictionReserve(settings.evictionHard, capacity)),
      devices: sources.devices(),
      nodeInfo: { ...facts, containerRuntimeVersion: `${this.#options.runtimeName}://${runtimeVersion}` },
      port,
      images: nodeImages(images, settings.maxImages),
      ...abilitiesStatus(sources.abilities()),
      declaredFeatures: [...declaredFeatures],
      pressure: sources.pressure(),
      problems: sources.problems(),
      volumesInUse: sources.volumesInUse(),
    };
  }

  #capacity(): Record<string, string> {
    return { ...resourceList(this.#options.resources), pods: String(this.#options.maxPods) };
  }

  #systemReserve(): Record<string, string> {
    const { cpuMillis, memoryBytes, ephemeralStorageBytes } = this.#options.reserved;
    return {
      cpu: formatQuantity(BigInt(cpuMillis) * 1_000_000n, ''),
      memory: String(Math.floor(memoryBytes)),
      'ephemeral-storage': String(ephemeralStorageBytes),
    };
  }

  async #addresses(): Promise<NodeAddress[] | undefined> {
    using patience = withTimeout(undefined, ANSWER_MS, 'look for the addresses of the node');
    try {
      this.#looking ??= this.#lookForAddresses();
      const addresses = await raceAbort(this.#looking, patience);
      this.#addressProblem = '';
      return addresses;
    } catch (error) {
      if (patience.aborted && this.#found !== undefined) return this.#found;
      const problem = errorMessage(error);
      if (problem !== this.#addressProblem) this.#options.logger.error({ error: problem }, 'the node has no address');
      this.#addressProblem = problem;
      return undefined;
    }
  }

  async #lookForAddresses(): Promise<NodeAddress[]> {
    const { wanted, findAddresses = nodeAddresses } = this.#options;
    try {
      this.#found = await findAddresses(wanted);
      return this.#found;
    } catch (error) {
      this.#found = undefined;
      throw error;
    } finally {
      this.#looking = undefined;
    }
  }

  async #runtimeVersion(signal: AbortSignal): Promise<string> {
    try {
      const timeoutMs = ANSWER_MS;
      const { runtimeVersion } = await this.#options.cri.runtime.version({}, { signal, timeoutMs });
      return plainVersion(runtimeVersion) ?? 'Unknown';
    } catch {
      return 'Unknown'; // the runtime state reports this error
    }
  }

  /** Lists images every half minute, as in upstream. If the container runtime does not respond, returns the previous list. */
  async #listImages(signal: AbortSignal): Promise<Image[]> {
    const nowMs = performance.now();
    const known = this.#images;
    if (known !== undefined && nowMs - known.readAtMs < NODE_IMAGES_PERIOD_MS) return known.list;
    try {
      const { images } = await this.#options.cri.image.listImages({}, { signal, timeoutMs: ANSWER_MS });
      this.#images = { list: images, readAtMs: nowMs };
      return images;
    } catch (error) {
      this.#options.logger.warn({ error: errorMessage(error) }, 'images of the node could not be listed');
      return known?.list ?? [];
    }
  }
}

/** Timeout for the container runtime and for name resolution: if either hangs, reporting NotReady must not wait for it. */
const ANSWER_MS = 2000;

/**
 * Formats a version like upstream, without `v` and without suffixes that are invalid in semantic versions; `undefined` if the text is not a
 * version.
 */
export function plainVersion(text: string): string | undefined {
  const [, numbers, rest = ''] = /^\s*v?(\d+(?:\.\d+)+)(.*)$/.exec(text) ?? [];
  if (numbers === undefined) return undefined;
  const isSemantic = /^\d+\.\d+\.\d+$/.test(numbers) && /^(-[\dA-Za-z.-]+)?(\+[\dA-Za-z.-]+)?$/.test(rest);
  return isSemantic ? `${numbers}${rest}` : numbers;
}

type ListedImage = Pick<Image, 'id' | 'repoDigests' | 'repoTags' | 'size'>;

/** Returns the `most` largest images, or all of them for -1. An image's digests are listed before its tags. */
export function nodeImages(images: readonly ListedImage[], most: number): NodeImage[] {
  const largest = images.toSorted(bySize).slice(0, most < 0 ? undefined : most);
  return largest.map(({ repoDigests, repoTags, size }) => ({
    names: [...repoDigests, ...repoTags].slice(0, MAX_NAMES),
    ...(size === 0n ? {} : { sizeBytes: Number(size) }),
  }));
}

function bySize(one: ListedImage, other: ListedImage): number {
  if (one.size !== other.size) return one.size > other.size ? -1 : 1;
  return one.id > other.id ? -1 : 1;
}

/**
 * Returns the runtime handlers and features for the node status, sorted by name, because container runtimes list their handlers in no fixed
 * order.
 */
export function abilitiesStatus(
  abilities: RuntimeAbilities | undefined,
): Pick<NodeStatus, 'runtimeHandlers' | 'features'> {
  if (abilities === undefined) return {};
  const { handlers, features } = abilities;
  const named = handlers.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return {
    runtimeHandlers: named.map(
      ({ name, features: { recursiveReadOnlyMounts = false, userNamespaces = false } = {} }) => ({
        name,
        features: { recursiveReadOnlyMounts, userNamespaces },
      }),
    ),
    ...(features === undefined ? {} : { features: { supplementalGroupsPolicy: features.supplementalGroupsPolicy } }),
  };
}
