import type { AuthorizationAttributes, PolicyRule } from './authorizer.ts';

const ALL = '*';

/** Whether a rule allows a request. */
export function ruleAllows(rule: PolicyRule, attributes: AuthorizationAttributes): boolean {
  if (!matches(rule.verbs, attributes.verb)) return false;
  return attributes.isResourceRequest ? allowsResource(rule, attributes) : allowsPath(rule, attributes.path);
}

function allowsResource(rule: PolicyRule, { apiGroup, resource, subresource, name }: AuthorizationAttributes): boolean {
  if (!matches(rule.apiGroups, apiGroup)) return false;
  const isAllowed =
    subresource === ''
      ? matches(rule.resources, resource)
      : matches(rule.resources, `${resource}/${subresource}`) || rule.resources?.includes(`*/${subresource}`);
  return isAllowed === true && (isEmpty(rule.resourceNames) || rule.resourceNames!.includes(name));
}

const allowsPath = ({ nonResourceURLs }: PolicyRule, path: string): boolean =>
  nonResourceURLs?.some((pattern) => urlCovers(pattern, path)) ?? false;

/**
 * Whether a URL pattern covers a path. The path may itself be a pattern ending with `*`, in which case all paths it matches must be
 * covered.
 */
export const urlCovers = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(withoutStars(pattern)));

function withoutStars(pattern: string): string {
  let end = pattern.length;
  while (pattern[end - 1] === ALL) end--;
  return pattern.slice(0, end);
}

const matches = (values: readonly string[] | null | undefined, value: string): boolean =>
  values?.some((one) => one === ALL || one === value) ?? false;

export const isEmpty = (values: readonly string[] | null | undefined): boolean => (values?.length ?? 0) === 0;
