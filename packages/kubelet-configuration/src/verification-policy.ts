import { parseImageReference, withoutTag } from '@podwright/kube-api';

/**
 * Determines which images already on the node require pods to have their own pull credentials (`imagePullCredentialsVerificationPolicy`).
 */
export type VerificationPolicy =
  | { kind: 'NeverVerify' | 'NeverVerifyPreloadedImages' | 'AlwaysVerify' }
  /** `allowlist`: image names without tag or digest, and patterns such as `registry/path/*`. */
  | { kind: 'NeverVerifyAllowlistedImages'; allowlist: readonly string[] };

/** Whether the pod's credentials must be verified for an image already on the node. Pure function. */
export function needsVerification(policy: VerificationPolicy, image: string, pulledByKubelet: boolean): boolean {
  switch (policy.kind) {
    case 'NeverVerify':
      return false;
    case 'NeverVerifyPreloadedImages':
      return pulledByKubelet;
    case 'NeverVerifyAllowlistedImages':
      return !policy.allowlist.some((pattern) => isAllowed(pattern, withoutTag(image)));
    case 'AlwaysVerify':
      return true;
  }
}

function isAllowed(pattern: string, name: string): boolean {
  return pattern.endsWith('/*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** Returns what is wrong with an allowlist entry, or `undefined` if the entry is valid. */
export function allowlistProblem(pattern: string): string | undefined {
  if (pattern !== pattern.trim()) return 'must not begin or end with a space';
  const name = pattern.replace(/\/\*$/, '');
  if (name === '') return 'must at least name a registry';
  if (name.includes('*')) return 'may have a * only at its end, as in registry.test/team/*';
  if (name !== pattern) return undefined;
  if (parseImageReference(name) === undefined) return 'must be the name of an image';
  return withoutTag(name) === name ? undefined : 'must have neither tag nor digest';
}
