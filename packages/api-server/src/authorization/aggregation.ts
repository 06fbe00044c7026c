import type { PolicyRule } from './authorizer.ts';
import { labelsMatch } from './label-selector.ts';
import { isAggregated, type Role } from './rbac-objects.ts';

/** An aggregated ClusterRole and its newly computed rules. */
export type AggregatedRules = { name: string; rules: PolicyRule[] };

/**
 * Finds the aggregated ClusterRoles whose rules differ from those of the roles they select, and computes their new rules. Aggregated roles
 * may select other aggregated roles, so the rules are recomputed until they are stable; a single call is enough.
 */
export function planAggregation(roles: readonly Role[]): AggregatedRules[] {
  const sorted = [...roles].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const current = new Map(sorted.map((role) => [nameOf(role), keyedRules(role.rules ?? [])]));
  const selected = sorted.filter(isAggregated).flatMap((role) => {
    const names = selectedNames(role, sorted);
    return names === undefined ? [] : [{ name: nameOf(role), names }];
  });
  const changed = new Set<string>();
  // each round propagates a rule to at least one more role, and no rule has to pass through a role twice, so there are at most as many
  // rounds as roles
  for (let round = 0, isStable = false; !isStable && round <= selected.length; round++) {
    isStable = true;
    for (const { name, names } of selected) {
      const rules = new Map(names.flatMap((source) => [...current.get(source)!]));
      if (sameKeys(rules, current.get(name)!)) continue;
      current.set(name, rules);
      changed.add(name);
      isStable = false;
    }
  }
  return [...changed].sort().map((name) => ({ name, rules: [...current.get(name)!.values()] }));
}

/** Returns the names of the other roles selected by the role, or `undefined` if one of its selectors is invalid. */
function selectedNames(role: Role, roles: readonly Role[]): string[] | undefined {
  const selections = role.aggregationRule!.clusterRoleSelectors!.map((selector) => {
    const matches = labelsMatch(selector);
    return matches && roles.filter((other) => other !== role && matches(other.metadata.labels ?? {})).map(nameOf);
  });
  return selections.includes(undefined) ? undefined : [...new Set(selections.flatMap((names) => names ?? []))];
}

const nameOf = ({ metadata }: Role): string => metadata.name ?? '';

/** Deduplicates the rules, keyed by content and in their original order. */
const keyedRules = (rules: readonly PolicyRule[]): Map<string, PolicyRule> =>
  new Map(rules.map((rule) => [keyOfRule(rule), rule]));

const keyOfRule = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string =>
  JSON.stringify([verbs, apiGroups ?? [], resources ?? [], resourceNames ?? [], nonResourceURLs ?? []]);

const sameKeys = (a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean =>
  a.size === b.size && [...a.keys()].join('\n') === [...b.keys()].join('\n');
