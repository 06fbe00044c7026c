import { createHash } from 'node:crypto';
import type { NftChain, NftElement, NftSet } from '@podwright/system';

/**
 * The chains, sets and elements that one owner contributes to an nf_tables table. The sets are listed without elements; all elements are in
 * `elements`.
 */
export type TableRules = {
  elements: RuleElement[];
  chains: NftChain[];
  sets: NftSet[];
};

/**
 * An element of one of the table's sets or maps. If `yields` is set, an equal element of a different owner takes precedence, unless it
 * yields as well.
 */
export type RuleElement = NftElement & { set: string; yields?: boolean };

/**
 * Names a chain or set after its contents, so that equal ones are shared and changed ones get a different name: a chain is never edited,
 * and a connection sees either the old or the new one.
 */
export const contentName = (prefix: string, ...content: unknown[]): string =>
  `${prefix}-${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 24)}`;
