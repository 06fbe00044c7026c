import { basename, dirname } from 'node:path';
import { isShortage, PodwrightError } from '@podwright/base';
import { runProgram } from '@podwright/host';
import type { OciSpec } from '@podwright/oci';
import { ociMappings } from '@podwright/oci';
import { mountsBelow, readMounts, trialMappings, withUserNamespace } from '@podwright/system';
import { FEATURES_TIMEOUT_MS } from './limits.ts';
import type { OciProgram } from './oci-program.ts';
import { type OciTrialOptions, tryOciProgram } from './oci-trial.ts';

/** Optional features of an OCI runtime. */
export type OciRuntimeFeatures = {
  recursiveReadonlyMounts: boolean;
  userNamespaces: boolean;
  /** The latest runtime spec version that the OCI runtime implements; absent if it does not report one. */
  ociVersion?: string;
};

/** Output of `RUNTIME features` (runtime-spec, features.md). */
type FeaturesReport = { ociVersionMax?: string; mountOptions?: string[]; linux?: { namespaces?: string[] } };

/**
 * Determines a working OCI runtime's features from its `features` command, or by a trial for features that the command does not report.
 * User namespaces are always tried, because they depend on more than the OCI runtime, for example on directories that the mapped users can
 * traverse. If a trial fails because of a lack of disk space or file descriptors, `onShortage` is called and the feature is assumed to be
 * supported; the first pod that needs it will show whether it works.
 */
export async function findFeatures(
  path: string,
  program: OciProgram,
  { onShortage, ...options }: OciTrialOptions & { onShortage: (error: unknown) => void },
): Promise<OciRuntimeFeatures> {
  const succeeds = (trial: Promise<void>) =>
    trial.then(
      () => true,
      (error: unknown) => {
        const isUnknown = isShortage(error);
        if (isUnknown) onShortage(error);
        return isUnknown;
      },
    );
  const report = await queryFeatures(path);
  const reported = report?.mountOptions?.includes('rro');
  return {
    ...(report?.ociVersionMax === undefined ? {} : { ociVersion: report.ociVersionMax }),
    recursiveReadonlyMounts: reported ?? (await succeeds(tryRecursiveReadOnly(program, options))),
    userNamespaces:
      report?.linux?.namespaces?.includes('user') !== false && (await succeeds(tryUserNamespace(program, options))),
  };
}

/** Runs the OCI runtime's `features` command. Returns `undefined` if there is no such command. */
async function queryFeatures(path: string): Promise<FeaturesReport | undefined> {
  const { exitCode, stdout } = await runProgram(path, ['features'], {
    signal: AbortSignal.timeout(FEATURES_TIMEOUT_MS),
  });
  try {
    return exitCode === 0 ? (JSON.parse(stdout) as FeaturesReport) : undefined;
  } catch {
    return undefined;
  }
}

/** Mount point of a host directory in the trial's container. */
const MOUNT_POINT = '/mnt';

/** Mounts a directory that contains mounts, and checks that all of them are read-only in the container. */
async function tryRecursiveReadOnly(program: OciProgram, options: OciTrialOptions): Promise<void> {
  const source = directoryWithMounts();
  const mount = { destination: MOUNT_POINT, type: 'bind', source, options: ['rbind', 'rprivate', 'rro'] };
  const change = (spec: OciSpec) => ({ ...spec, mounts: [...spec.mounts, mount] });
  const check = async (pid: number) => {
    const mounts = mountsBelow(MOUNT_POINT, readMounts(`/proc/${pid}/mountinfo`));
    if (mounts.length > 1 && mounts.every((entry) => entry.options.includes('ro'))) return;
    throw new PodwrightError('unimplemented', 'mount read-only recursively: mounts below are writable');
  };
  await tryOciProgram(program, options, { change, check, enter: false });
}

/** Returns a host directory that contains mounts, normally /dev, because of /dev/pts. */
function directoryWithMounts(): string {
  const mounts = readMounts();
  const found = mounts.find(({ mountPoint }) => mountPoint === '/dev/pts') ?? mounts.find(isBelowSys);
  if (found === undefined) throw new PodwrightError('unimplemented', 'find a directory with mounts: there is none');
  return dirname(found.mountPoint);
}

const isBelowSys = ({ mountPoint }: { mountPoint: string }) => dirname(mountPoint) === '/sys' && basename(mountPoint);

async function tryUserNamespace(program: OciProgram, options: OciTrialOptions): Promise<void> {
  await withUserNamespace({ mappings: trialMappings, owned: ['net', 'ipc', 'uts'] }, async (pid) => {
    const types = { user: 'user', network: 'net', ipc: 'ipc', uts: 'uts' } as const;
    const joined = Object.entries(types).map(([type, file]) => ({
      type: type as keyof typeof types,
      path: `/proc/${pid}/ns/${file}`,
    }));
    const change = (spec: OciSpec): OciSpec => ({
      ...spec,
      linux: {
        ...spec.linux,
        ...ociMappings(trialMappings),
        namespaces: [{ type: 'pid' }, { type: 'mount' }, ...joined],
      },
    });
    await tryOciProgram(program, options, { change, enter: false, users: trialMappings });
  });
}
