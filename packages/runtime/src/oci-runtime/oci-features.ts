import { basename, dirname } from 'node:path';
import { PodwrightError, runProgram } from '@podwright/base';
import { mountsBelow, readMounts, trialMappings, withUserNamespace } from '@podwright/system';
import { ociMappings } from '../oci/id-mappings.ts';
import type { OciSpec } from '../oci/spec.ts';
import { FEATURES_TIMEOUT_MS } from './limits.ts';
import type { OciProgram } from './oci-program.ts';
import { type OciTrialOptions, tryOciProgram } from './oci-trial.ts';

/** What a runtime's containers can be, beyond what every runtime does. */
export type OciRuntimeFeatures = { recursiveReadonlyMounts: boolean; userNamespaces: boolean };

/** What a runtime says of itself (`RUNTIME features`; runtime-spec, features.md). */
type FeaturesReport = { mountOptions?: string[]; linux?: { namespaces?: string[] } };

/**
 * What a runtime that works can do: as its `features` report says, and where that says nothing, as a trial shows. A pod in a user
 * namespace is tried in any case: it needs more than the runtime, for instance directories that its users may pass.
 */
export async function findFeatures(
  path: string,
  program: OciProgram,
  options: OciTrialOptions,
): Promise<OciRuntimeFeatures> {
  const report = await askFeatures(path);
  const says = report?.mountOptions?.includes('rro');
  return {
    recursiveReadonlyMounts: says ?? (await succeeds(tryRecursiveReadOnly(program, options))),
    userNamespaces:
      report?.linux?.namespaces?.includes('user') !== false && (await succeeds(tryUserNamespace(program, options))),
  };
}

/** `undefined` if the runtime has no such command. */
async function askFeatures(path: string): Promise<FeaturesReport | undefined> {
  const { exitCode, stdout } = await runProgram(path, ['features'], {
    signal: AbortSignal.timeout(FEATURES_TIMEOUT_MS),
  });
  try {
    return exitCode === 0 ? (JSON.parse(stdout) as FeaturesReport) : undefined;
  } catch {
    return undefined;
  }
}

const succeeds = (trial: Promise<void>) =>
  trial.then(
    () => true,
    () => false,
  );

/** Where the trial sees a directory of the host. */
const PLACE = '/mnt';

/** Mounts a directory that has mounts below it, and looks whether all of them are read-only for the container. */
async function tryRecursiveReadOnly(program: OciProgram, options: OciTrialOptions): Promise<void> {
  const source = directoryWithMounts();
  const mount = { destination: PLACE, type: 'bind', source, options: ['rbind', 'rprivate', 'rro'] };
  const change = (spec: OciSpec) => ({ ...spec, mounts: [...spec.mounts, mount] });
  const check = async (pid: number) => {
    const mounts = mountsBelow(PLACE, readMounts(`/proc/${pid}/mountinfo`));
    if (mounts.length > 1 && mounts.every((entry) => entry.options.includes('ro'))) return;
    throw new PodwrightError('unimplemented', 'mount read-only recursively: mounts below can be written to');
  };
  await tryOciProgram(program, options, { change, check, enter: false });
}

/** A directory of the host with mounts below it; every host has terminals in /dev/pts. */
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
