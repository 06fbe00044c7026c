import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { isErrno, type Logger, waitFor, withTimeout } from '@podwright/base';
import {
  addAddress,
  addDefaultRoute,
  addForwarding,
  addVethPair,
  changeLink,
  decodeLink,
  getLink,
  type Link,
  type NetlinkSockets,
  type System,
  withNetworkNamespace,
  withoutLinkLocalAddress,
} from '@podwright/system';
import { PORT_FORWARDS_TIMEOUT_MS } from '../../time-limits.ts';
import { type AddressRange, hardwareAddressOf } from './address-range.ts';
import type { HostLinks } from './host-links.ts';
import { hostLinkName, linkAlias, POD_LINK } from './link-names.ts';

export type PodLinksOptions = {
  bridge: string;
  links: HostLinks;
  sockets: NetlinkSockets;
  system: System;
  logger: Logger;
};

/** A pod's network namespace, the bridge to attach it to, and its addresses. */
export type PodConnection = {
  sandboxId: string;
  netnsPath: string;
  bridgeIndex: number;
  mtu: number;
  /** The pod's addresses, one from each address range. */
  addresses: string[];
  ranges: AddressRange[];
};

/**
 * Settings of a pod's bridge port. The port has a static forwarding entry for the pod's hardware address and does not learn addresses: a
 * pod that keeps changing its source address would fill kernel memory that is not charged to any cgroup. Frames to unknown addresses are
 * flooded to all ports.
 */
export const POD_PORT = { hairpin: true, learning: false } as const;

/**
 * The pods' network links (veth pairs). Both ends are created in their final namespaces, because moving an end between namespaces waits for
 * RCU grace periods.
 */
export class PodLinks {
  readonly #options: PodLinksOptions;

  constructor(options: PodLinksOptions) {
    this.#options = options;
  }

  /**
   * Connects a pod, with one batch of netlink requests in the host's network namespace and one in the pod's. If `resume` is set, completes
   * a connection that a killed process left incomplete. Fails with ENODEV if the bridge was removed.
   */
  async connect(pod: PodConnection, { resume = false } = {}): Promise<void> {
    const { name, peer } = await this.#makePair(pod, resume);
    ignoreRouterAdvertisements(name);
    await this.#setUpInside(pod, peer!);
    await this.#untilForwarding(name);
  }

  async #makePair(
    { sandboxId, netnsPath, bridgeIndex, mtu, addresses }: PodConnection,
    resume: boolean,
  ): Promise<Link> {
    const { bridge, links } = this.#options;
    const name = hostLinkName(bridge, sandboxId);
    const namespace = openSync(netnsPath, 'r');
    try {
      const peer = { name: POD_LINK, hardwareAddress: hardwareAddressOf(addresses[0]!), namespace };
      const answers = await links.request([
        { ...addVethPair({ name, bridgeIndex, mtu, peer }), ignore: resume ? ['EEXIST'] : [] },
        ...(resume ? [changeLink(name, { bridgeIndex })] : []),
        withoutLinkLocalAddress(name),
        changeLink(name, { up: true, alias: linkAlias(bridge, sandboxId), ...POD_PORT }),
        getLink(name),
      ]);
      const link = decodeLink(answers.at(-1)![0]!);
      await links.request([addForwarding({ linkIndex: link.index, hardwareAddress: peer.hardwareAddress })]);
      return link;
    } finally {
      closeSync(namespace);
    }
  }

  async #setUpInside({ netnsPath, addresses, ranges }: PodConnection, linkIndex: number): Promise<void> {
    const { sockets } = this.#options;
    const socket = withNetworkNamespace(this.#options, netnsPath, () => {
      ignoreRouterAdvertisements(POD_LINK);
      disableDuplicateAddressDetection();
      if (ranges.some(({ family }) => family === 6)) allowIpv6();
      return sockets.open('route');
    });
    try {
      await socket.request([
        ...addresses.map((address, at) => addAddress({ linkIndex, address, prefixLength: ranges[at]!.prefixLength })),
        changeLink(POD_LINK, { up: true }),
        ...ranges.map(({ gateway }) => addDefaultRoute({ linkIndex, gateway })),
      ]);
    } finally {
      socket.close();
    }
  }

  /**
   * Waits until the bridge port is forwarding, which takes a moment after both ends are up. Packets sent earlier would be lost, and
   * retransmitted only after a second.
   */
  async #untilForwarding(name: string): Promise<void> {
    const { links, logger } = this.#options;
    using signal = withTimeout(undefined, PORT_FORWARDS_TIMEOUT_MS, `wait for link ${name}`);
    const forwards = async () => ((await links.find(name))[0]?.forwards ? true : undefined);
    await waitFor(forwards, { intervalMs: 1, signal }).catch((error) =>
      logger.warn({ link: name, error: String(error) }, 'the bridge port of a pod is not forwarding yet'),
    );
  }
}

/**
 * Makes a link in the calling thread's network namespace ignore router advertisements, so that no pod can become the router of another pod,
 * or of the host if its link is detached from the bridge (CVE-2020-10749).
 */
const ignoreRouterAdvertisements = (link: string): void => setIpv6(link, 'accept_ra', '0');

/**
 * Disables duplicate address detection in the calling thread's network namespace. It would take one to two seconds, and is unnecessary
 * because Podwright assigns unique hardware addresses.
 */
const disableDuplicateAddressDetection = (): void => setIpv6(POD_LINK, 'accept_dad', '0');

/** Writes one of a link's IPv6 settings that the kernel changes without taking locks. No-op if the kernel has no IPv6. */
function setIpv6(link: string, setting: 'accept_ra' | 'accept_dad', value: string): void {
  try {
    writeFileSync(`/proc/sys/net/ipv6/conf/${link}/${setting}`, value);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

/** Enables IPv6 in the calling thread's network namespace, because a host might disable IPv6 by default in new namespaces. */
function allowIpv6(): void {
  const path = `/proc/sys/net/ipv6/conf/${POD_LINK}/disable_ipv6`;
  if (readFileSync(path, 'utf8').trim() === '1') writeFileSync(path, '0');
}
