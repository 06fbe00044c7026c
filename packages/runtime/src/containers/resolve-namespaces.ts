import { PodwrightError } from '@podwright/base';
import type { RecordTable } from '@podwright/metadata';
import type { OciSpec, SpecNamespace, SpecNamespaces } from '@podwright/oci';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxController, SandboxEnvironment } from '../sandbox/sandbox-controller.ts';

type Pod = {
  sandbox: SandboxRecord;
  controller: SandboxController;
  environment: SandboxEnvironment;
  /** Container records, for looking up the target container whose PID namespace a container joins. */
  containers: Pick<RecordTable<ContainerRecord>, 'require'>;
  signal: AbortSignal;
};

/** Returns a container's namespaces. If the container joins the pod's shared PID namespace, starts that namespace's init process. */
export async function resolveNamespaces(record: ContainerRecord, pod: Pod): Promise<SpecNamespaces> {
  const { network, ipc, uts, user } = pod.environment.namespaces;
  const mappings = pod.sandbox.config.userNamespace;
  return {
    network: shared(network),
    ipc: shared(ipc),
    uts: shared(uts),
    pid: await pidNamespace(record, pod),
    ...(user === undefined || mappings === undefined ? {} : { user: { path: user, mappings } }),
  };
}

/**
 * Throws `failed_precondition` if the container joins the PID namespace of a target container that has exited since this container was
 * created: the target's PID might have been reused.
 */
export function checkPidTarget(
  record: ContainerRecord,
  { linux }: OciSpec,
  containers: Pick<RecordTable<ContainerRecord>, 'get'>,
): void {
  const { pid } = record.config.security;
  if (pid.mode !== 'target') return;
  const target = containers.get(pid.containerId) ?? { id: pid.containerId, state: { phase: 'removing' } as const };
  const path = target.state.phase === 'running' ? pidPath(target.state.pid) : undefined;
  const joined = linux.namespaces.find(({ type }) => type === 'pid')?.path;
  if (path === undefined || path !== joined) throw notRunning(target.id, record.sandboxId);
}

const shared = (path: string | undefined): SpecNamespace =>
  path === undefined ? { kind: 'host' } : { kind: 'path', path };

async function pidNamespace(record: ContainerRecord, pod: Pod): Promise<SpecNamespace> {
  const { sandbox, controller, containers, signal } = pod;
  const { pid } = record.config.security;
  if (pid.mode === 'node') return { kind: 'host' };
  if (pid.mode === 'container') return { kind: 'new' };
  if (pid.mode === 'pod') return { kind: 'path', path: await controller.sharedPidNamespace(sandbox, signal) };
  const target = containers.require(pid.containerId);
  if (target.sandboxId !== sandbox.id || target.state.phase !== 'running') throw notRunning(target.id, sandbox.id);
  return { kind: 'path', path: pidPath(target.state.pid) };
}

const pidPath = (pid: number): string => `/proc/${pid}/ns/pid`;

function notRunning(targetId: string, sandboxId: string): PodwrightError {
  return new PodwrightError(
    'failed_precondition',
    `join the PID namespace of container ${targetId}: it does not run in sandbox ${sandboxId}`,
  );
}
