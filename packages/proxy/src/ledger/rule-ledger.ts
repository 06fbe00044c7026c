import type { NftChain, NftElement, NftElementChange, NftSet } from '@podwright/system';
import { SharedParts } from './shared-parts.ts';
import type { RuleElement, TableRules } from './table-rules.ts';

/**
 * An owner of rules, such as a Service. If several owners claim the same element, the one with the lowest rank wins, unless its element
 * `yields`.
 */
export type RuleOwner = { key: string; rank: string };

/** A change to the table's contents. */
export type RuleChange = {
  elements: NftElementChange[];
  chains: { add: NftChain[]; remove: string[] };
  sets: { add: NftSet[]; remove: string[] };
};

/** A claim to an element. `value` is the same for equal elements. */
type Claim = { owner: RuleOwner; element: RuleElement; value: string };
/** All claims to an element, and the one in effect as of the last `takeChange`. */
type Slot = { claims: Claim[]; published: Claim | undefined };

/**
 * The desired contents of an nf_tables table, by owner. Several owners may need the same element, chain or set. Only the rules of replaced
 * owners are compared, so the cost of a change does not depend on the total number of owners.
 */
export class RuleLedger {
  readonly #fixedSets: readonly NftSet[];
  readonly #claims = new Map<string, Map<string, Claim>>();
  readonly #slots = new Map<string, Slot>();
  readonly #touched = new Set<string>();
  readonly #chains = new SharedParts<NftChain>();
  readonly #sets = new SharedParts<NftSet>();

  /** `fixedSets`: sets and maps that are always in the table, even if no owner needs them; their elements belong to owners. */
  constructor(fixedSets: readonly NftSet[]) {
    this.#fixedSets = fixedSets;
  }

  /** Replaces an owner's rules; `undefined` removes them. */
  replace(owner: RuleOwner, rules: TableRules | undefined): void {
    const before = this.#claims.get(owner.key) ?? new Map<string, Claim>();
    const claims = claimsOf(owner, rules?.elements ?? []);
    for (const [id, claim] of before) {
      if (isSame(claim, claims.get(id))) claims.set(id, claim);
      else this.#withdraw(id, claim);
    }
    for (const [id, claim] of claims) if (claim !== before.get(id)) this.#claim(id, claim);
    if (claims.size === 0) this.#claims.delete(owner.key);
    else this.#claims.set(owner.key, claims);
    this.#chains.replace(owner.key, rules?.chains ?? []);
    this.#sets.replace(owner.key, rules?.sets ?? []);
  }

  /** Returns what has changed in the table since the last call to `takeChange` or `takeAll`. */
  takeChange(): RuleChange {
    return { elements: this.#changedElements(), chains: this.#chains.takeChange(), sets: this.#sets.takeChange() };
  }

  /** Returns the complete contents of the table, for replacing it. */
  takeAll(): { chains: NftChain[]; sets: NftSet[] } {
    this.takeChange();
    return { chains: this.#chains.published(), sets: this.published() };
  }

  /** Returns the sets with their elements as of the last `takeChange`. */
  published(): NftSet[] {
    const all = [...this.#fixedSets, ...this.#sets.published()];
    const sets = new Map(all.map((set) => [set.name, { ...set, elements: [] as NftElement[] }]));
    for (const { published } of this.#slots.values())
      if (published !== undefined) sets.get(published.element.set)!.elements.push(published.element);
    return [...sets.values()];
  }

  #claim(id: string, claim: Claim): void {
    const slot = this.#slots.get(id) ?? { claims: [], published: undefined };
    slot.claims.push(claim);
    this.#slots.set(id, slot);
    this.#touched.add(id);
  }

  #withdraw(id: string, claim: Claim): void {
    const { claims } = this.#slots.get(id)!;
    claims.splice(claims.indexOf(claim), 1);
    this.#touched.add(id);
  }

  #changedElements(): NftElementChange[] {
    const changes = new Map<string, { set: string; add: NftElement[]; remove: NftElement[] }>();
    for (const id of this.#touched) {
      const slot = this.#slots.get(id)!;
      const { published } = slot;
      const now = slot.claims.toSorted(comparePriority)[0];
      slot.published = now;
      if (now === undefined) this.#slots.delete(id);
      if (published?.value === now?.value) continue;
      const { set } = (published ?? now)!.element;
      const change = changes.get(set) ?? { set, add: [], remove: [] };
      if (published !== undefined) change.remove.push(published.element);
      if (now !== undefined) change.add.push(now.element);
      changes.set(set, change);
    }
    this.#touched.clear();
    return [...changes.values()];
  }
}

/** Whether a change is empty. */
export const isEmptyChange = ({ elements, chains, sets }: RuleChange): boolean =>
  [elements, chains.add, chains.remove, sets.add, sets.remove].every((list) => list.length === 0);

function claimsOf(owner: RuleOwner, elements: RuleElement[]): Map<string, Claim> {
  return new Map(
    elements.map((element) => {
      const { set, key, data, comment = '' } = element;
      const value = Buffer.isBuffer(data) ? data.toString('latin1') : JSON.stringify(data ?? '');
      return [`${set} ${key.toString('latin1')}`, { owner, element, value: `${value} ${comment}` }];
    }),
  );
}

const isSame = (claim: Claim, other: Claim | undefined): boolean =>
  claim.value === other?.value && comparePriority(claim, other) === 0;

const comparePriority = (a: Claim, b: Claim): number =>
  Number(a.element.yields ?? false) - Number(b.element.yields ?? false) || compareText(a.owner.rank, b.owner.rank);

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
