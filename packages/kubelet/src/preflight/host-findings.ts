import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, isDeadlineExceeded, isErrno, raceAbort, withTimeout } from '@podwright/base';
import {
  appArmorProfile,
  type FieldPath,
  type Finding,
  type ManifestObject,
  namespacedName,
  ObjectFindings,
  type Pod,
  type SecurityProfile,
  takenPort,
} from '@podwright/kube-api';
import { hostPathProblem } from '@podwright/volumes';
import { foreignPorts } from '../pod/foreign-ports.ts';
import { type PreflightHost, preflight } from './preflight.ts';

/** Timeout for all host path checks together. An NFS server, for example, may not respond. */
export const HOST_CHECK_TIMEOUT_MS = 2000;

/** The kernel's list of loaded AppArmor profiles, one `NAME (enforce)` line per profile. */
const LOADED_PROFILES = '/sys/kernel/security/apparmor/profiles';
const WAITS = 'the pod waits until it is';

/**
 * Checks manifest objects together, including their pods' host paths, security profiles and host ports. A path that cannot be checked is
 * also reported as a finding. All path checks together time out after `HOST_CHECK_TIMEOUT_MS`.
 */
export async function allFindings(objects: readonly ManifestObject[], host: PreflightHost): Promise<Finding[]> {
  const pods = objects.filter((object) => object.kind === 'Pod');
  using signal = withTimeout(undefined, HOST_CHECK_TIMEOUT_MS, 'check the host');
  const ofHost = await Promise.all(pods.map((pod) => hostFindings(pod, host, signal)));
  return [...preflight(objects, host), ...ofHost.flat()];
}

async function hostFindings(pod: Pod, host: PreflightHost, signal: AbortSignal): Promise<Finding[]> {
  const findings = new ObjectFindings(pod);
  const looks = [findHostPaths(pod, signal), findProfiles(pod, { host, signal }), findPorts(pod, host)];
  for (const { severity, path, message } of (await Promise.all(looks)).flat()) findings[severity](path, message);
  return findings.list;
}

type Found = Pick<Finding, 'severity' | 'path' | 'message'>;

const problem = (path: FieldPath, message: string): Found => ({ severity: 'problem', path, message });

/**
 * Finds host ports that are in use. Skips ports held by the pod being replaced, which will become free, and ports that another pod
 * declares, which are already reported as a rejection by the node.
 */
async function findPorts(pod: Pod, host: PreflightHost): Promise<Found[]> {
  const isNamesake = (other: Pod) => namespacedName(other) === namespacedName(pod);
  const pods = host.node?.pods ?? [];
  const others = pods.filter((other) => !isNamesake(other));
  const refused = takenPort(pod, others)?.wanted;
  const own = pods.filter(isNamesake).map(({ metadata }) => metadata.uid);
  const foreign = await foreignPorts(pod, own);
  return foreign.flatMap(({ path, message }) =>
    isDeepStrictEqual(path, refused?.path) ? [] : [problem(path, message)],
  );
}

async function findHostPaths({ spec }: Pod, signal: AbortSignal): Promise<Found[]> {
  const looks = (spec.volumes ?? []).map(async ({ hostPath }, index): Promise<Found[]> => {
    if (hostPath === undefined) return [];
    const path = ['spec', 'volumes', index, 'hostPath', 'path'];
    const look = async () => {
      const why = await hostPathProblem(hostPath);
      return why === undefined ? [] : [problem(path, `${why}, as its type ${hostPath.type} says; ${WAITS}`)];
    };
    return await looked(look, { path, what: hostPath.path, signal });
  });
  return (await Promise.all(looks)).flat();
}

type Looking = { host: PreflightHost; signal: AbortSignal };

async function findProfiles(pod: Pod, { host, signal }: Looking): Promise<Found[]> {
  const looks = seccompProfiles(pod).map(({ path, profile }) => {
    const file = join(host.seccompRoot, profile);
    const look = () =>
      access(file).then(
        () => [],
        ifMissing([problem(path, `the seccomp profile ${file} does not exist; the pod waits until it does`)]),
      );
    return looked(look, { path, what: file, signal });
  });
  return (await Promise.all([...looks, findAppArmor(pod, { host, signal })])).flat();
}

async function findAppArmor(pod: Pod, { host, signal }: Looking): Promise<Found[]> {
  const asked = appArmorProfiles(pod);
  if (asked.length === 0 || host.facts.appArmor === false) return [];
  const look = async () => {
    const loaded = (await readFile(LOADED_PROFILES, 'utf8').catch(ifMissing(''))).split('\n');
    const absent = asked.filter(({ profile }) => !loaded.some((line) => line.startsWith(`${profile} (`)));
    return absent.map(({ path, profile }) =>
      problem(path, `no AppArmor profile "${profile}" is loaded on this host; ${WAITS}`),
    );
  };
  return await looked(look, { path: asked[0]!.path, what: LOADED_PROFILES, signal });
}

/** For use with `catch`: returns `value` if the file is missing, and rethrows other errors. */
function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return value;
    throw error;
  };
}

/**
 * Returns the findings of `look`. If the check fails, returns a finding that explains why: missing permission, or a file system (such as
 * NFS) that does not respond.
 */
async function looked(
  look: () => Promise<Found[]>,
  { path, what, signal }: { path: FieldPath; what: string; signal: AbortSignal },
): Promise<Found[]> {
  try {
    return await raceAbort(look(), signal);
  } catch (error) {
    if (isErrno(error, 'EACCES') || isErrno(error, 'EPERM')) {
      const message = `${what} is not accessible to this user: it is not known whether it exists`;
      return [{ severity: 'note', path, message }];
    }
    if (isDeadlineExceeded(error))
      return [{ severity: 'note', path, message: `${what} cannot be checked: its file system is too slow` }];
    return [problem(path, `${what} cannot be checked: ${errorMessage(error)}; the pod waits until it can`)];
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

/** Returns the pod's Localhost AppArmor profiles, from the containers' fields, the deprecated annotations or the pod-level field. */
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
