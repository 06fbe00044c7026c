/** Maximum number of rules for a pod in one direction. `MAX_RULES` limits the rules and elements of all policies together. */
export const MAX_POD_RULES = 5000;
export const MAX_RULES = 20_000;
/** Number of set elements that count as one rule, because they need less memory and time. */
export const ELEMENTS_AS_RULE = 4;
/**
 * Maximum number of expressions in a rule: NFT_RULE_MAXEXPRS (linux/netfilter/nf_tables.h). The kernel rejects the entire transaction if it
 * contains a larger rule.
 */
export const MAX_EXPRESSIONS = 128;

/** A group of pods in a namespace that share rules. `size`: upper bound for the rules and elements it needs. */
export type SizedGroup = { namespace: string; size: number };

/**
 * Returns the groups to refuse so that the rest needs at most `MAX_RULES`. Repeatedly picks the largest group of the namespace that needs
 * the most.
 */
export function refusedGroups<T extends SizedGroup>(groups: Iterable<T>): Set<T> {
  const refused = new Set<T>();
  const namespaces = new Map<string, { sum: number; groups: T[] }>();
  let total = 0;
  for (const group of groups) {
    const one = namespaces.get(group.namespace) ?? { sum: 0, groups: [] };
    one.sum += group.size;
    one.groups.push(group);
    namespaces.set(group.namespace, one);
    total += group.size;
  }
  if (total <= MAX_RULES) return refused;
  for (const { groups } of namespaces.values()) groups.sort((a, b) => a.size - b.size);
  while (total > MAX_RULES) {
    const most = [...namespaces.values()].reduce((a, b) => (b.sum > a.sum ? b : a));
    const group = most.groups.pop()!;
    refused.add(group);
    most.sum -= group.size;
    total -= group.size;
  }
  return refused;
}
