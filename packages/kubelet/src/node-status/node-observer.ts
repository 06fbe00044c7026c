import { errorMessage, type Logger, raceAbort, withTimeout } from '@podwright/base';
import type { CriClient, Image } from '@podwright/cri';
import { formatQuantity, type NodeAddress } from '@podwright/kube-api';
import { type NodeResources, resourceList } from '../node/node-resources.ts';
import { addReserves, hardEvictionReserve } from './hard-eviction.ts';
import type { HostFacts } from './host-facts.ts';
import { NODE_IMAGES_PERIOD_MS } from './limits.ts';
import { nodeAddresses, providedAddresses, type WantedAddresses } from './node-addresses.ts';
import { nodeImages } from './node-images.ts';
import type { NodeSettings } from './node-settings.ts';
import type { DeviceResources, ObservedNode, Pressure } from './observed-node.ts';
import { abilitiesStatus, type RuntimeAbilities } from './runtime-abilities.ts';

/** The rooms that know parts of a node's status; each tells what is so now. */
export type NodeRooms = {
  /** `undefined` before the runtime was ready for the first time. */
  abilities: () => RuntimeAbilities | undefined;
  pressure: () => Pressure;
  devices: () => DeviceResources;
  /** Why the node is not ready. */
  problems: () => string[];
  /** Volumes that a controller must not detach; `undefined` before it is known which. */
  volumesInUse: () => string[] | undefined;
};

export type NodeObserverOptions = {
  wanted: WantedAddresses;
  settings: NodeSettings;
  host: Promise<HostFacts>;
  /** What the host has, without pods; how many of them it may have; what is kept back. */
  resources: NodeResources;
  maxPods: number;
  reserved: { cpuMillis: number; memoryBytes: number; ephemeralStorageBytes: number };
  /** Of the kubelet's HTTP API. */
  port: number;
  declaredFeatures: readonly string[];
  /** As the runtime called itself when the kubelet started. */
  runtimeName: string;
  rooms: NodeRooms;
  cri: Pick<CriClient, 'runtime' | 'image'>;
  logger: Logger;
  findAddresses?: typeof nodeAddresses;
};

/** Looks at everything that a node's status tells. */
export class NodeObserver {
  readonly #options: NodeObserverOptions;
  #images: { list: Image[]; readAtMs: number } | undefined;
  /** A name service may take its time, and is then not asked twice at once. */
  #looking: Promise<NodeAddress[]> | undefined;
  /** Those that were found last, for as long as the name service takes for others. */
  #found: NodeAddress[] | undefined;
  #addressProblem = '';

  constructor(options: NodeObserverOptions) {
    this.#options = options;
  }

  /** Never rejects: what cannot be told now is left out, or told as upstream does. */
  async observe(signal: AbortSignal): Promise<ObservedNode> {
    const { wanted, settings, host, rooms, declaredFeatures, port } = this.#options;
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
      devices: rooms.devices(),
      nodeInfo: { ...facts, containerRuntimeVersion: `${this.#options.runtimeName}://${runtimeVersion}` },
      port,
      images: nodeImages(images, settings.maxImages),
      ...abilitiesStatus(rooms.abilities()),
      declaredFeatures: [...declaredFeatures],
      pressure: rooms.pressure(),
      problems: rooms.problems(),
      volumesInUse: rooms.volumesInUse(),
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
      return 'Unknown'; // the runtime's state tells of it
    }
  }

  /** Listed every half a minute, as upstream does; a runtime that does not answer has those that it had. */
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

/** How long the runtime and the name service may take for what a status tells: NotReady must not wait for one that hangs. */
const ANSWER_MS = 2000;

/** A version as upstream writes it: without `v`, and without what no semantic version has; `undefined` for what is none. */
export function plainVersion(text: string): string | undefined {
  const [, numbers, rest = ''] = /^\s*v?(\d+(?:\.\d+)+)(.*)$/.exec(text) ?? [];
  if (numbers === undefined) return undefined;
  const isSemantic = /^\d+\.\d+\.\d+$/.test(numbers) && /^(-[\dA-Za-z.-]+)?(\+[\dA-Za-z.-]+)?$/.test(rest);
  return isSemantic ? `${numbers}${rest}` : numbers;
}
