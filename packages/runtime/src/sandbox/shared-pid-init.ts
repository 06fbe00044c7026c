import { KeyedLock, PodwrightError } from '@podwright/base';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { InfraProcess } from './infra-process.ts';
import type { InfraRoots } from './infra-roots.ts';
import { infraSpec } from './infra-spec.ts';
import type { SandboxEnvironment } from './sandbox-controller.ts';

export type SharedPidInitDependencies = {
  process: InfraProcess;
  roots: InfraRoots;
  /** Returns the `cgroupsPath` in the OCI spec of a task of this sandbox. */
  cgroupsPath: (sandbox: SandboxRecord, taskId: string) => string;
  /** oom_score_adj of the init process; see `InfraSettings`. */
  oomScoreAdj: number;
};

/** The init process of a PID namespace shared by a pod's containers. Started on first use, because most pods never need one. */
export class SharedPidInit {
  readonly #dependencies: SharedPidInitDependencies;
  readonly #starting = new KeyedLock();

  constructor(dependencies: SharedPidInitDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns the path of the shared PID namespace, starting its init process if necessary. The path is valid as long as any process is
   * running in the namespace: when the init process exits, the kernel kills all others.
   */
  namespacePath(
    sandbox: SandboxRecord,
    { namespaces }: Pick<SandboxEnvironment, 'namespaces'>,
    signal: AbortSignal,
  ): Promise<string> {
    const { process, roots, cgroupsPath, oomScoreAdj } = this.#dependencies;
    const start = async () => {
      const watched = process.watchedPid(sandbox.id);
      if (watched !== undefined) return `/proc/${watched}/ns/pid`;
      const state = await process.resume(sandbox.id);
      if (state.status === 'running') return `/proc/${state.pid}/ns/pid`;
      if (state.status === 'exited') {
        throw new PodwrightError('failed_precondition', `share PIDs in sandbox ${sandbox.id}: its init has ended`);
      }
      const settings = { namespaces, pid: 'new', cgroupsPath: cgroupsPath(sandbox, sandbox.id), oomScoreAdj } as const;
      const spec = infraSpec(sandbox, await roots.prepare(sandbox, signal), settings);
      return `/proc/${await process.start(sandbox, spec, signal)}/ns/pid`;
    };
    return this.#starting.run(sandbox.id, start, signal);
  }

  /** Subscribes to init processes that exit on their own. `listener` is called with the sandbox ID. */
  onExit(listener: (sandboxId: string) => void): void {
    this.#dependencies.process.onExit(listener);
  }

  /** Starts watching an init process started before a restart of the container runtime, if there is one. Returns false if it has exited. */
  async resume(sandboxId: string): Promise<boolean> {
    const { status } = await this.#dependencies.process.resume(sandboxId);
    return status !== 'exited';
  }

  stop(sandboxId: string): Promise<void> {
    return this.#dependencies.process.stop(sandboxId);
  }
}
