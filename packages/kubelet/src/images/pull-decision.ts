import type { PullPolicy } from '../api/types.ts';

export type PullDecision = 'use' | 'pull' | 'refuse';

/** Whether the image must be pulled, may be used as it is, or may not be had at all. */
export function decidePull(policy: PullPolicy, present: boolean): PullDecision {
  if (policy === 'Never') return present ? 'use' : 'refuse';
  return policy === 'Always' || !present ? 'pull' : 'use';
}
