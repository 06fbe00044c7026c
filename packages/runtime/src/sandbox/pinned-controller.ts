import type { SandboxRecord } from '../records/sandbox-record.ts';
import { PinnedNamespacesController } from './pinned-namespaces-controller.ts';
import type { SandboxController } from './sandbox-controller.ts';
import type { SandboxDirectories } from './sandbox-directories.ts';
import type { SandboxNamespaces } from './sandbox-namespaces.ts';
import type { SharedPidInit } from './shared-pid-init.ts';

const INIT_ENDED = 'the init of the shared PID namespace has ended';

export type PinnedControllerDependencies = {
  namespaces: SandboxNamespaces;
  directories: SandboxDirectories;
  init: SharedPidInit;
};

/**
 * Controls sandboxes without an infra process. Their namespaces are pinned by bind mounts; an init process is started only if a pod's
 * containers share a PID namespace.
 */
export class PinnedController extends PinnedNamespacesController implements SandboxController {
  readonly name = 'pinned';
  readonly makesUserNamespaces = true;
  readonly #dependencies: PinnedControllerDependencies;

  constructor(dependencies: PinnedControllerDependencies) {
    super(dependencies);
    this.#dependencies = dependencies;
  }

  /** Starts the init process during network setup, so that no container has to wait for it. */
  async start(sandbox: SandboxRecord, signal: AbortSignal): Promise<void> {
    await this.#dependencies.directories.make(sandbox);
    if (sandbox.config.pid !== 'pod') return;
    // Failures are ignored: the first container that needs the init process reports them, and clients also set the PID namespace mode `pod`
    // for pods whose containers do not share PIDs.
    await this.sharedPidNamespace(sandbox, signal).catch(() => undefined);
  }

  sharedPidNamespace(sandbox: SandboxRecord, signal: AbortSignal): Promise<string> {
    return this.#dependencies.init.namespacePath(sandbox, this.environment(sandbox), signal);
  }

  async status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }> {
    const missing = await this.missingNamespace(sandbox);
    if (missing !== undefined) return { alive: false, reason: missing };
    const alive = await this.#dependencies.init.resume(sandbox.id);
    return alive ? { alive } : { alive, reason: INIT_ENDED };
  }

  onLost(listener: (sandboxId: string, reason: string) => void): void {
    this.#dependencies.init.onExit((sandboxId) => listener(sandboxId, INIT_ENDED));
  }

  async stop(sandboxId: string): Promise<void> {
    await this.#dependencies.init.stop(sandboxId);
    this.release(sandboxId);
  }

  async remove(sandboxId: string): Promise<void> {
    await this.stop(sandboxId);
    this.#dependencies.directories.remove(sandboxId);
  }
}
