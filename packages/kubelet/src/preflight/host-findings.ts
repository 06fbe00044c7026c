import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isDeadlineExceeded, isErrno, raceAbort, withTimeout } from '@podwright/base';
import { appArmorProfile } from '../api/app-armor.ts';
import type { FieldPath } from '../api/issue.ts';
import { type ManifestObject, namespacedName, type Pod, type SecurityProfile } from '../api/types.ts';
import { type Finding, ObjectFindings } from '../config/finding.ts';
import { HOST_LOOK_TIMEOUT_MS } from '../limits.ts';
import { foreignPorts } from '../pod/foreign-ports.ts';
import { takenPort } from '../pod/host-ports.ts';
import { hostPathProblem } from '../volumes/host-path.ts';
import { type PreflightHost, preflight } from './preflight.ts';

/** The kernel's list of AppArmor profiles: `NAME (enforce)` a line. */
const LOADED_PROFILES = '/sys/kernel/security/apparmor/profiles';
const WAITS = 'the pod waits until it is';

/** All that is to be known of the objects of manifests before they are applied together, with what of the host their pods name. */
export async function allFindings(objects: readonly ManifestObject[], host: PreflightHost): Promise<Finding[]> {
  const pods = objects.filter((object) => object.kind === 'Pod');
  const ofHost = await Promise.all(pods.map((pod) => hostFindings(pod, host)));
  return [...preflight(objects, host), ...ofHost.flat()];
}

async function hostFindings(pod: Pod, host: PreflightHost): Promise<Finding[]> {
  const findings = new ObjectFindings(pod);
  await findHostPaths(pod, findings);
  await findProfiles(pod, { findings, host });
  await findPorts(pod, { findings, host });
  return findings.list;
}

/** Of a pod of this name that the node has the port is given back; of another one that has declared it the node's refusal tells. */
async function findPorts(
  pod: Pod,
  { findings, host }: { findings: ObjectFindings; host: PreflightHost },
): Promise<void> {
  const isNamesake = (other: Pod) => namespacedName(other) === namespacedName(pod);
  const pods = host.node?.pods ?? [];
  const others = pods.filter((other) => !isNamesake(other));
  const refused = takenPort(pod, others)?.wanted;
  const own = pods.filter(isNamesake).map(({ metadata }) => metadata.uid);
  for (const { path, message } of await foreignPorts(pod, own))
    if (!isDeepStrictEqual(path, refused?.path)) findings.problem(path, message);
}

async function findHostPaths({ spec }: Pod, findings: ObjectFindings): Promise<void> {
  for (const [index, { hostPath }] of (spec.volumes ?? []).entries()) {
    if (hostPath === undefined) continue;
    const path = ['spec', 'volumes', index, 'hostPath', 'path'];
    const problem = await looked(findings, { path, what: hostPath.path }, () => hostPathProblem(hostPath));
    if (problem !== undefined) findings.problem(path, `${problem}, as its type ${hostPath.type} says; ${WAITS}`);
  }
}

async function findProfiles(
  pod: Pod,
  { findings, host }: { findings: ObjectFindings; host: PreflightHost },
): Promise<void> {
  for (const { path, profile } of seccompProfiles(pod)) {
    const file = join(host.seccompRoot, profile);
    const isThere = () => access(file).then(() => true, missing);
    if ((await looked(findings, { path, what: file }, isThere)) === false)
      findings.problem(path, `the seccomp profile ${file} is not there; ${WAITS}`);
  }
  const asked = appArmorProfiles(pod);
  if (asked.length === 0 || host.facts.appArmor === false) return;
  const loaded = await looked(findings, { path: asked[0]!.path, what: LOADED_PROFILES }, () =>
    readFile(LOADED_PROFILES, 'utf8').catch((error: unknown) => missing(error) || ''),
  );
  if (loaded === undefined) return;
  for (const { path, profile } of asked)
    if (!loaded.split('\n').some((line) => line.startsWith(`${profile} (`)))
      findings.problem(path, `no AppArmor profile "${profile}" is loaded on this host; ${WAITS}`);
}

/** False for what is not there; throws other errors. */
function missing(error: unknown): false {
  if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return false;
  throw error;
}

/** What `look` finds; a note, and nothing, if this user may not look there, or a file system such as NFS does not answer. */
async function looked<T>(
  findings: ObjectFindings,
  { path, what }: { path: FieldPath; what: string },
  look: () => Promise<T>,
): Promise<T | undefined> {
  using signal = withTimeout(undefined, HOST_LOOK_TIMEOUT_MS, `look at ${what}`);
  try {
    return await raceAbort(look(), signal);
  } catch (error) {
    if (isErrno(error, 'EACCES') || isErrno(error, 'EPERM'))
      findings.note(path, `${what} may not be looked at by this user: whether it is there is not known`);
    else if (isDeadlineExceeded(error)) findings.note(path, `${what} cannot be looked at: its file system is too slow`);
    else throw error;
    return undefined;
  }
}

type NamedProfile = { path: FieldPath; profile: string };

function seccompProfiles({ spec }: Pod): NamedProfile[] {
  const of = (profile: SecurityProfile | undefined, path: FieldPath): NamedProfile[] =>
    profile?.type === 'Localhost' && profile.localhostProfile
      ? [
          {
            path: [...path, 'securityContext', 'seccompProfile', 'localhostProfile'],
            profile: profile.localhostProfile,
          },
        ]
      : [];
  const ofContainers = (['initContainers', 'containers'] as const).flatMap((field) =>
    (spec[field] ?? []).flatMap(({ securityContext }, index) =>
      of(securityContext?.seccompProfile, ['spec', field, index]),
    ),
  );
  return [...of(spec.securityContext?.seccompProfile, ['spec']), ...ofContainers];
}

/** As containers get them: by a field of theirs, by the annotation of old, or by the pod's field. */
function appArmorProfiles(pod: Pod): NamedProfile[] {
  const { spec } = pod;
  return (['initContainers', 'containers'] as const).flatMap((field) =>
    (spec[field] ?? []).flatMap((container, index) => {
      const profile = appArmorProfile(pod, container);
      if (profile?.type !== 'Localhost' || !profile.localhostProfile) return [];
      const own = container.securityContext?.appArmorProfile;
      const shared = spec.securityContext?.appArmorProfile;
      const at = own !== undefined ? ['spec', field, index] : shared !== undefined ? ['spec'] : undefined;
      const path = at && [...at, 'securityContext', 'appArmorProfile', 'localhostProfile'];
      return [{ path: path ?? ['metadata', 'annotations'], profile: profile.localhostProfile }];
    }),
  );
}
