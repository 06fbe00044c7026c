import { parseImageReference, withoutTag } from '@podwright/kube-api';

/** Which images that are there a pod may use only if it could pull them itself (`imagePullCredentialsVerificationPolicy`). */
export type VerificationPolicy =
  | { kind: 'NeverVerify' | 'NeverVerifyPreloadedImages' | 'AlwaysVerify' }
  /** Names without tag and digest, or `registry/path/*`. */
  | { kind: 'NeverVerifyAllowlistedImages'; allowlist: readonly string[] };

/** Whether a pod's credentials count for an image that is there. Pure. */
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

/** What is wrong with an entry of the allowlist; `undefined` if nothing is. */
export function allowlistProblem(pattern: string): string | undefined {
  if (pattern !== pattern.trim()) return 'must not begin or end with a space';
  const name = pattern.replace(/\/\*$/, '');
  if (name === '') return 'must name a registry at least';
  if (name.includes('*')) return 'may have a * at its end only, as in registry.test/team/*';
  if (name !== pattern) return undefined;
  if (parseImageReference(name) === undefined) return 'must be the name of an image';
  return withoutTag(name) === name ? undefined : 'must have neither tag nor digest';
}
