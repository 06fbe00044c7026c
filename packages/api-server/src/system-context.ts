import type { RequestContext } from '@podwright/api-machinery';
import { MASTERS, type UserInfo } from '@podwright/kube-kinds';
import { AUTHENTICATED } from './authorization/known-users.ts';

const SYSTEM: UserInfo = { username: 'system:apiserver', groups: [MASTERS, AUTHENTICATED] };

/** Returns the context for writes by the server itself. */
export const systemContext = (
  nowMs: number,
  { manager = 'kube-apiserver', subresource }: { manager?: string; subresource?: string } = {},
): RequestContext => ({
  user: SYSTEM,
  nowMs,
  dryRun: false,
  fieldManager: manager,
  warn: () => undefined,
  ...(subresource === undefined ? {} : { subresource }),
});
