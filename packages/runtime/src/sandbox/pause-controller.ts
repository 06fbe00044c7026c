import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { InfraProcess } from './infra-process.ts';
import type { InfraRoots } from './infra-roots.ts';
import { infraSpec } from './infra-spec.ts';
import { PinnedNamespacesController } from './pinned-namespaces-controller.ts';
import type { SandboxController } from './sandbox-controller.ts';
import type { SandboxDirectories } from './sandbox-directories.ts';
import type { SandboxNamespaces } from './sandbox-namespaces.ts';

const PROCESS_ENDED = "the pod's infra process has ended";

export type PauseControllerDependencies = {
  namespaces: SandboxNamespaces;
  directories: SandboxDirectories;
  process: InfraProcess;
  /** Provides infra processes' root file systems, depending on the sandbox's runtime handler. */
  roots: InfraRoots;
  /** Returns the `cgroupsPath` in the OCI spec of a task of this sandbox. */
  cgroupsPath: (sandbox: SandboxRecord, taskId: string) => string;
  /** oom_score_adj of the infra process; see `InfraSettings`. */
  oomScoreAdj: number;
};

/**
 * Controls sandboxes that have an infra process, which runs in all of the pod's namespaces and is PID 1 of a PID namespace that containers
 * may share. It is a task of the handler's task runtime, so that a runtime with one virtual machine per pod starts the virtual machine for
 * it. When the infra process exits, the sandbox is lost.
 */
export class PauseController extends PinnedNamespacesController implements SandboxController {
  readonly name = 'pause';
  readonly startsInNetwork = true;
  readonly holdsTasks = true;
  readonly makesUserNamespaces = true;
  readonly #dependencies: PauseControllerDependencies;

  constructor(dependencies: PauseControllerDependencies) {
    super(dependencies);
    this.#dependencies = dependencies;
  }

  async start(sandbox: SandboxRecord, signal: AbortSignal): Promise<void> {
    const { namespaces, directories, process, roots, cgroupsPath, oomScoreAdj } = this.#dependencies;
    await directories.make(sandbox);
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

  async sharedPidNamespace({ id }: SandboxRecord): Promise<string> {
    return this.#dependencies.namespaces.pidPath(id);
  }

  async status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }> {
    const missing = await this.missingNamespace(sandbox);
    if (missing !== undefined) return { alive: false, reason: missing };
    const { status } = await this.#dependencies.process.resume(sandbox.id);
    return status === 'running' ? { alive: true } : { alive: false, reason: PROCESS_ENDED };
  }

  onLost(listener: (sandboxId: string, reason: string) => void): void {
    this.#dependencies.process.onExit((sandboxId) => listener(sandboxId, PROCESS_ENDED));
  }

  async stop(sandboxId: string): Promise<void> {
    await this.#dependencies.process.stop(sandboxId);
    this.release(sandboxId);
  }

  async remove(sandboxId: string): Promise<void> {
    await this.stop(sandboxId);
    await this.#dependencies.roots.remove(sandboxId);
    this.#dependencies.directories.remove(sandboxId);
  }

  override async list(): Promise<string[]> {
    return [...new Set([...(await super.list()), ...(await this.#dependencies.roots.list())])];
  }

  async describe({ id }: SandboxRecord): Promise<Record<string, unknown>> {
    const state = await this.#dependencies.process.resume(id);
    return 'pid' in state ? { pid: state.pid } : {};
  }
}
