import { hostIdOf, type IdMapping } from '@podwright/system';
import { ociMappings } from '../oci/id-mappings.ts';
import type { OciSpec } from '../oci/spec.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxEnvironment } from './sandbox-controller.ts';

/** A program to run as a sandbox's own process, in a root file system that it leaves as it is. */
export type InfraProgram = {
  /** Directory with the root file system; it has the directories `INFRA_DIRECTORIES`. */
  root: string;
  args: string[];
  env: string[];
  cwd: string;
  user: { uid: number; gid: number; additionalGids?: number[] };
};

/** Directories that a root file system must have for what is mounted in it. */
export const INFRA_DIRECTORIES = ['proc', 'dev', 'sys'];

export type InfraPlace = {
  namespaces: SandboxEnvironment['namespaces'];
  /** A PID namespace of its own, or the host's. */
  pid: 'new' | 'host';
  cgroupsPath: string;
  /** How gladly the kernel ends it when memory is short: -1000 (never) to 1000. */
  oomScoreAdj: number;
};

/** The specification of a sandbox's own process. It needs nothing: no capability, no writable place, only the namespaces. */
export function infraSpec(sandbox: SandboxRecord, program: InfraProgram, place: InfraPlace): OciSpec {
  const { namespaces, pid, cgroupsPath, oomScoreAdj } = place;
  const none = { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] };
  const { userNamespace } = sandbox.config;
  const shared = (['network', 'ipc', 'uts', 'user'] as const).flatMap((type) => {
    const path = namespaces[type];
    return path === undefined ? [] : [{ type, path }];
  });
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: mappedUser(sandbox, program.user),
      args: program.args,
      env: program.env,
      cwd: program.cwd,
      capabilities: none,
      noNewPrivileges: true,
      oomScoreAdj,
    },
    root: { path: program.root, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev', 'ro'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'noexec', 'mode=755', 'size=64k'] },
    ],
    annotations: infraAnnotations(sandbox),
    linux: {
      cgroupsPath,
      namespaces: [...(pid === 'new' ? [{ type: 'pid' as const }] : []), { type: 'mount' }, ...shared],
      ...(userNamespace === undefined ? {} : ociMappings(userNamespace)),
      resources: { cpu: { shares: 2 } },
    },
  };
}

/** The user, or root of a pod whose user namespace has fewer ids. */
function mappedUser({ config }: SandboxRecord, user: InfraProgram['user']): InfraProgram['user'] {
  const { uids, gids } = config.userNamespace ?? {};
  const mapped = (mappings: IdMapping[] | undefined, id: number) =>
    mappings === undefined || hostIdOf(mappings, id) !== undefined ? id : 0;
  const additionalGids = user.additionalGids?.map((gid) => mapped(gids, gid));
  return { ...user, uid: mapped(uids, user.uid), gid: mapped(gids, user.gid), additionalGids };
}

/** By these, runtimes that keep a whole pod in one place (virtual machines) know the first process of a pod. */
export function infraAnnotations({ id, config }: SandboxRecord): Record<string, string> {
  return {
    'io.kubernetes.cri.container-type': 'sandbox',
    'io.kubernetes.cri.sandbox-id': id,
    'io.kubernetes.cri.sandbox-name': config.podName,
    'io.kubernetes.cri.sandbox-namespace': config.podNamespace,
    'io.kubernetes.cri.sandbox-uid': config.podUid,
  };
}
