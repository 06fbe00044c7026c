import { goQuote } from '@podwright/kube-api';
import type { UserInfo } from '@podwright/kube-kinds';
import type { PolicyRule } from './authorizer.ts';
import { aggregated, quotedList } from './go-text.ts';
import type { Coverage } from './rule-coverage.ts';

/** Explains why a user may not grant the rules, worded as in Kubernetes. `errors`: from resolving the user's own rules. */
export function escalationMessage(
  { username, groups }: UserInfo,
  coverage: Coverage,
  errors: readonly string[],
): string {
  const who = `user ${goQuote(username)} (groups=${quotedList(groups)})`;
  const more = coverage.isComplete ? '' : '\n… and more, or too many to compare';
  const missing = describedRules(coverage.missing).join('\n');
  const resolution = errors.length === 0 ? '' : `; resolution errors: [${aggregated(errors)}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${missing}${more}${resolution}`;
}

/** Describes the rules in alphabetical order, without duplicates. Verbs on the same resource are merged into one rule. */
function describedRules(rules: readonly PolicyRule[]): string[] {
  const urls = rules.filter(({ nonResourceURLs }) => nonResourceURLs);
  const byResource = new Map<string, PolicyRule>();
  for (const rule of rules.filter(({ nonResourceURLs }) => !nonResourceURLs)) {
    const { verbs, ...object } = rule;
    const key = JSON.stringify([object.apiGroups, object.resources, object.resourceNames]);
    const same = byResource.get(key);
    if (same === undefined) byResource.set(key, { ...object, verbs: [...verbs] });
    else same.verbs.push(...verbs);
  }
  return [...new Set([...byResource.values(), ...urls].map(described))].sort();
}

function described({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const fields = {
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  };
  const parts = Object.entries(fields).flatMap(([name, values]) =>
    values?.length ? `${name}:${quotedList(values)}` : [],
  );
  return `{${parts.join(', ')}}`;
}
