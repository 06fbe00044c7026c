import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { InfraProcess } from './infra-process.ts';
import type { InfraRoots } from './infra-roots.ts';
import { infraSpec } from './infra-spec.ts';
import type { SandboxController, SandboxEnvironment } from './sandbox-controller.ts';
import type { SandboxFolders } from './sandbox-folders.ts';
import type { SandboxNamespaces } from './sandbox-namespaces.ts';

const PROCESS_ENDED = "the pod's infra process has ended";

export type PauseControllerDependencies = {
  namespaces: SandboxNamespaces;
  folders: SandboxFolders;
  process: InfraProcess;
  /** The root file systems of infra processes, by what each sandbox's handler wants. */
  roots: InfraRoots;
  /** cgroupsPath of the OCI spec for a task of this sandbox. */
  cgroupsPath: (sandbox: SandboxRecord, taskId: string) => string;
  /** See `InfraPlace`. */
  oomScoreAdj: number;
};

/**
 * Sandboxes with an infra process, which is in all namespaces of the pod and is the first process of the PID namespace that
 * containers may share. It is a task of the handler's task runtime: one that runs a virtual machine a pod makes it there.
 * The sandbox is lost when it ends.
 */
export class PauseController implements SandboxController {
  readonly name = 'pause';
  readonly startsInNetwork = true;
  readonly holdsTasks = true;
  readonly makesUserNamespaces = true;
  readonly #dependencies: PauseControllerDependencies;

  constructor(dependencies: PauseControllerDependencies) {
    this.#dependencies = dependencies;
  }

  async create(sandbox: SandboxRecord, signal: AbortSignal): Promise<{ netnsPath?: string }> {
    await this.#dependencies.namespaces.create(sandbox, signal);
    return { netnsPath: this.netnsPath(sandbox) };
  }

  async start(sandbox: SandboxRecord, signal: AbortSignal): Promise<void> {
    const { namespaces, folders, process, roots, cgroupsPath, oomScoreAdj } = this.#dependencies;
    await folders.make(sandbox);
    const program = await roots.prepare(sandbox, signal);
    const ownPids = sandbox.config.pid !== 'node';
    const spec = infraSpec(sandbox, program, {
      namespaces: namespaces.paths(sandbox),
      pid: ownPids ? 'new' : 'host',
      cgroupsPath: cgroupsPath(sandbox, sandbox.id),
      oomScoreAdj,
    });
    const pid = await process.start(sandbox, spec, signal);
    if (ownPids) namespaces.pinPid(sandbox.id, pid);
  }

  setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void> {
    return this.#dependencies.folders.setAddresses(sandbox, ips);
  }

  environment(sandbox: SandboxRecord): SandboxEnvironment {
    const { namespaces, folders } = this.#dependencies;
    return { namespaces: namespaces.paths(sandbox), ...folders.paths(sandbox) };
  }

  async sharedPidNamespace({ id }: SandboxRecord): Promise<string> {
    return this.#dependencies.namespaces.pidPath(id);
  }

  async status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }> {
    const { namespaces, process } = this.#dependencies;
    const missing = await namespaces.missing(sandbox);
    if (missing !== undefined) return { alive: false, reason: `namespace ${missing} is gone` };
    const { status } = await process.resume(sandbox.id);
    return status === 'running' ? { alive: true } : { alive: false, reason: PROCESS_ENDED };
  }

  onLost(listener: (sandboxId: string, reason: string) => void): void {
    this.#dependencies.process.onExit((sandboxId) => listener(sandboxId, PROCESS_ENDED));
  }

  async stop(sandboxId: string): Promise<void> {
    const { namespaces, folders, process } = this.#dependencies;
    await process.stop(sandboxId);
    folders.unmount(sandboxId);
    namespaces.release(sandboxId);
  }

  async remove(sandboxId: string): Promise<void> {
    await this.stop(sandboxId);
    await this.#dependencies.roots.remove(sandboxId);
    this.#dependencies.folders.remove(sandboxId);
  }

  async list(): Promise<string[]> {
    const { namespaces, folders, roots } = this.#dependencies;
    return [...new Set([...(await namespaces.list()), ...(await folders.list()), ...(await roots.list())])];
  }

  netnsPath(sandbox: SandboxRecord): string | undefined {
    return this.#dependencies.namespaces.paths(sandbox).network;
  }

  async describe({ id }: SandboxRecord): Promise<Record<string, unknown>> {
    const state = await this.#dependencies.process.resume(id);
    return 'pid' in state ? { pid: state.pid } : {};
  }
}
