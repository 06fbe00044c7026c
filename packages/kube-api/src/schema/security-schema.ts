import type {
  Capabilities,
  PodSecurityContext,
  SecurityContext,
  SecurityProfile,
  SeLinuxOptions,
  Sysctl,
} from '../objects/types.ts';
import { boolean, int64, list, object, oneOf, string } from './decoder.ts';

const seLinuxOptions = object<SeLinuxOptions>({ user: string, role: string, type: string, level: string });

const profile = object<SecurityProfile>(
  { type: oneOf('RuntimeDefault', 'Unconfined', 'Localhost'), localhostProfile: string },
  { required: ['type'] },
);

const windows = { windowsOptions: 'is for Windows nodes; this node runs Linux' };

export const securityContext = object<SecurityContext>(
  {
    capabilities: object<Capabilities>({ add: list(string), drop: list(string) }),
    privileged: boolean,
    seLinuxOptions,
    runAsUser: int64,
    runAsGroup: int64,
    runAsNonRoot: boolean,
    readOnlyRootFilesystem: boolean,
    allowPrivilegeEscalation: boolean,
    procMount: oneOf('Default', 'Unmasked'),
    seccompProfile: profile,
    appArmorProfile: profile,
  },
  { serverOnly: windows },
);

export const podSecurityContext = object<PodSecurityContext>(
  {
    seLinuxOptions,
    seLinuxChangePolicy: oneOf('MountOption', 'Recursive'),
    runAsUser: int64,
    runAsGroup: int64,
    runAsNonRoot: boolean,
    supplementalGroups: list(int64),
    supplementalGroupsPolicy: oneOf('Merge', 'Strict'),
    fsGroup: int64,
    fsGroupChangePolicy: oneOf('OnRootMismatch', 'Always'),
    sysctls: list(object<Sysctl>({ name: string, value: string }, { required: ['name', 'value'] })),
    seccompProfile: profile,
    appArmorProfile: profile,
  },
  { serverOnly: windows },
);
