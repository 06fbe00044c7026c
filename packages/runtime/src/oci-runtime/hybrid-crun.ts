import { type CgroupHierarchy, findProgram } from '@podwright/base';
import { readMounts } from '@podwright/system';
import { type OciProgram, SHELL } from './oci-program.ts';

/**
 * crun refuses hosts that have some cgroup controllers in v1 trees and some in a v2 tree beside them. Where it does not
 * see the v2 tree it takes the host for a v1 one, which is what counts. unshare(1) gives each call a mount namespace of
 * its own in which an empty file system covers the tree: crun makes directories there, which go with the namespace. Not in
 * one that is kept: later mounts would not be seen in it, and earlier ones would live on. For create and exec
 * `covered` says how this process makes the namespace itself, where there is nsenter(1) (`covered-call.ts`).
 * `undefined` on hosts that are not hybrid, or where it cannot be done.
 */
export function withoutUnifiedTree(crun: string, cgroups: CgroupHierarchy): OciProgram | undefined {
  const unified = cgroups.trees.find((tree) => tree.version === 2)?.mountPoint;
  const [unshare, mount, nsenter] = ['unshare', 'mount', 'nsenter'].map((name) => findProgram(name));
  if (cgroups.mode !== 'hybrid' || unified === undefined) return undefined;
  if (unshare === undefined || mount === undefined) return undefined;
  if (![unified, mount].every((path) => /^[\w./+-]+$/.test(path))) return undefined; // a shell would read more than a path in it
  const { propagation } = readMounts().findLast(({ mountPoint }) => mountPoint === unified) ?? { propagation: [] };
  // Where the tree's mount is shared with others, what is mounted over it would cover it for all.
  const alone = propagation.some((tag) => tag.startsWith('shared')) ? `${mount} --make-private ${unified} && ` : '';
  const script = `${alone}${mount} -t tmpfs tmpfs ${unified} && exec "$0" "$@"`;
  return {
    name: 'crun',
    path: unshare,
    args: ['--mount', '--propagation', 'unchanged', SHELL, '-c', script, crun],
    covered: nsenter === undefined ? undefined : { tree: unified, path: crun, nsenter },
  };
}
