export type Capabilities = { add?: string[]; drop?: string[] };

export type SeLinuxOptions = { user?: string; role?: string; type?: string; level?: string };

/** `localhostProfile` is set only if the type is `Localhost`, where it is required. */
export type SecurityProfile = { type: 'RuntimeDefault' | 'Unconfined' | 'Localhost'; localhostProfile?: string };

/** Security context of one container. Its fields override the pod's. */
export type SecurityContext = {
  capabilities?: Capabilities;
  privileged?: boolean;
  seLinuxOptions?: SeLinuxOptions;
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  readOnlyRootFilesystem?: boolean;
  allowPrivilegeEscalation?: boolean;
  procMount?: 'Default' | 'Unmasked';
  seccompProfile?: SecurityProfile;
  appArmorProfile?: SecurityProfile;
};

export type Sysctl = { name: string; value: string };

/** Security context of the whole pod. Always present after defaulting, but may be empty. */
export type PodSecurityContext = {
  seLinuxOptions?: SeLinuxOptions;
  seLinuxChangePolicy?: 'MountOption' | 'Recursive';
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  supplementalGroups?: number[];
  supplementalGroupsPolicy?: 'Merge' | 'Strict';
  fsGroup?: number;
  fsGroupChangePolicy?: 'OnRootMismatch' | 'Always';
  sysctls?: Sysctl[];
  seccompProfile?: SecurityProfile;
  appArmorProfile?: SecurityProfile;
};
