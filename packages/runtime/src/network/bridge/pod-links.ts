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

/** A pod's place on the bridge. */
export type PodPlace = {
  sandboxId: string;
  netnsPath: string;
  bridgeIndex: number;
  /** One of each range. */
  addresses: string[];
  ranges: AddressRange[];
};

/**
 * A pod's port of the bridge, which has a static entry for the pod's hardware address instead of learning: a pod that sends with
 * ever new senders would fill memory of the kernel that no cgroup is charged for. Frames for unknown addresses go to all ports.
 */
export const POD_PORT = { hairpin: true, learning: false } as const;

/** The links of pods: veth pairs, each with both ends made where they belong, since moving one waits for grace periods. */
export class PodLinks {
  readonly #options: PodLinksOptions;

  constructor(options: PodLinksOptions) {
    this.#options = options;
  }

  /**
   * Connects a pod: one batch in the host's namespace, one in the pod's. A place that was made half-way, by a process that was
   * killed, is finished with `resume`. ENODEV says that the bridge has vanished.
   */
  async connect(place: PodPlace, { resume = false } = {}): Promise<void> {
    const { name, peer } = await this.#makePair(place, resume);
    believeNoRouter(name);
    await this.#setUpInside(place, peer!);
    await this.#untilForwarding(name);
  }

  async #makePair({ sandboxId, netnsPath, bridgeIndex, addresses }: PodPlace, resume: boolean): Promise<Link> {
    const { bridge, links } = this.#options;
    const name = hostLinkName(bridge, sandboxId);
    const namespace = openSync(netnsPath, 'r');
    try {
      const peer = { name: POD_LINK, hardwareAddress: hardwareAddressOf(addresses[0]!), namespace };
      const answers = await links.request([
        { ...addVethPair({ name, bridgeIndex, peer }), ignore: resume ? ['EEXIST'] : [] },
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

  async #setUpInside({ netnsPath, addresses, ranges }: PodPlace, linkIndex: number): Promise<void> {
    const { sockets } = this.#options;
    const socket = withNetworkNamespace(this.#options, netnsPath, () => {
      believeNoRouter(POD_LINK);
      useAddressesAtOnce();
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

  /** The kernel opens a bridge's port a moment after both ends are up; what a pod says before that is lost, and said again after a second. */
  async #untilForwarding(name: string): Promise<void> {
    const { links, logger } = this.#options;
    using signal = withTimeout(undefined, PORT_FORWARDS_TIMEOUT_MS, `wait for link ${name}`);
    const forwards = async () => ((await links.find(name))[0]?.forwards ? true : undefined);
    await waitFor(forwards, { intervalMs: 1, signal }).catch((error) =>
      logger.warn({ link: name, error: String(error) }, 'the bridge does not forward for a pod yet'),
    );
  }
}

/**
 * No pod becomes a router: of the host, should somebody take its link off the bridge (CVE-2020-10749), or of other pods. For the
 * calling thread's namespace.
 */
const believeNoRouter = (link: string): void => setIpv6(link, 'accept_ra', '0');

/**
 * The link-local address waits for no answer of another that has it: it would for one to two seconds, and hardware addresses
 * are ours. For the calling thread's namespace.
 */
const useAddressesAtOnce = (): void => setIpv6(POD_LINK, 'accept_dad', '0');

/** Nothing where the kernel has no IPv6. The kernel takes no lock for these settings. */
function setIpv6(link: string, setting: 'accept_ra' | 'accept_dad', value: string): void {
  try {
    writeFileSync(`/proc/sys/net/ipv6/conf/${link}/${setting}`, value);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

/** A host may be set up to have no IPv6 in new namespaces. For the calling thread's. */
function allowIpv6(): void {
  const path = `/proc/sys/net/ipv6/conf/${POD_LINK}/disable_ipv6`;
  if (readFileSync(path, 'utf8').trim() === '1') writeFileSync(path, '0');
}
