import { isDeepStrictEqual } from 'node:util';
import type { PolicyRule } from '../authorizer.ts';
import type { LabelSelector, Role, RoleBinding, Subject } from '../rbac-objects.ts';
import { coverageOf } from '../rule-coverage.ts';
import { AUTO_UPDATE } from './bootstrap-policy.ts';

/** The operation that brings an existing object in line with the policy. `recreate` deletes the object and creates a new one. */
export type Reconciliation<T> = { operation: 'none' } | { operation: 'update' | 'recreate'; object: T };

/** Adds missing labels, annotations, rules and selectors to the existing role. Preserves additions by users. */
export function reconcileRole(existing: Role, expected: Role): Reconciliation<Role> {
  if (isProtected(existing)) return NOTHING;
  const { aggregationRule: _, ...role } = withExpectedMetadata(existing, expected);
  const missing = missingRules(existing, expected);
  const selectors = selectorsOf(existing, expected);
  return updated(existing, {
    ...role,
    ...(missing.length === 0 ? {} : { rules: [...(existing.rules ?? []), ...missing] }),
    ...(selectors === undefined ? {} : { aggregationRule: { clusterRoleSelectors: selectors } }),
  });
}

/** Adds missing subjects, labels and annotations. A binding that refers to a different role is recreated, because roleRef is immutable. */
export function reconcileBinding(existing: RoleBinding, expected: RoleBinding): Reconciliation<RoleBinding> {
  if (isProtected(existing)) return NOTHING;
  if (!isDeepStrictEqual({ ...existing.roleRef }, { ...expected.roleRef }))
    return { operation: 'recreate', object: expected };
  const subjects = existing.subjects ?? [];
  const missing = (expected.subjects ?? []).filter((subject) => !subjects.some((one) => isSameSubject(one, subject)));
  return updated(existing, {
    ...withExpectedMetadata(existing, expected),
    ...(missing.length === 0 ? {} : { subjects: [...subjects, ...missing] }),
  });
}

const NOTHING = { operation: 'none' } as const;

const isProtected = ({ metadata }: Role | RoleBinding): boolean => metadata.annotations?.[AUTO_UPDATE] === 'false';

const updated = <T>(existing: T, object: T): Reconciliation<T> =>
  isDeepStrictEqual(existing, object) ? NOTHING : { operation: 'update', object };

/** Adds the expected labels and annotations. Existing values take precedence. */
function withExpectedMetadata<T extends Role | RoleBinding>(existing: T, { metadata }: T): T {
  const labels = { ...metadata.labels, ...existing.metadata.labels };
  const annotations = { ...metadata.annotations, ...existing.metadata.annotations };
  return { ...existing, metadata: { ...existing.metadata, labels, annotations } };
}

/**
 * Returns the expected permissions not granted by the existing rules. If the existing role has too many rules for a full comparison, all
 * expected rules count as missing.
 */
function missingRules(existing: Role, expected: Role): readonly PolicyRule[] {
  const { missing, isComplete } = coverageOf(existing.rules ?? [], expected.rules ?? []);
  return isComplete ? missing : (expected.rules ?? []);
}

/** Returns the existing selectors plus the missing ones, or `undefined` if the expected role is not aggregated. */
function selectorsOf(existing: Role, expected: Role): LabelSelector[] | undefined {
  if (!expected.aggregationRule) return undefined;
  const present = existing.aggregationRule?.clusterRoleSelectors ?? [];
  const others = expected.aggregationRule.clusterRoleSelectors ?? [];
  return [...present, ...others.filter((selector) => !present.some((one) => isDeepStrictEqual(one, selector)))];
}

const isSameSubject = (a: Subject, b: Subject): boolean =>
  a.kind === b.kind &&
  a.name === b.name &&
  (a.namespace ?? '') === (b.namespace ?? '') &&
  (a.apiGroup ?? '') === (b.apiGroup ?? '');
