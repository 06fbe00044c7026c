import { chmod, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CgroupHierarchy } from '@podwright/base';
import { readMounts } from '../sys/mountinfo.ts';

/**
 * crun refuses hosts that have some cgroup controllers in v1 trees and some in a v2 tree beside them. Where it does not
 * see the v2 tree it takes the host for a v1 one, which is what counts. So this wrapper runs each crun in a mount
 * namespace of its own without that tree. Not in one that is kept: mounts made later would not be seen in it, and mounts
 * taken down would live on. Costs 3 ms a call. `undefined` on hosts that are not hybrid.
 */
export function hybridWrapper(crun: string, cgroups: CgroupHierarchy): string | undefined {
  const unified = cgroups.trees.find((tree) => tree.version === 2)?.mountPoint;
  if (cgroups.mode !== 'hybrid' || unified === undefined) return undefined;
  const parent = dirname(unified);
  // Where the parent's mount is shared with others, taking the tree down here would take it down for all.
  const shared = readMounts().some(
    ({ mountPoint, propagation }) => mountPoint === parent && propagation.some((tag) => tag.startsWith('shared')),
  );
  const privately = shared ? `mount --make-private ${quote(parent)} && ` : '';
  return `#!/bin/sh
# Written by Podwright: runs crun out of sight of the v2 cgroup tree, beside which it does not work.
exec unshare --mount --propagation unchanged sh -c '${privately}umount ${quote(unified)} && exec "$0" "$@"' ${quote(crun)} "$@"
`;
}

/** Writes the wrapper as an executable file. */
export async function writeWrapper(path: string, script: string): Promise<void> {
  await writeFile(path, script);
  await chmod(path, 0o700);
}

/** A path as one word for the shell; only plain ones are wrapped, as one that is quoted twice is too easily wrong. */
function quote(path: string): string {
  if (/^[\w./+-]+$/.test(path)) return path;
  throw new Error(`path ${path} has characters that a shell would read`);
}
