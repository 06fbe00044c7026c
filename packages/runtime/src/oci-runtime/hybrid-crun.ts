import { type CgroupHierarchy, findProgram } from '@podwright/host';
import { readMounts } from '@podwright/system';
import { type OciProgram, SHELL } from './oci-program.ts';

/**
 * Works around crun's refusal to run on hybrid hosts, which have cgroup controllers in v1 hierarchies as well as a v2 hierarchy. If crun
 * does not see the v2 hierarchy, it treats the host as a v1 host, which works. Each call therefore runs in its own mount namespace, created
 * by unshare(1), with a tmpfs covering the v2 hierarchy; directories created there by crun disappear along with the namespace. A long-lived
 * namespace would miss later mounts and keep unmounted file systems busy. If nsenter(1) is installed, `covered` lets this process create
 * the namespace itself for create and exec (`covered-call.ts`). Returns `undefined` if the host is not hybrid or lacks the required
 * programs.
 */
export function withoutUnifiedTree(crun: string, cgroups: CgroupHierarchy): OciProgram | undefined {
  const unified = cgroups.trees.find((tree) => tree.version === 2)?.mountPoint;
  const [unshare, mount, nsenter] = ['unshare', 'mount', 'nsenter'].map((name) => findProgram(name));
  if (cgroups.mode !== 'hybrid' || unified === undefined) return undefined;
  if (unshare === undefined || mount === undefined) return undefined;
  if (![unified, mount].every((path) => /^[\w./+-]+$/.test(path))) return undefined; // the paths are not quoted in the shell script
  const { propagation } = readMounts().findLast(({ mountPoint }) => mountPoint === unified) ?? { propagation: [] };
  // a shared mount would propagate the tmpfs to other mount namespaces
  const makePrivate = propagation.some((tag) => tag.startsWith('shared'))
    ? `${mount} --make-private ${unified} && `
    : '';
  const script = `${makePrivate}${mount} -t tmpfs tmpfs ${unified} && exec "$0" "$@"`;
  return {
    name: 'crun',
    path: unshare,
    args: ['--mount', '--propagation', 'unchanged', SHELL, '-c', script, crun],
    covered: nsenter === undefined ? undefined : { tree: unified, path: crun, nsenter },
  };
}
