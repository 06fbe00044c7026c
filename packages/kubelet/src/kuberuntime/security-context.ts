import {
  CapabilitySchema,
  type SecurityProfile as CriSecurityProfile,
  create,
  Int64ValueSchema,
  type LinuxContainerSecurityContext,
  LinuxContainerSecurityContextSchema,
  type NamespaceOption,
  SELinuxOptionSchema,
  SecurityProfile_ProfileType,
  SecurityProfileSchema,
  SupplementalGroupsPolicy,
} from '@podwright/cri';
import {
  appArmorProfile,
  type Container,
  type Pod,
  type PodSecurityContext,
  type SecurityContext,
  type SecurityProfile,
} from '@podwright/kube-api';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';

/** Paths in /proc and /sys that are masked in unprivileged containers, the same as in upstream and Docker. */
const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** The user specified by an image: a UID, a name, or neither. */
export type ImageUser = { uid: bigint | undefined; username: string };

export type SecurityInput = {
  pod: Pod;
  container: Container;
  imageUser: ImageUser;
  namespaces: NamespaceOption;
  /** Host-specific paths to mask in addition to `MASKED_PATHS`. */
  throttleDirectories: string[];
  /** Whether containers without a seccomp profile get RuntimeDefault instead of Unconfined. */
  seccompDefault: boolean;
  /**
   * Whether containers get NET_RAW unless they drop it, which is the container runtime's default. If false, only containers that add
   * NET_RAW get it.
   */
  netRawDefault: boolean;
  /** Directory with the Localhost seccomp profiles. */
  seccompRoot: string;
};

/** Returns the container's security context. Unset fields default to the pod's security context. */
export function containerSecurityContext(input: SecurityInput): LinuxContainerSecurityContext {
  const { pod, container, imageUser } = input;
  const own: SecurityContext = container.securityContext ?? {};
  const shared: PodSecurityContext = pod.spec.securityContext ?? {};
  const uid = own.runAsUser ?? shared.runAsUser;
  const gid = own.runAsGroup ?? shared.runAsGroup;
  const unmasked = own.procMount === 'Unmasked';
  return create(LinuxContainerSecurityContextSchema, {
    privileged: own.privileged === true,
    namespaceOptions: input.namespaces,
    capabilities: capabilities(own, input.netRawDefault),
    selinuxOptions: selinux(own.seLinuxOptions ?? shared.seLinuxOptions),
    ...runAs(uid, imageUser),
    runAsGroup: gid === undefined ? undefined : int64(BigInt(gid)),
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    noNewPrivs: own.allowPrivilegeEscalation === false,
    supplementalGroups: supplementalGroups(shared),
    supplementalGroupsPolicy: groupsPolicy(shared),
    seccomp: seccomp(own.seccompProfile ?? shared.seccompProfile, input),
    ...appArmor(appArmorProfile(pod, container)),
    maskedPaths: unmasked ? [] : [...MASKED_PATHS, ...input.throttleDirectories],
    readonlyPaths: unmasked ? [] : READONLY_PATHS,
  });
}

function runAs(uid: number | undefined, image: ImageUser) {
  if (uid !== undefined) return { runAsUser: int64(BigInt(uid)) };
  if (image.uid === undefined && image.username !== '') return { runAsUsername: image.username };
  return { runAsUser: int64(image.uid ?? 0n) };
}

function int64(value: bigint) {
  return create(Int64ValueSchema, { value });
}

function capabilities({ capabilities: given, privileged }: SecurityContext, netRawDefault: boolean) {
  const { add = [], drop = [] } = given ?? {};
  const isDropped = !netRawDefault && privileged !== true && !add.some((name) => /^(ALL|(CAP_)?NET_RAW)$/i.test(name));
  if (given === undefined && !isDropped) return undefined;
  const dropped = isDropped ? [...drop, 'NET_RAW'] : drop;
  return create(CapabilitySchema, { addCapabilities: add, dropCapabilities: dropped });
}

export function selinux(options: SecurityContext['seLinuxOptions']) {
  if (options === undefined) return undefined;
  const { user = '', role = '', type = '', level = '' } = options;
  return create(SELinuxOptionSchema, { user, role, type, level });
}

/** Returns the pod's supplemental groups: its fsGroup, which owns its volumes, and the additional groups in its spec. */
export function supplementalGroups(shared: PodSecurityContext): bigint[] {
  const groups = shared.fsGroup === undefined ? [] : [shared.fsGroup];
  return [...new Set([...groups, ...(shared.supplementalGroups ?? [])])].map(BigInt);
}

export function groupsPolicy(shared: PodSecurityContext): SupplementalGroupsPolicy {
  return shared.supplementalGroupsPolicy === 'Strict'
    ? SupplementalGroupsPolicy.Strict
    : SupplementalGroupsPolicy.Merge;
}

function seccomp(profile: SecurityProfile | undefined, input: SecurityInput): CriSecurityProfile {
  const type = profile?.type ?? (input.seccompDefault ? 'RuntimeDefault' : 'Unconfined');
  const localhostRef = type === 'Localhost' ? `${input.seccompRoot}/${profile!.localhostProfile!}` : '';
  return create(SecurityProfileSchema, { profileType: SecurityProfile_ProfileType[type], localhostRef });
}

/** AppArmor profile names for container runtimes that predate CRI 1.24, in the old annotation format. */
const APPARMOR_NAMES = { RuntimeDefault: 'runtime/default', Unconfined: 'unconfined' };

function appArmor(profile: SecurityProfile | undefined) {
  if (profile === undefined) return {};
  const { type, localhostProfile: localhostRef = '' } = profile;
  return {
    apparmor: create(SecurityProfileSchema, { profileType: SecurityProfile_ProfileType[type], localhostRef }),
    apparmorProfile: type === 'Localhost' ? `localhost/${localhostRef}` : APPARMOR_NAMES[type],
  };
}

const MAX_USER_ID = 2n ** 31n - 1n;

function invalidUser(uid: bigint): string {
  const why = `must be between 0 and ${MAX_USER_ID}, inclusive`;
  return `container has runAsNonRoot and image has an invalid user id (${uid}). (Must be 1-(${MAX_USER_ID})): ${why}`;
}

/** Returns a waiting reason if the container's user violates `runAsNonRoot`, so that it must not run; otherwise `undefined`. */
export function nonRootViolation(pod: Pod, container: Container, image: ImageUser): WaitingReason | undefined {
  const own = container.securityContext;
  const shared = pod.spec.securityContext;
  if ((own?.runAsNonRoot ?? shared?.runAsNonRoot) !== true) return undefined;
  const where = `pod: "${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})", container: ${container.name}`;
  const refuse = (why: string) => ({ reason: 'CreateContainerConfigError', message: `${why} (${where})` });
  const uid = own?.runAsUser ?? shared?.runAsUser;
  if (uid !== undefined) {
    return uid === 0 ? refuse("container's runAsUser breaks non-root policy") : undefined;
  }
  if (image.uid !== undefined) {
    if (image.uid === 0n) return refuse('container has runAsNonRoot and image will run as root');
    return image.uid > 0n && image.uid <= MAX_USER_ID ? undefined : refuse(invalidUser(image.uid));
  }
  if (image.username === '') return refuse('container has runAsNonRoot and image will run as root');
  return refuse(
    `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root`,
  );
}
