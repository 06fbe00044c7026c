import type { Logger } from '@podwright/base';
import {
  changeLink,
  decodeAddress,
  decodeLink,
  getLink,
  type Link,
  listAddresses,
  listLinks,
  loadSystem,
  NetlinkSockets,
  type System,
  withNetworkNamespace,
} from '@podwright/system';
import type { HairpinMode } from './network-plugin.ts';

const INTERFACE_NAME = 'eth0';

/** Performs netlink operations in the pods' network namespaces. */
export class PodNamespaces {
  readonly #dependencies: { system: System; logger: Logger };
  readonly #sockets = new NetlinkSockets();

  constructor(logger: Logger) {
    this.#dependencies = { system: loadSystem(), logger };
  }

  /** Brings up the loopback interface, like the `loopback` plugin. The kernel assigns its addresses. */
  bringLoopbackUp(netnsPath: string): void {
    const { system } = this.#dependencies;
    withNetworkNamespace(this.#dependencies, netnsPath, () => system.bringInterfaceUp('lo'));
  }

  /** Returns the addresses of a pod's interface, IPv4 first. Throws `not_found` if there is no such interface. */
  async addresses(netnsPath: string): Promise<string[]> {
    const [[link], answers] = (await this.#inside(netnsPath, [getLink(INTERFACE_NAME), listAddresses()])) as [
      [Parameters<typeof decodeLink>[0]],
      Parameters<typeof decodeAddress>[0][],
    ];
    const { index } = decodeLink(link);
    const own = answers.map(decodeAddress).filter((found) => found?.linkIndex === index);
    const addresses = own.map((found) => found!.address);
    return addresses.sort((one, other) => Number(one.includes(':')) - Number(other.includes(':')));
  }

  /**
   * Lets a pod reach itself through its own Service: `hairpin-veth` enables hairpin mode on the bridge port, `promiscuous-bridge` enables
   * promiscuous mode on the bridge. No-op if the pod is not attached to a bridge.
   */
  async setHairpin(netnsPath: string, mode: HairpinMode): Promise<void> {
    if (mode === 'none') return;
    const [[answer]] = (await this.#inside(netnsPath, [getLink(INTERFACE_NAME)])) as [
      [Parameters<typeof decodeLink>[0]],
    ];
    const { peer } = decodeLink(answer);
    const host = this.#sockets.open('route');
    try {
      const links = (await host.request([listLinks()]))[0]!.map(decodeLink);
      const port = links.find(({ index, kind }) => kind === 'veth' && index === peer);
      const bridge = links.find(({ index, kind }) => kind === 'bridge' && index === port?.master);
      if (port !== undefined && bridge !== undefined) await host.request([hairpinOf(mode, { port, bridge })]);
    } finally {
      host.close();
    }
  }

  async #inside(netnsPath: string, requests: Parameters<ReturnType<NetlinkSockets['open']>['request']>[0]) {
    const socket = withNetworkNamespace(this.#dependencies, netnsPath, () => this.#sockets.open('route'));
    try {
      return await socket.request(requests);
    } finally {
      socket.close();
    }
  }
}

function hairpinOf(mode: HairpinMode, { port, bridge }: { port: Link; bridge: Link }) {
  return mode === 'hairpin-veth'
    ? changeLink(port.name, { hairpin: true })
    : changeLink(bridge.name, { promiscuous: true });
}
