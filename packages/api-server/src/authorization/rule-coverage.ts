import type { PolicyRule } from './authorizer.ts';
import { isEmpty, urlCovers } from './rule-matching.ts';

/** A rule with one verb, for one resource or one URL. */
type SingleRule = PolicyRule;

/** The permissions that the owner's rules do not cover, as single rules. `isComplete` is false if the comparison was aborted. */
export type Coverage = { missing: SingleRule[]; isComplete: boolean };

export type CoverageBounds = {
  /** Maximum number of comparisons of a rule to be granted with one of the owner's rules. A rule with many values counts as several. */
  maxSteps: number;
  /** Maximum total length of the missing rules, in characters. */
  maxMissingCharacters: number;
};

/** Limits the work to about a second. Rules are lists of lists, so 1 MB can encode 10^18 single rules, too many to compare. */
const BOUNDS: CoverageBounds = { maxSteps: 5_000_000, maxMissingCharacters: 1 << 18 };

/**
 * Returns the permissions in `rules` not granted by the owner's rules. As in Kubernetes, each single rule must be covered by one of the
 * owner's rules. If `isComplete` is false, callers must reject the request.
 */
export function coverageOf(
  owner: readonly PolicyRule[],
  rules: readonly PolicyRule[],
  { maxSteps, maxMissingCharacters }: CoverageBounds = BOUNDS,
): Coverage {
  const owned = new OwnedRules(owner);
  const missing: SingleRule[] = [];
  let steps = 0;
  let characters = 0;
  for (const rule of rules) {
    steps += owned.stepsFor(rule);
    if (steps > maxSteps) return { missing, isComplete: false };
    if (owned.cover(rule)) continue;
    for (const single of singleRules(rule)) {
      steps += owned.stepsFor(single);
      if (steps > maxSteps) return { missing, isComplete: false };
      if (owned.cover(single)) continue;
      missing.push(single);
      characters += lengthOf(single);
      if (characters > maxMissingCharacters) return { missing, isComplete: false };
    }
  }
  return { missing, isComplete: true };
}

type Values = readonly string[] | null | undefined;

/** The owner's rules, with long lists converted to sets for fast lookup. */
class OwnedRules {
  readonly #rules: readonly PolicyRule[];
  readonly #sets = new Map<readonly string[], ReadonlySet<string>>();
  /**
   * Number of comparisons for a rule with one value per list: one for each of the owner's rules and one for each URL in them, because URLs
   * are compared one by one.
   */
  readonly #steps: number;

  constructor(rules: readonly PolicyRule[]) {
    this.#rules = rules;
    this.#steps = rules.reduce((sum, { nonResourceURLs }) => sum + 1 + (nonResourceURLs?.length ?? 0), 1);
  }

  stepsFor(rule: PolicyRule): number {
    const values = Object.values(rule).reduce((sum, list) => sum + (list?.length ?? 0), 0);
    return this.#steps * (1 + Math.floor(values / 8));
  }

  /** Whether any one of the owner's rules grants everything that `rule` grants. */
  cover(rule: PolicyRule): boolean {
    return this.#rules.some(
      (owned) =>
        this.#hasAllOrStar(owned.verbs, rule.verbs) &&
        this.#hasAllOrStar(owned.apiGroups, rule.apiGroups) &&
        this.#coversResources(owned.resources, rule.resources) &&
        this.#coversNames(owned.resourceNames, rule.resourceNames) &&
        (rule.nonResourceURLs ?? []).every((url) => owned.nonResourceURLs?.some((pattern) => urlCovers(pattern, url))),
    );
  }

  #hasAllOrStar(owned: Values, values: Values): boolean {
    return this.#has(owned, '*') || (values ?? []).every((value) => this.#has(owned, value));
  }

  #coversResources(owned: Values, resources: Values): boolean {
    const isCovered = (resource: string) => this.#has(owned, resource) || this.#has(owned, anyResourceWith(resource));
    return this.#has(owned, '*') || (resources ?? []).every(isCovered);
  }

  #coversNames(owned: Values, names: Values): boolean {
    return isEmpty(owned) || (!isEmpty(names) && names!.every((name) => this.#has(owned, name)));
  }

  #has(owned: Values, value: string): boolean {
    if (owned === null || owned === undefined) return false;
    if (owned.length < 32) return owned.includes(value);
    const set = this.#sets.get(owned) ?? new Set(owned);
    this.#sets.set(owned, set);
    return set.has(value);
  }
}

/**
 * Returns the wildcard that covers a resource, e.g. `*` followed by `/log` for `pods/log`. Resources without a subresource are returned
 * unchanged.
 */
function anyResourceWith(resource: string): string {
  const slash = resource.indexOf('/');
  return slash === -1 ? resource : `*${resource.slice(slash)}`;
}

/**
 * Splits a rule into single rules in the same order as Kubernetes. Each has one verb, and either one URL or one resource with at most one
 * resource name.
 */
function* singleRules({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule) {
  const names = isEmpty(resourceNames) ? [undefined] : resourceNames!;
  for (const group of apiGroups ?? [])
    for (const resource of resources ?? [])
      for (const verb of verbs ?? []) for (const name of names) yield singleRule({ group, resource, verb, name });
  for (const url of nonResourceURLs ?? [])
    for (const verb of verbs ?? []) yield { nonResourceURLs: [url], verbs: [verb] };
}

type SingleParts = { group: string; resource: string; verb: string; name: string | undefined };

const singleRule = ({ group, resource, verb, name }: SingleParts): SingleRule => ({
  apiGroups: [group],
  ...(name === undefined ? {} : { resourceNames: [name] }),
  resources: [resource],
  verbs: [verb],
});

/** Returns the total length of a rule's values, plus 20 characters for its field names. */
const lengthOf = (rule: SingleRule): number =>
  Object.values(rule).reduce((sum, values) => sum + (values?.[0]?.length ?? 0), 20);
