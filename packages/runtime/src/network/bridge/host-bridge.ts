import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, makePrivateDirectory, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { pathExists } from '@podwright/host';
import { addAddress, addLink, changeLink, removeAddress } from '@podwright/system';
import { type AddressRange, hardwareAddressOf } from './address-range.ts';
import { type BridgePlan, planBridge } from './bridge-plan.ts';
import { type HostLinks, vanished } from './host-links.ts';
import { bridgeAlias, isOfAnotherNode } from './link-names.ts';

export type HostBridgeOptions = { bridge: string; stateDir: string; links: HostLinks };

/** The bridge that pods are connected to, with its addresses in the pod subnets and the sysctls for forwarding. */
export class HostBridge {
  readonly #options: HostBridgeOptions;

  constructor(options: HostBridgeOptions) {
    this.#options = options;
  }

  /**
   * Creates or repairs the bridge and returns its interface index. Throws `failed_precondition`, with a user-facing message, if the bridge
   * name or a subnet is taken. Idempotent: may be repeated after any failure.
   */
  async ensure(ranges: AddressRange[]): Promise<number> {
    const { bridge, links } = this.#options;
    const first = await this.#plan(ranges);
    if (first.kind === 'create') await this.#make(ranges);
    const plan = first.kind === 'create' ? await this.#plan(ranges) : first;
    if (plan.kind === 'refuse') throw new PodwrightError('failed_precondition', plan.message);
    if (plan.kind === 'create') throw vanished(`bridge ${bridge}`);
    await setSysctls(bridge, ranges);
    const changes = [...plan.remove.map(removeAddress), ...plan.add.map(addAddress)];
    if (!plan.up) changes.unshift(changeLink(bridge, { up: true }));
    if (changes.length > 0) await links.request(changes);
    return plan.index;
  }

  /** Read-only: returns a user-facing message if pods cannot get a network; otherwise `undefined`. */
  async problem(ranges: AddressRange[]): Promise<string | undefined> {
    const plan = await this.#plan(ranges);
    return plan.kind === 'refuse' ? plan.message : undefined;
  }

  /**
   * Returns a user-facing error message if the bridge belongs to another Podwright node on this host; `undefined` if it does not, or if
   * there is no bridge.
   */
  async foreignBridgeMessage(): Promise<string | undefined> {
    const { bridge, links } = this.#options;
    const [link] = await links.find(bridge);
    return this.#foreignBridgeMessage(link?.alias);
  }

  #foreignBridgeMessage(alias: string | undefined): string | undefined {
    const { bridge, stateDir } = this.#options;
    if (!isOfAnotherNode(alias, stateDir)) return undefined;
    return `bridge ${bridge} is another node's (${alias}): choose another bridge and subnet in [network] (--bridge, --subnet), or, if that node no longer exists: ip link delete ${bridge}`;
  }

  /** Removes the bridge if this node created it. */
  async remove(): Promise<void> {
    const { bridge, links } = this.#options;
    if (await pathExists(this.#marker)) await links.remove([bridge]);
    await rm(this.#marker, { force: true });
  }

  async #plan(ranges: AddressRange[]): Promise<BridgePlan> {
    const { bridge, links } = this.#options;
    const [link] = await links.find(bridge);
    const message = this.#foreignBridgeMessage(link?.alias);
    if (message !== undefined) return { kind: 'refuse', message };
    const state = { link, addresses: await links.addresses(), routes: await links.routes() };
    return planBridge({ bridge, isOwn: await pathExists(this.#marker), ranges, state });
  }

  /** Creates the bridge. First records this node's ownership, so that the bridge is removed later. */
  async #make(ranges: AddressRange[]): Promise<void> {
    const { bridge, links, stateDir } = this.#options;
    makePrivateDirectory(stateDir);
    await writeFile(this.#marker, '', { mode: PRIVATE_FILE });
    // By default, a bridge takes the lowest hardware address of its ports. That address would change as ports are added and removed, making
    // the pods' neighbor entries stale.
    const hardwareAddress = hardwareAddressOf(ranges[0]!.gateway);
    await links.request([
      { ...addLink({ name: bridge, kind: 'bridge', hardwareAddress }), ignore: ['EEXIST'] },
      changeLink(bridge, { alias: bridgeAlias(stateDir) }),
    ]);
  }

  get #marker(): string {
    return join(this.#options.stateDir, `made-${this.#options.bridge}`);
  }
}

/** Enables forwarding on the host, and keeps the host from accepting a pod as its router (CVE-2020-10749). */
async function setSysctls(bridge: string, ranges: AddressRange[]): Promise<void> {
  await setSysctl(`net/ipv6/conf/${bridge}/accept_ra`, '0');
  for (const { family } of ranges) {
    if (family === 6) await setSysctl(`net/ipv6/conf/${bridge}/disable_ipv6`, '0');
    await setSysctl(family === 4 ? 'net/ipv4/ip_forward' : 'net/ipv6/conf/all/forwarding', '1');
  }
}

/** Writes a sysctl. Asynchronous, because the kernel can wait for locks during the write. No-op if the kernel has no IPv6. */
async function setSysctl(name: string, value: string): Promise<void> {
  const path = join('/proc/sys', name);
  try {
    if ((await readFile(path, 'utf8')).trim() !== value) await writeFile(path, value);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}
