import { isNotFound } from '@podwright/base';
import { type CriClient, NamespaceMode, type PodSandboxStatus } from '@podwright/cri';

/** A sandbox's place in the network: its addresses, primary first, none in the host's network. */
export type SandboxNetwork = { hostNetwork: boolean; ips: string[] };

/** Asks the runtime for the networks of sandboxes, once each: a sandbox keeps its addresses until it is removed. */
export class SandboxNetworks {
  readonly #cri: CriClient;
  readonly #known = new Map<string, SandboxNetwork>();

  constructor(cri: CriClient) {
    this.#cri = cri;
  }

  /** `undefined` for a sandbox that is not there. */
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

  /** Takes a sandbox's network from a status that the runtime sent for another reason. */
  note(status: PodSandboxStatus): SandboxNetwork {
    const known = this.#known.get(status.id);
    if (known !== undefined) return known;
    const network = decodeNetwork(status);
    if (network.hostNetwork || network.ips.length > 0) this.#known.set(status.id, network);
    return network;
  }

  /** Forgets the sandboxes that are not among these. */
  keep(existing: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!existing.has(id)) this.#known.delete(id);
  }
}

function decodeNetwork({ linux, network }: PodSandboxStatus): SandboxNetwork {
  const hostNetwork = linux?.namespaces?.options?.network === NamespaceMode.NODE;
  const ips = [network?.ip ?? '', ...(network?.additionalIps ?? []).map(({ ip }) => ip)];
  return { hostNetwork, ips: ips.filter((ip) => ip !== '') };
}
