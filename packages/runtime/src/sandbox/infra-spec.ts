import type { OciSpec } from '@podwright/oci';
import { ociMappings } from '@podwright/oci';
import { hostIdOf, type IdMapping } from '@podwright/system';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxEnvironment } from './sandbox-controller.ts';

/** A program to run as a sandbox's infra process, in a read-only root file system. */
export type InfraProgram = {
  /** Root file system directory, containing the directories `INFRA_DIRECTORIES`. */
  root: string;
  args: string[];
  env: string[];
  cwd: string;
  user: { uid: number; gid: number; additionalGids?: number[] };
};

/** Mount points that the root file system must contain. */
export const INFRA_DIRECTORIES = ['proc', 'dev', 'sys'];

export type InfraSettings = {
  namespaces: SandboxEnvironment['namespaces'];
  /** Whether the infra process gets its own PID namespace or uses the host's. */
  pid: 'new' | 'host';
  cgroupsPath: string;
  /** oom_score_adj, from -1000 (never killed by the OOM killer) to 1000. */
  oomScoreAdj: number;
};

/**
 * Builds the OCI spec of an infra process. The process has no capabilities and no writable directories; its only purpose is to hold the
 * namespaces.
 */
export function infraSpec(sandbox: SandboxRecord, program: InfraProgram, settings: InfraSettings): OciSpec {
  const { namespaces, pid, cgroupsPath, oomScoreAdj } = settings;
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

/** Returns the infra process's user. IDs not mapped in the pod's user namespace are replaced by 0. */
function mappedUser({ config }: SandboxRecord, user: InfraProgram['user']): InfraProgram['user'] {
  const { uids, gids } = config.userNamespace ?? {};
  const mapped = (mappings: IdMapping[] | undefined, id: number) =>
    mappings === undefined || hostIdOf(mappings, id) !== undefined ? id : 0;
  const additionalGids = user.additionalGids?.map((gid) => mapped(gids, gid));
  return { ...user, uid: mapped(uids, user.uid), gid: mapped(gids, user.gid), additionalGids };
}

/** Returns the annotations that identify a pod's first process to VM-based OCI runtimes. */
export function infraAnnotations({ id, config }: SandboxRecord): Record<string, string> {
  return {
    'io.kubernetes.cri.container-type': 'sandbox',
    'io.kubernetes.cri.sandbox-id': id,
    'io.kubernetes.cri.sandbox-name': config.podName,
    'io.kubernetes.cri.sandbox-namespace': config.podNamespace,
    'io.kubernetes.cri.sandbox-uid': config.podUid,
  };
}
