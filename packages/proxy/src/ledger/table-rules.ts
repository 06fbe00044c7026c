import { createHash } from 'node:crypto';
import type { NftChain, NftElement, NftSet } from '@podwright/system';

/** A part of a table. Sets have no elements; the elements of all sets are in `elements`. */
export type TableRules = {
  elements: RuleElement[];
  chains: NftChain[];
  sets: NftSet[];
};

/** An element of one of the table's sets or maps. One that `yields` does not take the place of an equal one of another owner that does not. */
export type RuleElement = NftElement & { set: string; yields?: boolean };

/**
 * Names a chain or set by its contents, so that equal ones are shared, and changed ones have another name: a chain is never edited, and a
 * connection sees either the old or the new one.
 */
export const contentName = (prefix: string, ...content: unknown[]): string =>
  `${prefix}-${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 24)}`;
