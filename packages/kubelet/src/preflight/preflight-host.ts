import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isErrno } from '@podwright/base';
import { hostCgroups } from '../cgroups/host-cgroups.ts';
import { hasAppArmor } from '../node/container-host.ts';
import { nodeAllocatable } from '../node/node-allocatable.ts';
import { readNodeCapacity } from '../node/node-capacity.ts';
import { allocatableResources, nodeResources } from '../node/node-resources.ts';
import { type KubeletOptions, seccompRoot } from '../options.ts';
import { nodeFacts } from '../pod/node-offer.ts';
import type { NodeFacts } from '../pod/pod-admission.ts';
import type { PreflightHost } from './preflight.ts';

/** Describes this host for preflight checks, without the objects of a running node. */
export function hostOf(options: KubeletOptions, facts: NodeFacts): PreflightHost {
  return { nodeName: options.nodeName, facts, seccompRoot: seccompRoot(options) };
}

/**
 * Reads the facts about this host for preflight checks when no node is running. `unseen`: notes about paths that this user may not access.
 * Rejects with `invalid_argument` if the configured reservations leave nothing for pods.
 */
export async function thisHost(options: KubeletOptions): Promise<{ host: PreflightHost; unseen: string[] }> {
  const capacity = await readNodeCapacity(await hostCgroups(options.logger));
  const reserved = options.systemReserved;
  const { rootDir } = options;
  const directory = await reachableDirectory(rootDir);
  const has = await nodeResources(capacity, directory.path);
  const resources = allocatableResources(has, { allocatable: nodeAllocatable(capacity, reserved), reserved });
  const facts = { ...nodeFacts(options, resources), appArmor: await hasAppArmor() };
  const unseen = `${rootDir} is not accessible to this user: the disk of pods is assumed to be that of ${directory.path}`;
  return { host: hostOf(options, facts), unseen: directory.isBarred ? [unseen] : [] };
}

/** Returns the directory or, if this user may not access it, its nearest accessible ancestor. */
async function reachableDirectory(path: string): Promise<{ path: string; isBarred: boolean }> {
  let isBarred = false;
  for (let directory = path; ; directory = dirname(directory)) {
    try {
      await access(directory, constants.X_OK);
      return { path: directory, isBarred };
    } catch (error) {
      const barred = isErrno(error, 'EACCES');
      if ((!barred && !isErrno(error, 'ENOENT')) || directory === '/') throw error;
      isBarred ||= barred;
    }
  }
}
