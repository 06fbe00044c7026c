import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, makePrivateDirectory, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { addAddress, addLink, changeLink, removeAddress } from '@podwright/system';
import { type AddressRange, hardwareAddressOf } from './address-range.ts';
import { type BridgePlan, planBridge } from './bridge-plan.ts';
import { type HostLinks, vanished } from './host-links.ts';
import { bridgeAlias, isOfAnotherNode } from './link-names.ts';

export type HostBridgeOptions = { bridge: string; stateDir: string; links: HostLinks };

/** The bridge that pods are connected by, with the host's addresses in their subnets, and what of the host lets packets pass. */
export class HostBridge {
  readonly #options: HostBridgeOptions;

  constructor(options: HostBridgeOptions) {
    this.#options = options;
  }

  /**
   * Makes the bridge what it should be, and gives its index. Throws `failed_precondition`, in words for people, if its name or
   * its subnet is taken. May be called again after any failure.
   */
  async ensure(ranges: AddressRange[]): Promise<number> {
    const { bridge, links } = this.#options;
    const first = await this.#plan(ranges);
    if (first.kind === 'make') await this.#make(ranges);
    const plan = first.kind === 'make' ? await this.#plan(ranges) : first;
    if (plan.kind === 'refuse') throw new PodwrightError('failed_precondition', plan.message);
    if (plan.kind === 'make') throw vanished(`bridge ${bridge}`);
    await setSysctls(bridge, ranges);
    const changes = [...plan.remove.map(removeAddress), ...plan.add.map(addAddress)];
    if (!plan.up) changes.unshift(changeLink(bridge, { up: true }));
    if (changes.length > 0) await links.request(changes);
    return plan.index;
  }

  /** Why pods could get no network, for people; undefined if they could. Changes nothing. */
  async problem(ranges: AddressRange[]): Promise<string | undefined> {
    const plan = await this.#plan(ranges);
    return plan.kind === 'refuse' ? plan.message : undefined;
  }

  /** Undefined if the bridge is ours or is not there; else what to do, for people. */
  async whyOfAnotherNode(): Promise<string | undefined> {
    const { bridge, links } = this.#options;
    const [link] = await links.find(bridge);
    return this.#whyOfAnotherNode(link?.alias);
  }

  #whyOfAnotherNode(alias: string | undefined): string | undefined {
    const { bridge, stateDir } = this.#options;
    if (!isOfAnotherNode(alias, stateDir)) return undefined;
    return `bridge ${bridge} is another node's (${alias}): choose another bridge and subnet in [network] (--bridge, --subnet), or, if that node is no more: ip link delete ${bridge}`;
  }

  /** Removes the bridge if we have made it. */
  async remove(): Promise<void> {
    const { bridge, links } = this.#options;
    if (await exists(this.#marker)) await links.remove([bridge]);
    await rm(this.#marker, { force: true });
  }

  async #plan(ranges: AddressRange[]): Promise<BridgePlan> {
    const { bridge, links } = this.#options;
    const [link] = await links.find(bridge);
    const message = this.#whyOfAnotherNode(link?.alias);
    if (message !== undefined) return { kind: 'refuse', message };
    const picture = { link, addresses: await links.addresses(), routes: await links.routes() };
    return planBridge({ bridge, ours: await exists(this.#marker), ranges, picture });
  }

  /** Remembers first that the bridge will be ours to remove. */
  async #make(ranges: AddressRange[]): Promise<void> {
    const { bridge, links, stateDir } = this.#options;
    makePrivateDirectory(stateDir);
    await writeFile(this.#marker, '', { mode: PRIVATE_FILE });
    // Of its own accord a bridge takes the lowest hardware address of its ports: what neighbours remember would become wrong.
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

/** The host forwards for pods, and takes none of them for its router (CVE-2020-10749). */
async function setSysctls(bridge: string, ranges: AddressRange[]): Promise<void> {
  await setSysctl(`net/ipv6/conf/${bridge}/accept_ra`, '0');
  for (const { family } of ranges) {
    if (family === 6) await setSysctl(`net/ipv6/conf/${bridge}/disable_ipv6`, '0');
    await setSysctl(family === 4 ? 'net/ipv4/ip_forward' : 'net/ipv6/conf/all/forwarding', '1');
  }
}

/** Not synchronously: the kernel may wait for its own locks there. Nothing where the kernel has no IPv6. */
async function setSysctl(name: string, value: string): Promise<void> {
  const path = join('/proc/sys', name);
  try {
    if ((await readFile(path, 'utf8')).trim() !== value) await writeFile(path, value);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
