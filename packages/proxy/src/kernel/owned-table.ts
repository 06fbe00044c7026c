import { errorMessage, type Logger } from '@podwright/base';
import {
  changeTable,
  countRules,
  type NetlinkSocket,
  type NftChain,
  type NftSet,
  readElements,
  removeTable,
  replaceTable,
  rulesetGeneration,
} from '@podwright/system';
import { isEmptyChange, type RuleChange, type RuleLedger } from '../ledger/rule-ledger.ts';

export type OwnedTableOptions = { name: string; socket: NetlinkSocket; logger: Logger };

/**
 * How long a chain or set must be unused before it is removed. Kernels before 6.2 briefly keep counting a removed map element as a use of
 * its chain, and until then refuse to remove the chain.
 */
const UNUSED_MS = 1000;

/**
 * An nf_tables table in the network namespace in which the netlink socket was opened. Each change is one transaction. Calls must not
 * overlap.
 */
export class OwnedTable {
  readonly #name: string;
  readonly #socket: NetlinkSocket;
  readonly #logger: Logger;
  /** Ruleset generation after this object's last transaction; undefined if the table must be replaced. */
  #generation: number | undefined;
  /** Expected number of rules by chain. */
  readonly #rules = new Map<string, number>();
  /** Unused chains and sets still in the table, with the time they became unused. */
  readonly #unused = { chains: new Map<string, number>(), sets: new Map<string, number>() };

  constructor({ name, socket, logger }: OwnedTableOptions) {
    this.#name = name;
    this.#socket = socket;
    this.#logger = logger;
  }

  /** Applies the ledger's changes, or replaces the whole table if the table might not match the ledger. */
  async apply(ledger: RuleLedger, frame: () => NftChain[]): Promise<void> {
    if (this.#generation === undefined) return await this.#replace(ledger, frame());
    const change = ledger.takeChange();
    if (isEmptyChange(change)) return;
    try {
      await this.#change(change);
    } catch (error) {
      this.#logger.info(
        { table: this.#name, error: errorMessage(error) },
        'cannot change the rules of a table in place: replacing all of them',
      );
      await this.#replace(ledger, frame());
    }
  }

  /** Makes the next `apply` replace the table. */
  invalidate(): void {
    this.#generation = undefined;
  }

  /**
   * Makes the next `apply` replace the table if another program has changed it, so that rules or elements are missing or were added. Reads
   * the table only if the ruleset has changed since this object's last transaction. Returns whether the table was changed.
   */
  async invalidateIfChanged(ledger: RuleLedger): Promise<boolean> {
    if (this.#generation === undefined) return false; // it is going to be replaced
    const generation = await rulesetGeneration(this.#socket);
    if (generation === this.#generation) return false;
    const isIntact = (await this.#hasRules()) && (await this.#hasElements(ledger.published()));
    this.#generation = isIntact ? generation : undefined;
    return !isIntact;
  }

  /** Removes the table and everything in it. */
  async remove(): Promise<void> {
    this.#generation = undefined;
    await this.#socket.request(removeTable(this.#name));
  }

  async #replace(ledger: RuleLedger, frame: NftChain[]): Promise<void> {
    this.#generation = undefined;
    const { chains, sets } = ledger.takeAll();
    const all = [...chains, ...frame];
    const generation = await rulesetGeneration(this.#socket);
    await this.#socket.request(replaceTable({ name: this.#name, sets: await this.#withClients(sets), chains: all }));
    this.#rules.clear();
    this.#expect(all);
    for (const unused of Object.values(this.#unused)) unused.clear();
    this.#generation = generation + 1;
  }

  /** Applies a change in one transaction. The elements of an unused set are removed with the set. */
  async #change({ elements, chains, sets }: RuleChange): Promise<void> {
    const generation = this.#generation;
    this.#generation = undefined;
    const addChains = chains.add.filter(({ name }) => !this.#unused.chains.delete(name));
    const addSets = sets.add.filter(({ name }) => !this.#unused.sets.delete(name));
    const removeChains = longUnused(this.#unused.chains);
    const removeSets = longUnused(this.#unused.sets);
    await this.#socket.request(changeTable(this.#name, { elements, addChains, addSets, removeChains, removeSets }));
    this.#expect(addChains);
    for (const name of removeChains) this.#rules.delete(name);
    const now = performance.now();
    for (const name of removeChains) this.#unused.chains.delete(name);
    for (const name of removeSets) this.#unused.sets.delete(name);
    for (const name of chains.remove) this.#unused.chains.set(name, now);
    for (const name of sets.remove) this.#unused.sets.set(name, now);
    // If another program changes the ruleset concurrently, the recorded generation is lower than the kernel's, so the next check reads the
    // table instead of trusting it.
    this.#generation = generation === undefined ? undefined : generation + 1;
  }

  /**
   * Returns the sets, filled with the clients that the kernel has recorded for endpoints with session affinity, including those from before
   * a restart.
   */
  async #withClients(sets: NftSet[]): Promise<NftSet[]> {
    const filled: NftSet[] = [];
    for (const set of sets) {
      if (set.dynamicSize === undefined) filled.push(set);
      else {
        const clients = (await readElements(this.#socket, { table: this.#name, set: set.name })) ?? [];
        filled.push({ ...set, elements: clients.map(({ key, remainingMs }) => ({ key, timeoutMs: remainingMs })) });
      }
    }
    return filled;
  }

  #expect(chains: NftChain[]): void {
    for (const { name, rules } of chains) if (rules.length > 0) this.#rules.set(name, rules.length);
  }

  async #hasRules(): Promise<boolean> {
    const counts = await countRules(this.#socket, this.#name);
    return counts.size === this.#rules.size && [...this.#rules].every(([name, count]) => counts.get(name) === count);
  }

  async #hasElements(sets: NftSet[]): Promise<boolean> {
    for (const { name, elements, dynamicSize } of sets) {
      if (dynamicSize !== undefined) continue;
      const found = await readElements(this.#socket, { table: this.#name, set: name });
      // count distinct keys, because the kernel may list an element twice while a set grows
      const keys = new Set(found?.map(({ key }) => key.toString('latin1')));
      const hasAll = elements.every(({ key }) => keys.has(key.toString('latin1')));
      if (found === undefined || !hasAll || keys.size !== elements.length) return false;
    }
    return true;
  }
}

const longUnused = (unused: Map<string, number>): string[] => {
  const before = performance.now() - UNUSED_MS;
  return [...unused].filter(([, sinceMs]) => sinceMs <= before).map(([name]) => name);
};
