import { isIP } from 'node:net';
import { join } from 'node:path';
import { errorCode, errorMessage, KeyedLock, type Logger, PodwrightError, withTimeout } from '@podwright/base';
import {
  type Attachment,
  CniClient,
  type CniDeadlines,
  FORGET,
  isNamespace,
  type NetworkList,
  podAddresses,
  podAttachment,
  podBandwidth,
  withoutIdlePlugins,
} from '@podwright/cni';
import { type PortMapping, Protocol } from '@podwright/cri';
import { ROLLBACK_TIMEOUT_MS } from '../limits.ts';
import { CniConfiguration } from './cni-configuration.ts';
import { LibcniRecords } from './libcni-records.ts';
import type {
  NetworkCapability,
  NetworkEvent,
  NetworkPlugin,
  NetworkPluginSettings,
  NetworkPod,
  NetworkSetup,
  PodNetworkStatus,
} from './network-plugin.ts';
import { PodNamespaces } from './pod-namespace.ts';

export type CniPluginOptions = {
  /** `cacheDir` must be persistent: its `attachments` subdirectory holds the attachment records. */
  network: { confDir: string; binDirs: string[]; cacheDir: string };
  logger: Logger;
  deadlines?: Partial<CniDeadlines>;
};

type TearDown = Parameters<NetworkPlugin['tearDownPod']>[0];

/**
 * A path that is never a network namespace. With an empty path, the path in the pod's record would be used, but its PID might have been
 * reused by now.
 */
const NO_NAMESPACE = '/proc/0/ns/net';

/** Network capabilities by the name that plugins declare. */
const CAPABILITIES: Record<string, NetworkCapability> = {
  bandwidth: 'shaping',
  portMappings: 'portMappings',
  ipRanges: 'ipRanges',
  dns: 'dns',
};

/** Plugins whose configuration accepts an `mtu`. */
const TAKES_MTU = new Set(['bridge', 'ptp', 'macvlan', 'ipvlan']);

/** The `cni` network plugin, which attaches pods according to the host's CNI configuration. */
export class CniPlugin implements NetworkPlugin {
  readonly name = 'cni';
  readonly dockerNetworkMode = 'none';
  readonly #logger: Logger;
  readonly #client: CniClient;
  readonly #configuration: CniConfiguration;
  readonly #foreign: LibcniRecords;
  readonly #namespaces: PodNamespaces;
  readonly #pods = new KeyedLock();
  #settings: NetworkPluginSettings = { hairpinMode: 'none', nonMasqueradeCidr: '', mtu: 0 };
  #podCidrs: string[] = [];
  #capabilities: ReadonlySet<NetworkCapability> = new Set();

  constructor({ network, logger, deadlines }: CniPluginOptions) {
    this.#logger = logger;
    this.#configuration = new CniConfiguration(network.confDir, network.binDirs, logger);
    this.#foreign = new LibcniRecords(network.cacheDir, logger);
    this.#namespaces = new PodNamespaces(logger);
    this.#client = new CniClient({
      directories: network.binDirs,
      cacheDirectory: join(network.cacheDir, 'attachments'),
      deadlines,
      onCall: ({ containerId, ...call }) => logger.debug({ sandbox: containerId, ...call }, 'CNI plugin has run'),
    });
  }

  capabilities(): ReadonlySet<NetworkCapability> {
    return this.#capabilities;
  }

  async init(settings: NetworkPluginSettings): Promise<void> {
    this.#settings = settings;
    await this.#render();
    await this.#default().catch(() => undefined); // `status` reports why there is no network
  }

  async event({ podCidr }: NetworkEvent): Promise<void> {
    this.#podCidrs = parsePodCidrs(podCidr);
    await this.#render();
  }

  async setUpPod(setup: NetworkSetup, signal: AbortSignal): Promise<PodNetworkStatus> {
    return await this.#pods.run(keyOf(setup.pod), () => this.#setUp(setup, signal), signal);
  }

  async tearDownPod(setup: TearDown, signal: AbortSignal): Promise<void> {
    await this.#pods.run(keyOf(setup.pod), () => this.#tearDown(setup, signal), signal);
  }

  async podNetworkStatus(
    { sandboxId }: NetworkPod,
    netnsPath: string | undefined,
  ): Promise<PodNetworkStatus | undefined> {
    const recorded = this.#recorded(sandboxId);
    if (recorded !== undefined && recorded !== 'damaged') return { ips: recorded };
    // the pod might have been set up by a different dockershim, so use the addresses of its interface
    const ips = await this.#assigned(netnsPath);
    return ips.length === 0 ? undefined : { ips };
  }

  async isSetUp({ sandboxId }: NetworkPod, netnsPath: () => Promise<string | undefined>): Promise<boolean> {
    const recorded = this.#recorded(sandboxId);
    if (recorded !== 'damaged') return recorded !== undefined;
    return (await this.#assigned(await netnsPath())).length > 0;
  }

  async status(parent?: AbortSignal): Promise<void> {
    using signal = withTimeout(parent, STATUS_TIMEOUT_MS, 'ask the network for its status');
    await this.#client.status(await this.#default(), signal);
  }

  async #setUp(setup: NetworkSetup, signal: AbortSignal): Promise<PodNetworkStatus> {
    const attachment = this.#attachment(setup);
    const list = this.#withMtu(
      withoutIdlePlugins(await this.#default(), { portMappings: podPorts(setup.portMappings) }),
    );
    this.#namespaces.bringLoopbackUp(setup.netnsPath);
    const ips = podAddresses(await this.#client.add(list, attachment, signal));
    if (ips.length === 0) {
      using bound = withTimeout(undefined, ROLLBACK_TIMEOUT_MS, 'remove a network that assigned no address');
      await this.#client.del(attachment, undefined, bound);
      throw new PodwrightError('internal', `network ${list.name} gave sandbox ${setup.pod.sandboxId} no address`);
    }
    await this.#setHairpin(setup);
    return { ips };
  }

  async #setHairpin({ netnsPath, pod }: NetworkSetup): Promise<void> {
    const { hairpinMode } = this.#settings;
    await this.#namespaces.setHairpin(netnsPath, hairpinMode).catch((error: unknown) => {
      const fields = { sandbox: pod.sandboxId, hairpinMode, error: errorMessage(error) };
      this.#logger.warn(fields, 'a pod cannot reach itself by its services: the hairpin mode could not be set');
    });
  }

  /**
   * Tears down the network using the configuration in the sandbox's record or, as a precaution, the current configuration if there is no
   * record.
   */
  async #tearDown(setup: TearDown, signal: AbortSignal): Promise<void> {
    const { sandboxId } = setup.pod;
    const portMappings = setup.portMappings.length > 0 ? setup.portMappings : await this.#foreign.ports(sandboxId);
    const netnsPath = setup.netnsPath ?? NO_NAMESPACE;
    const attachment = this.#attachment({ ...setup, portMappings, netnsPath, annotations: {} });
    const list = await this.#configuration.find();
    try {
      await this.#client.del(attachment, this.#client.has(attachment) ? undefined : list, signal);
    } catch (error) {
      if (errorCode(error) !== 'data_loss') throw error;
      await this.#client.del(attachment, list ?? FORGET, signal);
    }
    await this.#foreign.remove(sandboxId);
  }

  /** Returns the addresses of a pod's interface, none if it cannot be read. */
  async #assigned(netnsPath: string | undefined): Promise<string[]> {
    if (netnsPath === undefined || !(await isNamespace(netnsPath))) return [];
    return await this.#namespaces.addresses(netnsPath).catch(() => []);
  }

  /** Returns the addresses in the pod's record, `undefined` if no setup has completed, or `damaged` if the record cannot be read. */
  #recorded(sandboxId: string): string[] | 'damaged' | undefined {
    try {
      const result = this.#client.result({ containerId: sandboxId, ifName: 'eth0' });
      return result === undefined ? undefined : podAddresses(result);
    } catch (error) {
      this.#logger.warn(
        { sandbox: sandboxId, error: errorMessage(error) },
        'the record of a network attachment is damaged',
      );
      return 'damaged';
    }
  }

  /** Returns the current network. Throws if there is none, or if it needs a pod CIDR that is not set yet. */
  async #default(): Promise<NetworkList> {
    const list = await this.#configuration.require();
    const taken = list.plugins.flatMap(({ capabilities }) => capabilities);
    this.#capabilities = new Set(taken.flatMap((name) => CAPABILITIES[name] ?? []));
    if (this.#podCidrs.length > 0 || !this.#capabilities.has('ipRanges')) return list;
    const message = `network ${list.name} needs ipRanges, and no pod CIDR is set`;
    throw new PodwrightError('failed_precondition', message);
  }

  #withMtu(list: NetworkList): NetworkList {
    const { mtu } = this.#settings;
    if (mtu === 0) return list;
    const plugins = list.plugins.map((plugin) => {
      if (!TAKES_MTU.has(plugin.type) || plugin.config.mtu !== undefined) return plugin;
      return { ...plugin, config: { ...plugin.config, mtu } };
    });
    return { ...list, plugins };
  }

  async #render(): Promise<void> {
    const { mtu, nonMasqueradeCidr } = this.#settings;
    await this.#configuration.renderTemplates({ podCidrs: this.#podCidrs, mtu, nonMasqueradeCidr });
  }

  #attachment({ pod, netnsPath, portMappings, annotations, dns, cgroupParent }: NetworkSetup): Attachment {
    return podAttachment({
      ...{ sandboxId: pod.sandboxId, podName: pod.name, podNamespace: pod.namespace, podUid: pod.uid, netnsPath },
      portMappings: podPorts(portMappings),
      bandwidth: podBandwidth(annotations),
      cgroupParent,
      podCidrs: this.#podCidrs,
      ...(dns !== undefined && {
        dns: { servers: dns.servers, searches: dns.searches, options: dns.options },
      }),
    });
  }
}

/** Timeout of STATUS. The CRI client calls Status every few seconds and should not have to wait longer. */
const STATUS_TIMEOUT_MS = 10_000;

const keyOf = ({ namespace, name, sandboxId }: NetworkPod): string =>
  name === '' ? sandboxId : `${namespace}/${name}`;

const PROTOCOLS = { [Protocol.TCP]: 'tcp', [Protocol.UDP]: 'udp', [Protocol.SCTP]: 'sctp' } as const;

const podPorts = (mappings: PortMapping[]) =>
  mappings.map(({ protocol, containerPort, hostPort, hostIp }) => {
    return { protocol: PROTOCOLS[protocol], containerPort, hostPort, hostIp };
  });

/** Parses the node's pod CIDRs: one subnet, or two separated by a comma. Throws `invalid_argument`. */
export function parsePodCidrs(text: string): string[] {
  const cidrs = text.split(',').map((part) => part.trim());
  const bad = cidrs.find((cidr) => !isCidr(cidr));
  if (bad === undefined && cidrs.length <= 2) return cidrs;
  const message = `pod CIDR ${JSON.stringify(text)}: it must be a subnet such as 10.88.0.0/16, or two of them, IPv4 and IPv6`;
  throw new PodwrightError('invalid_argument', message);
}

function isCidr(text: string): boolean {
  const match = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(text);
  const family = isIP(match?.[1] ?? '');
  return family !== 0 && Number(match?.[2]) <= (family === 4 ? 32 : 128);
}
