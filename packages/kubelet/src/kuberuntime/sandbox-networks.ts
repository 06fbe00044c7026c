import { isIP, isIPv6 } from 'node:net';
import { isNotFound } from '@podwright/base';
import { type CriClient, NamespaceMode, type PodSandboxStatus } from '@podwright/cri';

/** A sandbox's addresses, primary first; none on the host network. */
export type SandboxNetwork = { hostNetwork: boolean; ips: string[] };

/** Reads each sandbox's network once, because a sandbox's addresses do not change until it is removed. */
export class SandboxNetworks {
  readonly #cri: CriClient;
  readonly #addresses: string[];
  readonly #known = new Map<string, SandboxNetwork>();

  /** `addresses`: the host's addresses, primary first; they determine the order of address families. */
  constructor(cri: CriClient, addresses: string[] = []) {
    this.#cri = cri;
    this.#addresses = addresses;
  }

  /** Returns the sandbox's network; `undefined` if the sandbox does not exist. */
  async of(id: string, signal?: AbortSignal): Promise<SandboxNetwork | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    try {
      const { status } = await this.#cri.runtime.podSandboxStatus({ podSandboxId: id }, { signal });
      return status && this.note(status);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Caches a sandbox's network from a status read for another purpose. */
  note(status: PodSandboxStatus): SandboxNetwork {
    const known = this.#known.get(status.id);
    if (known !== undefined) return known;
    const network = decodeNetwork(status, this.#addresses);
    if (network.hostNetwork || network.ips.length > 0) this.#known.set(status.id, network);
    return network;
  }

  /** Drops the cached networks of sandboxes not in `existing`. */
  keep(existing: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!existing.has(id)) this.#known.delete(id);
  }
}

/** Returns at most one address per IP family, as required by the API, with the family of the node's primary address first. */
function decodeNetwork({ linux, network }: PodSandboxStatus, [hostIp = '']: string[]): SandboxNetwork {
  const hostNetwork = linux?.namespaces?.options?.network === NamespaceMode.NODE;
  const ips = [network?.ip ?? '', ...(network?.additionalIps ?? []).map(({ ip }) => ip)];
  const families = isIPv6(hostIp) ? [6, 4] : [4, 6];
  return { hostNetwork, ips: families.flatMap((family) => ips.find((ip) => isIP(ip) === family) ?? []) };
}
