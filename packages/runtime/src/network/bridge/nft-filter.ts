import { changeElements, removeTable, replaceTable, rulesetGeneration } from '@podwright/system';
import { type HostRuleset, tableName } from './host-ruleset.ts';
import { nftPortChanges, nftTable } from './nft-table.ts';
import type { NetfilterSocket, PacketFilter } from './packet-filter.ts';
import type { PortRule } from './port-rules.ts';

/** Implements the rules as one nf_tables table, without starting programs. Touches no other table. */
export class NftFilter implements PacketFilter {
  readonly #socket: NetfilterSocket;
  /** The nf_tables ruleset generation after this object's last transaction, provided that no other transaction came in between. */
  #generation: number | undefined;

  constructor(socket: NetfilterSocket) {
    this.#socket = socket;
  }

  async replace(ruleset: HostRuleset, ports: PortRule[]): Promise<void> {
    this.#generation = undefined;
    const generation = await rulesetGeneration(this.#socket());
    await this.#socket().request(replaceTable(nftTable(ruleset, ports)));
    this.#generation = generation + 1;
  }

  async change({ bridge, subnets }: HostRuleset, before: PortRule[], after: PortRule[]): Promise<void> {
    const versions = subnets.map(({ family }) => family);
    const changes = nftPortChanges(versions, before, after);
    if (changes.length === 0) return;
    const generation = this.#generation;
    this.#generation = undefined;
    await this.#socket().request(changeElements(tableName(bridge), changes));
    // If another program changes the ruleset concurrently, this number is too low, and the next check detects the change.
    this.#generation = generation === undefined ? undefined : generation + 1;
  }

  async intact(): Promise<boolean> {
    if (this.#generation === undefined) return false;
    return (await rulesetGeneration(this.#socket())) === this.#generation;
  }

  async remove({ bridge }: HostRuleset): Promise<void> {
    this.#generation = undefined;
    await this.#socket().request(removeTable(tableName(bridge)));
  }

  /** Checks that nf_tables is usable. Rejects if the kernel does not have it or does not let this process use it. */
  async probe(): Promise<void> {
    await rulesetGeneration(this.#socket());
  }
}
