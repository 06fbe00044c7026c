import { PodwrightError, sleep } from '@podwright/base';
import type { Container, LifecycleHandler, Pod } from '../api/types.ts';
import type { CommandRunner } from '../kubecontainer/command-runner.ts';
import { MAX_HOOK_MS } from '../limits.ts';
import { httpGet, httpGetUrl } from '../prober/http-call.ts';

/** Runs one hook to its end. Rejects with what went wrong, or the signal's reason. */
export interface HookRunner {
  run(request: HookRequest, signal: AbortSignal): Promise<void>;
}

export type HookRequest = {
  pod: Pod;
  container: Container;
  containerId: string;
  /** The pod's addresses, primary first; the host's for a pod in the host network. */
  podIps: string[];
  handler: LifecycleHandler;
};

/** Runs postStart and preStop hooks. */
export class LifecycleHooks implements HookRunner {
  readonly #commands: CommandRunner;

  constructor(commands: CommandRunner) {
    this.#commands = commands;
  }

  async run({ container, containerId, handler, podIps }: HookRequest, signal: AbortSignal): Promise<void> {
    if (handler.exec !== undefined) {
      const { exitCode, output } = await this.#commands.runInContainer(containerId, handler.exec.command, {
        timeoutMs: MAX_HOOK_MS,
        signal,
      });
      if (exitCode !== 0)
        throw new PodwrightError(
          'failed_precondition',
          `command "${handler.exec.command.join(' ')}" exited with ${exitCode}: ${output.trim()}`,
        );
    } else if (handler.httpGet !== undefined) {
      const target = { action: handler.httpGet, container, podIps, userAgent: 'kube-lifecycle/1.36' };
      const { status } = await httpGet(target, signal); // no deadline of its own, as with the kubelet
      if (status < 200 || status >= 400)
        throw new PodwrightError('failed_precondition', `GET ${httpGetUrl(target)} answered ${status}`);
    } else if (handler.sleep !== undefined) {
      await sleep(handler.sleep.seconds * 1000, signal);
    }
    // tcpSocket is accepted by the API and does nothing (k8s.io/api core/v1 LifecycleHandler).
  }
}
