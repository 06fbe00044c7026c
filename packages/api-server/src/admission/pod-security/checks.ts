/** The checks of the `baseline` and `restricted` levels, by Kubernetes version. */
import { valueAt } from '@podwright/kube-kinds';
import { type CheckedPod, type CheckPod, isWindows, type Violation } from './check.ts';
import { hostNamespaces, hostPorts, hostProbes, privileged, procMount, windowsHostProcess } from './host-checks.ts';
import { baselineCapabilities, restrictedCapabilities, SYSCTLS, sysctls } from './kernel-checks.ts';
import type { LevelVersion } from './policy.ts';
import {
  appArmorProfile,
  baselineSeccomp,
  restrictedSeccomp,
  SELINUX_TYPES,
  seccompAnnotations,
  seLinuxOptions,
} from './profile-checks.ts';
import { allowPrivilegeEscalation, runAsNonRoot, runAsUser } from './user-checks.ts';
import { hostPathVolumes, restrictedVolumes } from './volume-checks.ts';

/** A check that applies from minor version `since` on. `overrides`: the baseline check it replaces. */
type VersionedCheck = { since: number; check: CheckPod; overrides?: string };

/** Returns a check that skips Windows pods, to which the checked setting does not apply. */
const unlessWindows =
  (check: CheckPod): CheckPod =>
  (pod) =>
    isWindows(pod) ? undefined : check(pod);

/** Returns a check that skips pods with a user namespace, because root in them is not root on the host. */
const unlessUserNamespace =
  (check: CheckPod): CheckPod =>
  (pod) =>
    valueAt(pod.spec, 'hostUsers') === false ? undefined : check(pod);

const always = (check: CheckPod): VersionedCheck[] => [{ since: 0, check }];
const byVersion = <T>(table: Readonly<Record<number, T>>, check: (value: T) => CheckPod): VersionedCheck[] =>
  Object.entries(table).map(([since, value]) => ({ since: Number(since), check: check(value) }));

/** The checks of the `baseline` level, in lexical order as in upstream's messages. */
const BASELINE: Readonly<Record<string, readonly VersionedCheck[]>> = {
  appArmorProfile: always(appArmorProfile),
  capabilities: always(baselineCapabilities),
  hostNamespaces: always(hostNamespaces),
  hostPathVolumes: always(hostPathVolumes),
  hostPorts: always(hostPorts),
  hostProbes: [{ since: 34, check: hostProbes }],
  privileged: always(privileged),
  procMount: [...always(procMount), { since: 35, check: unlessUserNamespace(procMount) }],
  seLinuxOptions: byVersion(SELINUX_TYPES, seLinuxOptions),
  seccompProfile: [...always(seccompAnnotations), { since: 19, check: baselineSeccomp }],
  sysctls: byVersion(SYSCTLS, sysctls),
  windowsHostProcess: always(windowsHostProcess),
};

const RESTRICTED: Readonly<Record<string, readonly VersionedCheck[]>> = {
  allowPrivilegeEscalation: [
    { since: 8, check: allowPrivilegeEscalation },
    { since: 25, check: unlessWindows(allowPrivilegeEscalation) },
  ],
  capabilities: [
    { since: 22, check: restrictedCapabilities, overrides: 'capabilities' },
    { since: 25, check: unlessWindows(restrictedCapabilities), overrides: 'capabilities' },
  ],
  procMount: [{ since: 35, check: procMount, overrides: 'procMount' }],
  restrictedVolumes: [{ since: 0, check: restrictedVolumes, overrides: 'hostPathVolumes' }],
  runAsNonRoot: [...always(runAsNonRoot), { since: 35, check: unlessUserNamespace(runAsNonRoot) }],
  runAsUser: [
    { since: 23, check: runAsUser },
    { since: 35, check: unlessUserNamespace(runAsUser) },
  ],
  seccompProfile: [
    { since: 19, check: restrictedSeccomp, overrides: 'seccompProfile' },
    { since: 25, check: unlessWindows(restrictedSeccomp), overrides: 'seccompProfile' },
  ],
};

/** Returns the pod's violations of a Pod Security level, in upstream's order. */
export function violationsOf({ level, version }: LevelVersion, pod: CheckedPod): Violation[] {
  if (level === 'privileged') return [];
  const inForce = (checks: readonly VersionedCheck[]) => checks.findLast(({ since }) => since <= version);
  const restricted = level === 'baseline' ? [] : Object.values(RESTRICTED).flatMap((checks) => inForce(checks) ?? []);
  const overridden = restricted.map(({ overrides }) => overrides);
  const baseline = Object.entries(BASELINE)
    .filter(([name]) => !overridden.includes(name))
    .flatMap(([, checks]) => inForce(checks) ?? []);
  return [...baseline, ...restricted].flatMap(({ check }) => check(pod) ?? []);
}

/** Formats the violations and their details on one line. */
export const describeViolations = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
