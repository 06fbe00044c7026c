import { computeCapabilities } from './capabilities.ts';
import { ociMappings } from './id-mappings.ts';
import { defaultSeccompProfile } from './seccomp.ts';
import type { OciLinux, OciProcess, OciSeccomp, OciSpec } from './spec.ts';
import type { SpecInput, SpecNamespaces } from './spec-input.ts';
import { computeMounts, hasOwnCgroups, rootfsPropagation } from './spec-mounts.ts';
import { computeDeviceRules, computeOomScoreAdj, computeResources } from './spec-resources.ts';

/** Builds a container's OCI spec, equivalent to that of containerd's CRI plugin. Pure. Throws the errors of `computeCapabilities`. */
export function buildSpec(input: SpecInput): OciSpec {
  const { namespaces, rootfs, hostname, annotations } = input;
  return {
    ociVersion: '1.0.2',
    process: buildProcess(input),
    root: rootfs,
    // OCI runtimes reject a host name unless they create the UTS namespace.
    ...(namespaces.uts.kind === 'new' && hostname !== '' ? { hostname } : {}),
    mounts: computeMounts(input),
    annotations,
    linux: buildLinux(input),
  };
}

function buildProcess(input: SpecInput): OciProcess {
  const { security, resources, host } = input;
  return {
    terminal: input.terminal,
    user: input.user,
    args: input.args,
    env: input.env,
    cwd: input.cwd,
    capabilities: capabilitiesOf(input),
    rlimits: input.rlimits,
    noNewPrivileges: security.noNewPrivileges,
    ...(security.apparmorProfile === '' ? {} : { apparmorProfile: security.apparmorProfile }),
    ...(security.selinuxProcessLabel === '' ? {} : { selinuxLabel: security.selinuxProcessLabel }),
    oomScoreAdj: computeOomScoreAdj(resources, host),
  };
}

function buildLinux(input: SpecInput): OciLinux {
  const { security, namespaces, mounts, host } = input;
  const { privileged } = security;
  const propagation = rootfsPropagation(mounts);
  const seccomp = seccompOf(input);
  // mknod is not permitted in a user namespace, so `computeMounts` bind-mounts the devices in that case.
  const created = namespaces.user === undefined ? input.devices : [];
  const requested = created.map(({ access: _, hostPath: __, ...device }) => device);
  const devices = privileged ? [...input.hostDevices, ...requested] : requested;
  const rules = computeDeviceRules(privileged, input.devices);
  return {
    namespaces: namespaceList(namespaces, hasOwnCgroups(security, host)),
    ...(namespaces.user === undefined ? {} : ociMappings(namespaces.user.mappings)),
    ...(devices.length === 0 ? {} : { devices }),
    cgroupsPath: input.cgroupsPath,
    resources: { devices: rules, ...computeResources(input.resources, host) },
    ...(input.sysctls === undefined ? {} : { sysctl: input.sysctls }),
    ...(seccomp === undefined ? {} : { seccomp }),
    ...(propagation === undefined ? {} : { rootfsPropagation: propagation }),
    maskedPaths: privileged ? [] : security.maskedPaths,
    readonlyPaths: privileged ? [] : security.readonlyPaths,
    ...(security.selinuxMountLabel === '' ? {} : { mountLabel: security.selinuxMountLabel }),
  };
}

function seccompOf(input: SpecInput): OciSeccomp | undefined {
  const { privileged, seccomp } = input.security;
  if (privileged) return undefined;
  if (seccomp !== 'runtime-default') return seccomp;
  return defaultSeccompProfile(capabilitiesOf(input).bounding, input.host.architecture);
}

function capabilitiesOf({ security, host }: SpecInput) {
  return computeCapabilities({
    privileged: security.privileged,
    add: security.addCapabilities,
    drop: security.dropCapabilities,
    addAmbient: security.addAmbientCapabilities,
    available: host.capabilities,
  });
}

/** Returns the namespaces of the OCI spec. Host namespaces are omitted, because the container then inherits them from the OCI runtime. */
function namespaceList(namespaces: SpecNamespaces, ownCgroups: boolean): OciLinux['namespaces'] {
  const list: OciLinux['namespaces'] = [{ type: 'mount' }];
  for (const type of ['network', 'ipc', 'uts', 'pid'] as const) {
    const namespace = namespaces[type];
    if (namespace.kind === 'new') list.push({ type });
    if (namespace.kind === 'path') list.push({ type, path: namespace.path });
  }
  if (namespaces.user !== undefined) list.push({ type: 'user', path: namespaces.user.path });
  if (ownCgroups) list.push({ type: 'cgroup' });
  return list;
}
