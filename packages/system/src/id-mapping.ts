import { chmodSync, closeSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, errorMessage, isShortage, PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';
import { type MappedUsers, mountAllIdMapped } from './id-mapped-mounts.ts';
import { unmountTree } from './mountinfo.ts';
import type { Mount } from './mounts.ts';
import type { System } from './system.ts';
import { type IdMappings, withMapping } from './user-namespace.ts';

const TRIAL_RANGE = [{ containerId: 0, hostId: 65_536, length: 65_536 }];
/** Host IDs for the probe, which leaves no files owned by them behind. */
export const trialMappings: IdMappings = { uids: TRIAL_RANGE, gids: TRIAL_RANGE };

/** Whether root file systems can be mounted for pods with user namespaces. If not, `reason` is the error message. */
export type IdMappingSupport = { works: boolean; reason: string };

/**
 * Probes for ID-mapped mounts by mounting an overlay and a bind mount with mapped IDs in `directory`, which must be on the same file system
 * as the image layers. Kernels before 5.19 cannot map overlay layers, and some file systems do not support ID mapping at all. If the disk
 * is too full for the probe, only makes an ID-mapped copy of the directory's own mount.
 */
export async function probeIdMapping(system: System, directory: string): Promise<IdMappingSupport> {
  const scratch = join(existing(directory), `podwright-id-mapping-${process.pid}`);
  try {
    await withMapping(trialMappings, (descriptor) => {
      const users = { descriptor, mappings: trialMappings };
      try {
        for (const kind of ['overlay', 'bind'] as const) tryMapped(system, join(scratch, kind), { kind, users });
      } catch (error) {
        if (!isShortage(error)) throw error;
        tryMappedCopy(system, existing(directory), descriptor);
      }
    });
    return { works: true, reason: '' };
  } catch (error) {
    return { works: false, reason: errorMessage(error) };
  } finally {
    unmountTree(system, scratch);
    rmSync(scratch, { recursive: true, force: true });
  }
}

function existing(directory: string): string {
  let found = directory;
  while (!existsSync(found)) found = dirname(found);
  return found;
}

function tryMapped(
  system: System,
  scratch: string,
  { kind, users }: { kind: 'overlay' | 'bind'; users: MappedUsers },
): void {
  const directories = ['layers/1', 'upper', 'work', 'place/target'].map((name) => join(scratch, name));
  const [lower, upper, work, target] = directories as [string, string, string, string];
  for (const directory of directories) mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  writeFileSync(join(lower, 'file'), '');
  chmodSync(lower, CONTAINER_DIRECTORY);
  const overlay = [`lowerdir=${lower}`, `upperdir=${upper}`, `workdir=${work}`];
  const mount: Mount =
    kind === 'overlay'
      ? { type: 'overlay', source: 'overlay', options: overlay }
      : { type: 'bind', source: lower, options: ['bind', 'rw'] };
  mountAllIdMapped(system, [mount], { target, users });
  const { uid } = statSync(join(target, 'file'));
  if (uid !== TRIAL_RANGE[0]!.hostId) throw new PodwrightError('internal', `${kind}: files are not mapped`);
}

/** Makes an ID-mapped copy of the directory's mount without creating any file or attaching the copy. */
function tryMappedCopy(system: System, directory: string, descriptor: number): void {
  const copy = system.cloneMount(directory);
  try {
    system.changeMount(copy, { userNamespace: descriptor });
  } finally {
    closeSync(copy);
  }
}
