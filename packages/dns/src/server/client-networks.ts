import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { PodwrightError } from '@podwright/base';

/** The client networks whose queries this server answers. */
export class ClientNetworks {
  readonly #networks = new BlockList();

  /** Accepts addresses and networks such as `10.88.0.0/16`. Throws `invalid_argument` for anything else. */
  constructor(networks: readonly string[]) {
    for (const network of networks) this.#add(network);
  }

  has(address: string): boolean {
    if (isIPv4(address)) return this.#networks.check(address, 'ipv4');
    const [unscoped = ''] = address.split('%');
    const mapped = /^::ffff:([\d.]+)$/i.exec(unscoped)?.[1];
    return mapped === undefined ? this.#networks.check(unscoped, 'ipv6') : this.#networks.check(mapped, 'ipv4');
  }

  #add(network: string): void {
    const [address = '', prefix, ...rest] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
    const bits = family === 'ipv4' ? 32 : 128;
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
    if (family === undefined || rest.length > 0 || !(length <= bits))
      throw new PodwrightError('invalid_argument', `"${network}" is not an address or network`);
    this.#networks.addSubnet(address, length, family);
  }
}
