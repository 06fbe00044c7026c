import type { EphemeralContainer } from '@podwright/kube-api';

type SecurityContext = EphemeralContainer['securityContext'];

/** The profiles supported by `kubectl debug --profile`. */
export const DEBUG_PROFILES = ['general', 'baseline', 'restricted', 'netadmin', 'sysadmin'] as const;
export type DebugProfile = (typeof DEBUG_PROFILES)[number];

const CONTEXTS: Record<DebugProfile, SecurityContext> = {
  general: { capabilities: { add: ['SYS_PTRACE'] } },
  baseline: undefined,
  restricted: {
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
  netadmin: { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
  sysadmin: { privileged: true },
};

/** Returns the security context of a profile, or `undefined` for the container runtime's defaults. */
export function profileContext(profile: DebugProfile): SecurityContext {
  return CONTEXTS[profile];
}
