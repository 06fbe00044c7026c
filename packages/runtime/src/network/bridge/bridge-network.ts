import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  describeUndoFailures,
  errorMessage,
  type Failpoint,
  isErrno,
  type Logger,
  makePrivateDirectory,
  noFailpoint,
  PodwrightError,
  type TraceWork,
  Undo,
  untraced,
} from '@podwright/base';
import { writeFileAtomic } from '@podwright/host';
import type { NetlinkSockets, System } from '@podwright/system';
import type { Network, NetworkRequest, NetworkResult, NetworkStatus } from '../network.ts';
import { AddressStore } from './address-store.ts';
import { limitBandwidth } from './bandwidth.ts';
import { Connections } from './connections.ts';
import { HostLinks, retryLostAnswers } from './host-links.ts';
import { HostRules } from './host-rules.ts';
import { HostSide } from './host-side.ts';
import { parseSubnets, type Subnet } from './subnet.ts';

export type BridgeNetworkOptions = {
  bridge: string;
  /** The pods' subnet, or one subnet per IP family, comma-separated. */
  subnet: string;
  /** MTU of pods' links. Default: 0, for the MTU of the host's uplink. */
  mtu?: number;
  /** A directory used only by this container runtime. A reboot clears it, along with the bridge. */
  stateDir: string;
  sockets: NetlinkSockets;
  system: System;
  logger: Logger;
  failpoint?: Failpoint;
  trace?: TraceWork;
};

/**
 * The default network: a bridge that Podwright sets up through netlink, without running programs. Leaves the host unchanged until the first
 * pod. The kernel removes a pod's veth pair together with the pod's network namespace, and the pod's addresses are not reassigned before
 * that.
 */
export class BridgeNetwork implements Network {
  readonly #options: BridgeNetworkOptions;
  readonly #failpoint: Failpoint;
  readonly #trace: TraceWork;
  readonly #links: HostLinks;
  readonly #rules: HostRules;
  readonly #host: HostSide;
  readonly #connections: Connections;

  private constructor(options: BridgeNetworkOptions, subnets: Subnet[]) {
    const { bridge, stateDir, mtu = 0, failpoint = noFailpoint } = options;
    const links = new HostLinks(options.sockets);
    const store = new AddressStore(addressesPath(stateDir), networkName(bridge));
    this.#options = options;
    this.#failpoint = failpoint;
    this.#trace = options.trace ?? untraced;
    this.#links = links;
    this.#rules = new HostRules({ ...options, subnets });
    this.#host = new HostSide({ bridge, subnets, mtu, stateDir, links, store, rules: this.#rules });
    this.#connections = new Connections({ ...options, host: this.#host, links, store, failpoint });
  }

  /** Opens the network and finds the pods that were connected to it before a restart of the container runtime. */
  static async open(options: BridgeNetworkOptions): Promise<BridgeNetwork> {
    const network = await BridgeNetwork.openReadOnly(options);
    await network.#connections.recover();
    if ((await network.list()).length > 0) network.#host.markInUse();
    return network;
  }

  /** Opens the network read-only, because it might be in use by another process. */
  static async openReadOnly(options: BridgeNetworkOptions): Promise<BridgeNetwork> {
    const { bridge, subnet, stateDir } = options;
    if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$/.test(bridge))
      throw new PodwrightError(
        'invalid_argument',
        `bridge name "${bridge}": use at most 15 letters, digits, _ . and -`,
      );
    return new BridgeNetwork(options, parseSubnets((await readPodCidr(stateDir)) ?? subnet));
  }

  /** Throws `failed_precondition` if the bridge belongs to another Podwright node on this host. */
  requireOwnBridge(): Promise<void> {
    return this.#host.requireOwnBridge();
  }

  get subnets(): readonly Subnet[] {
    return this.#host.subnets;
  }

  /** Whether the sandbox has a veth pair or an address. */
  has(sandboxId: string): boolean {
    return this.#connections.has(sandboxId);
  }

  async prepare(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<boolean> {
    await this.#connections.connect(sandboxId, netnsPath, signal);
    return true;
  }

  async setUp(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResult> {
    const { sandboxId, netnsPath, bandwidth, portMappings } = request;
    const { bridge } = this.#options;
    const connect = () => this.#connections.connect(sandboxId, netnsPath, signal);
    const ips = await this.#trace('netlink: address and link', connect);
    try {
      if (bandwidth !== undefined)
        await retryLostAnswers(() => limitBandwidth(this.#links, { bridge, sandboxId, bandwidth }));
      await this.#failpoint('network-up/limited');
      await this.#trace('packet filter: ports', () => this.#rules.publish(sandboxId, { ips, mappings: portMappings }));
      await this.#failpoint('network-up/published');
      signal.throwIfAborted();
    } catch (error) {
      await this.#undo(sandboxId, error);
      throw error;
    }
    return { ips, dnsServers: [] };
  }

  async tearDown({ sandboxId }: Pick<NetworkRequest, 'sandboxId'>): Promise<void> {
    await this.#rules.withdraw(sandboxId);
    await this.#failpoint('network-down/withdrawn');
    if (this.#connections.has(sandboxId)) this.#connections.release(sandboxId);
  }

  /** Removes the veth pair prepared for a pod that turns out to use a different network. */
  disconnect(sandboxId: string): Promise<void> {
    return this.#connections.disconnect(sandboxId);
  }

  async status(): Promise<NetworkStatus> {
    const message = await this.#host.problem();
    return message === undefined ? { ready: true } : { ready: false, reason: 'NetworkPluginNotReady', message };
  }

  async list(): Promise<string[]> {
    return [...new Set([...this.#connections.list(), ...(await this.#rules.published())])];
  }

  async setPodCidr(cidr: string): Promise<void> {
    if (cidr === '') return;
    const subnets = parseSubnets(cidr);
    if (isDeepStrictEqual(subnets, this.subnets)) return;
    const { stateDir, logger } = this.#options;
    if (this.#connections.list().length > 0)
      logger.warn({ cidr }, 'pod CIDR changes while pods have addresses: restart these pods');
    makePrivateDirectory(stateDir);
    await writeFileAtomic(podCidrPath(stateDir), cidr);
    this.#host.setSubnets(subnets);
  }

  async close({ removeHostState }: { removeHostState: boolean }): Promise<void> {
    if (removeHostState) await this.#remove();
    await this.#connections.close();
    this.#links.close();
  }

  /** Removes the veth pair and published ports of a sandbox after its setup failed. If this fails too, `list` still returns the sandbox. */
  async #undo(sandboxId: string, cause: unknown): Promise<void> {
    const undo = new Undo();
    undo.add('remove the link', () => this.#connections.disconnect(sandboxId));
    undo.add('withdraw the ports', () => this.#rules.withdraw(sandboxId));
    const failures = await undo.run();
    if (failures.length === 0) return;
    const fields = { sandbox: sandboxId, left: describeUndoFailures(failures), cause: errorMessage(cause) };
    this.#options.logger.error(fields, 'cannot remove a network after its setup failed');
  }

  async #remove(): Promise<void> {
    const left = await this.list();
    if (left.length > 0)
      throw new PodwrightError('failed_precondition', `remove the network: sandboxes still use it: ${left.join(', ')}`);
    await this.#connections.removeReleased();
    await this.#host.remove();
    const { stateDir } = this.#options;
    await rm(addressesPath(stateDir), { recursive: true, force: true });
    await rm(podCidrPath(stateDir), { force: true });
  }
}

const networkName = (bridge: string): string => `podwright-${bridge}`;
const addressesPath = (stateDir: string): string => join(stateDir, 'addresses');
const podCidrPath = (stateDir: string): string => join(stateDir, 'pod-cidr');

async function readPodCidr(stateDir: string): Promise<string | undefined> {
  try {
    return (await readFile(podCidrPath(stateDir), 'utf8')).trim();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
