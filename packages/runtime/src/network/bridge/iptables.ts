import { PodwrightError, withTimeout } from '@podwright/base';
import { findProgram, runChecked } from '@podwright/host';
import { NETWORK_PROGRAM_TIMEOUT_MS } from '../../time-limits.ts';
import { type IptablesChain, removalInput, restoreInput } from './host-ruleset.ts';
import type { Subnet } from './subnet.ts';

/** How long iptables waits for a lock held by another iptables process, in seconds; `-w` alone would wait forever. */
const LOCK_WAIT_SECONDS = '15';
/** Maximum output size of an iptables program; enough for tens of thousands of rules. */
const MAX_OUTPUT_BYTES = 64 << 20;

/** Which of the kernel's two packet filters to use; `any` is the one used by the host's default `iptables`. */
export type IptablesVariant = 'any' | 'nft' | 'legacy';

/** Runs `iptables-save` and `iptables-restore` for one IP family. */
export class Iptables {
  readonly #family: Subnet['family'];
  readonly #variant: IptablesVariant;

  constructor(family: Subnet['family'], variant: IptablesVariant = 'any') {
    this.#family = family;
    this.#variant = variant;
  }

  save(): Promise<string> {
    return this.#run('save', [], '');
  }

  /** Replaces the chains; `saved` is the output of `save`. */
  async restore(chains: IptablesChain[], saved: string): Promise<void> {
    await this.#restore(restoreInput(chains, saved));
  }

  /** Removes the chains; `saved` is the output of `save`. */
  async remove(chains: IptablesChain[], saved: string): Promise<void> {
    const input = removalInput(chains, saved);
    if (input !== '') await this.#restore(input);
  }

  async #restore(input: string): Promise<void> {
    await this.#run('restore', ['-w', LOCK_WAIT_SECONDS, '--noflush'], input);
  }

  async #run(verb: 'save' | 'restore', args: string[], stdin: string): Promise<string> {
    const path = this.#find(verb);
    if (path === undefined) {
      const hint = 'install it, on Debian and Ubuntu with: apt install iptables';
      const message = `set up the pod network: ${this.#name}-${verb} not found; ${hint}`;
      throw new PodwrightError('failed_precondition', message);
    }
    using signal = withTimeout(undefined, NETWORK_PROGRAM_TIMEOUT_MS, path);
    return await runChecked(path, args, { stdin, signal, maxOutputBytes: MAX_OUTPUT_BYTES });
  }

  #find(verb: string): string | undefined {
    const variant = this.#variant === 'any' ? undefined : findProgram(`${this.#name}-${this.#variant}-${verb}`);
    return variant ?? findProgram(`${this.#name}-${verb}`);
  }

  get #name(): string {
    return this.#family === 4 ? 'iptables' : 'ip6tables';
  }
}
