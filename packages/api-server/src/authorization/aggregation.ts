import type { PolicyRule } from './authorizer.ts';
import { labelsMatch } from './label-selector.ts';
import { isAggregated, type Role } from './rbac-objects.ts';

/** The new rules of an aggregated ClusterRole. */
export type AggregatedRules = { name: string; rules: PolicyRule[] };

/**
 * Finds the aggregated ClusterRoles whose rules differ from those of the roles that they select, and computes their new rules. Roles may
 * select aggregated roles: rules are computed until they are stable, so one call is enough.
 */
export function planAggregation(roles: readonly Role[]): AggregatedRules[] {
  const sorted = [...roles].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const current = new Map(sorted.map((role) => [nameOf(role), keyedRules(role.rules ?? [])]));
  const selected = sorted.filter(isAggregated).flatMap((role) => {
    const names = selectedNames(role, sorted);
    return names === undefined ? [] : [{ name: nameOf(role), names }];
  });
  const changed = new Set<string>();
  // In each round, a rule reaches at least one more role, and no rule needs to pass through a role twice.
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

/** Names of the roles that a role selects, without the role itself; undefined if a selector is invalid. */
function selectedNames(role: Role, roles: readonly Role[]): string[] | undefined {
  const selections = role.aggregationRule!.clusterRoleSelectors!.map((selector) => {
    const matches = labelsMatch(selector);
    return matches && roles.filter((other) => other !== role && matches(other.metadata.labels ?? {})).map(nameOf);
  });
  return selections.includes(undefined) ? undefined : [...new Set(selections.flatMap((names) => names ?? []))];
}

const nameOf = ({ metadata }: Role): string => metadata.name ?? '';

/** Rules by their content, without duplicates, in their original order. */
const keyedRules = (rules: readonly PolicyRule[]): Map<string, PolicyRule> =>
  new Map(rules.map((rule) => [keyOfRule(rule), rule]));

const keyOfRule = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string =>
  JSON.stringify([verbs, apiGroups ?? [], resources ?? [], resourceNames ?? [], nonResourceURLs ?? []]);

const sameKeys = (a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean =>
  a.size === b.size && [...a.keys()].join('\n') === [...b.keys()].join('\n');
