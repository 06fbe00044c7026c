import { errorMessage, findProgram, type Logger, PodwrightError, runChecked, withTimeout } from '@podwright/base';
import { NETWORK_PROGRAM_TIMEOUT_MS } from '../../time-limits.ts';
import {
  filtersForwarding,
  forwardChain,
  type HostRuleset,
  type IptablesChain,
  inputChain,
  masqueradeChain,
  nftRemoval,
  nftRuleset,
  removalInput,
  restoreInput,
} from './host-ruleset.ts';
import type { Subnet } from './subnet.ts';

/** How long iptables waits for another one to finish, in seconds; `-w` alone would wait for ever. */
const LOCK_WAIT_SECONDS = '15';

/**
 * The default network's rules in the host's packet filter: its subnet is masqueraded and kept from the host's loopback
 * addresses by nft, or by iptables where nft is missing or fails, and accepted by iptables' FORWARD chain where that
 * filters at all.
 */
export class HostRules {
  readonly #ruleset: HostRuleset;
  readonly #logger: Logger;

  constructor(ruleset: HostRuleset, logger: Logger) {
    this.#ruleset = ruleset;
    this.#logger = logger;
  }

  /** Makes the rules what they should be, in at most three program starts a family. May be called again. */
  async ensure(): Promise<void> {
    const { subnets } = this.#ruleset;
    await Promise.all([this.#masqueradeAndProtect(), ...subnets.map((subnet) => this.#acceptForwarding(subnet))]);
  }

  /** Removes every rule and chain, of both kinds. */
  async remove(): Promise<void> {
    const { bridge, subnets } = this.#ruleset;
    await run('nft', ['-f', '-'], nftRemoval(bridge)).catch((error) => this.#unusable('nft', error));
    for (const subnet of subnets) {
      for (const chain of [...this.#nftSubstitutes(subnet), forwardChain(subnet)]) {
        const current = await this.#savedIfUsable(subnet, chain);
        const input = current === undefined ? undefined : removalInput(bridge, chain, current);
        if (input !== undefined) await restoreChain(subnet, input);
      }
    }
  }

  async #masqueradeAndProtect(): Promise<void> {
    try {
      await run('nft', ['-f', '-'], nftRuleset(this.#ruleset));
    } catch (error) {
      this.#unusable('nft', error);
      await this.#restoreSubstitutes();
    }
  }

  async #restoreSubstitutes(): Promise<void> {
    const { bridge, subnets } = this.#ruleset;
    for (const subnet of subnets) {
      for (const chain of this.#nftSubstitutes(subnet))
        await restoreChain(subnet, restoreInput(bridge, chain, await saved(subnet, chain)));
    }
  }

  /** The chains of iptables that do what our nft table does. */
  #nftSubstitutes(subnet: Subnet): IptablesChain[] {
    const masquerade = masqueradeChain(subnet);
    return subnet.family === 4 ? [masquerade, inputChain(this.#ruleset.bridge)] : [masquerade];
  }

  /** The host owner's own nft tables are not ours to edit, so that only iptables' chain gets rules. */
  async #acceptForwarding(subnet: Subnet): Promise<void> {
    const { bridge } = this.#ruleset;
    const chain = forwardChain(subnet);
    const current = await this.#savedIfUsable(subnet, chain);
    if (current === undefined || !filtersForwarding(bridge, current)) return;
    await restoreChain(subnet, restoreInput(bridge, chain, current));
  }

  /** A host on which iptables cannot even list a table has nothing in it. */
  async #savedIfUsable(subnet: Subnet, chain: IptablesChain): Promise<string | undefined> {
    return await saved(subnet, chain).catch((error) => this.#unusable(save(subnet), error));
  }

  #unusable(program: string, error: unknown): undefined {
    this.#logger.debug({ program, error: errorMessage(error) }, 'program of the packet filter cannot be used');
  }
}

/** What the packet filter needs and the host lacks, for people; undefined if nothing. */
export function missingFilterProgram(): string | undefined {
  if (findProgram('nft') !== undefined || findProgram('iptables-restore') !== undefined) return undefined;
  return 'neither nft nor iptables is installed, on Debian and Ubuntu: apt install nftables iptables';
}

const restore = ({ family }: Subnet): string => (family === 4 ? 'iptables-restore' : 'ip6tables-restore');
const save = ({ family }: Subnet): string => (family === 4 ? 'iptables-save' : 'ip6tables-save');

async function saved(subnet: Subnet, { table }: IptablesChain): Promise<string> {
  return await run(save(subnet), ['-t', table], '');
}

async function restoreChain(subnet: Subnet, input: string): Promise<void> {
  await run(restore(subnet), ['-w', LOCK_WAIT_SECONDS, '--noflush'], input);
}

async function run(name: string, args: string[], stdin: string): Promise<string> {
  const path = findProgram(name);
  if (path === undefined) {
    const hint = 'install it, on Debian and Ubuntu with: apt install nftables iptables';
    throw new PodwrightError('failed_precondition', `set up the pod network: ${name} not found; ${hint}`);
  }
  using signal = withTimeout(undefined, NETWORK_PROGRAM_TIMEOUT_MS, name);
  return await runChecked(path, args, { stdin, signal, maxOutputBytes: 64 << 20 });
}
