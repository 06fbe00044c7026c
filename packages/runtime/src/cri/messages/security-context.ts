import {
  absolutePath,
  idOf,
  invalid,
  type LinuxContainerSecurityContext,
  NamespaceMode,
  type NamespaceOption,
  plainText,
  type SELinuxOption,
  SupplementalGroupsPolicy,
  securityProfile,
} from '@podwright/cri';
import { checkSelinuxOptions, type SelinuxOptions } from '@podwright/oci';
import type { ContainerPidMode, ContainerSecurity } from '../../records/container-record.ts';
import { userNamespaceOf } from './user-namespace.ts';

/** Converts and validates a container's CRI security context. */
export function containerSecurity(security: LinuxContainerSecurityContext | undefined): ContainerSecurity {
  const userNamespace = userNamespaceOf(security?.namespaceOptions?.usernsOptions);
  const runAsUser = security?.runAsUser?.value;
  const runAsGroup = security?.runAsGroup?.value;
  const runAsUsername = plainText('runAsUsername', security?.runAsUsername ?? '');
  if (runAsGroup !== undefined && runAsUser === undefined && runAsUsername === '') {
    throw invalid('runAsGroup is set without runAsUser or runAsUsername');
  }
  return {
    privileged: security?.privileged ?? false,
    addCapabilities: security?.capabilities?.addCapabilities ?? [],
    dropCapabilities: security?.capabilities?.dropCapabilities ?? [],
    addAmbientCapabilities: security?.capabilities?.addAmbientCapabilities ?? [],
    pid: pidMode(security?.namespaceOptions),
    ...(userNamespace === undefined ? {} : { userNamespace }),
    ...(runAsUser === undefined ? {} : { runAsUser: idOf('runAsUser', runAsUser) }),
    runAsUsername,
    ...(runAsGroup === undefined ? {} : { runAsGroup: idOf('runAsGroup', runAsGroup) }),
    supplementalGroups: (security?.supplementalGroups ?? []).map((id) => idOf('supplementalGroups', id)),
    supplementalGroupsPolicy: groupsPolicy(security?.supplementalGroupsPolicy),
    readonlyRootfs: security?.readonlyRootfs ?? false,
    noNewPrivileges: security?.noNewPrivs ?? false,
    maskedPaths: (security?.maskedPaths ?? []).map((path) => absolutePath('maskedPaths', path)),
    readonlyPaths: (security?.readonlyPaths ?? []).map((path) => absolutePath('readonlyPaths', path)),
    seccomp: securityProfile('seccomp', security?.seccomp, security?.seccompProfilePath) ?? { type: 'unconfined' },
    apparmor: securityProfile('apparmor', security?.apparmor, security?.apparmorProfile),
    ...selinuxOf(security?.selinuxOptions),
  };
}

const POLICIES: Record<SupplementalGroupsPolicy, ContainerSecurity['supplementalGroupsPolicy']> = {
  [SupplementalGroupsPolicy.Merge]: 'merge',
  [SupplementalGroupsPolicy.Strict]: 'strict',
};

function groupsPolicy(policy: SupplementalGroupsPolicy = SupplementalGroupsPolicy.Merge) {
  const name = POLICIES[policy];
  if (name === undefined) throw invalid(`supplementalGroupsPolicy ${policy} is unknown`);
  return name;
}

function pidMode(options: NamespaceOption | undefined): ContainerPidMode {
  if (options === undefined) return { mode: 'pod' };
  switch (options.pid) {
    case NamespaceMode.POD:
      return { mode: 'pod' };
    case NamespaceMode.CONTAINER:
      return { mode: 'container' };
    case NamespaceMode.NODE:
      return { mode: 'node' };
    case NamespaceMode.TARGET:
      if (options.targetId === '') throw invalid('namespaceOptions.targetId is empty, and pid is TARGET');
      return { mode: 'target', containerId: options.targetId };
    default:
      throw invalid(`namespaceOptions.pid ${options.pid} is unknown`);
  }
}

/** Returns the requested parts of an SELinux label; `{}` if all of them are empty. */
export function selinuxOf(options: SELinuxOption | undefined): { selinux?: SelinuxOptions } {
  if (options === undefined) return {};
  const { user, role, type, level } = options;
  const selinux = { user, role, type, level };
  checkSelinuxOptions(selinux);
  return Object.values(selinux).every((part) => part === '') ? {} : { selinux };
}
