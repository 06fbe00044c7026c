import { Counter, errorCode, metricIn, PodwrightError, type Registry, sleep, wrapError } from '@podwright/base';
import { rpcErrorText } from '@podwright/grpc';
import { type Container, type EventRecorder, eventSubject, type LifecycleHandler, type Pod } from '@podwright/kube-api';
import type { CommandRunner } from '../kubecontainer/command-runner.ts';
import { describePod } from '../kubecontainer/pod-identity.ts';
import { type HttpCallTarget, httpGet, httpGetUrl, isPlainHttpAnswer } from '../prober/http-call.ts';

/** Maximum duration of the CRI call that runs a hook's command. The caller's signal aborts the hook at the end of its grace period. */
const MAX_HOOK_MS = 24 * 3_600_000;

/** Runs one lifecycle hook. Rejects if the hook fails, or with the signal's reason. */
export interface HookRunner {
  run(request: HookRequest, signal: AbortSignal): Promise<void>;
}

export type HookRequest = {
  pod: Pod;
  container: Container;
  containerId: string;
  /** The pod's addresses, primary first; the host's addresses if the pod is on the host network. */
  podIps: string[];
  handler: LifecycleHandler;
};

export type LifecycleHooksOptions = {
  commands: CommandRunner;
  events: EventRecorder;
  /** Counts fallbacks to plain HTTP and sleep hooks that ended early. */
  metrics?: Registry;
};

/** Runs postStart and preStop hooks. */
export class LifecycleHooks implements HookRunner {
  readonly #options: LifecycleHooksOptions;
  readonly #fallbacks: Counter | undefined;
  readonly #cutSleeps: Counter | undefined;

  constructor(options: LifecycleHooksOptions) {
    this.#options = options;
    if (options.metrics === undefined) return;
    this.#fallbacks = counter(options.metrics, {
      name: 'kubelet_lifecycle_handler_http_fallbacks_total',
      help: 'The number of times lifecycle handlers successfully fell back to http from https.',
    });
    this.#cutSleeps = counter(options.metrics, {
      name: 'kubelet_sleep_action_terminated_early_total',
      help: 'The number of times lifecycle sleep handler got terminated before it finishes',
    });
  }

  run(request: HookRequest, signal: AbortSignal): Promise<void> {
    const { handler } = request;
    if (handler.exec !== undefined) return this.#exec(request, handler.exec.command, signal);
    if (handler.httpGet !== undefined) return this.#http(request, handler.httpGet.path ?? '/', signal);
    if (handler.sleep !== undefined) return this.#sleep(handler.sleep.seconds, signal);
    // the API accepts tcpSocket, but documents that such hooks fail (k8s.io/api core/v1 LifecycleHandler)
    const message = 'Cannot run handler: a lifecycle hook is exec, httpGet or sleep';
    return Promise.reject(new PodwrightError('invalid_argument', message));
  }

  async #exec(request: HookRequest, command: string[], signal: AbortSignal): Promise<void> {
    const call = { timeoutMs: MAX_HOOK_MS, signal };
    const shown = command.join(' ');
    const what = failed(request, `Exec lifecycle hook ([${shown}])`);
    const { exitCode, output, stderr } = await this.#options.commands
      .runInContainer(request.containerId, command, call)
      .catch((error: unknown) => {
        throw new PodwrightError(errorCode(error), `${what}: ${rpcErrorText(error)}, message: ""`, { cause: error });
      });
    if (exitCode === 0) return;
    const why = `command '${shown}' exited with ${exitCode}: ${stderr}, message: ${JSON.stringify(output)}`;
    throw new PodwrightError('failed_precondition', `${what}: ${why}`);
  }

  /** Sends the hook's HTTP request; any HTTP response counts as success. As in upstream, there is no timeout other than the signal. */
  async #http(request: HookRequest, path: string, signal: AbortSignal): Promise<void> {
    const { container, podIps, handler } = request;
    const target = { action: handler.httpGet!, container, podIps, client: 'lifecycle' } as const;
    try {
      await httpGet(target, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isPlainHttpAnswer(error) && (await this.#fallBackToHttp(request, target, signal))) return;
      throw wrapError(failed(request, `HTTP lifecycle hook (${path})`), error);
    }
  }

  /**
   * Retries an HTTPS hook over plain HTTP, without its Authorization header, in case the server does not use TLS. Returns false if that
   * fails too.
   */
  async #fallBackToHttp({ pod }: HookRequest, target: HttpCallTarget, signal: AbortSignal): Promise<boolean> {
    try {
      await httpGet({ ...target, action: { ...target.action, scheme: 'HTTP' }, withoutAuthorization: true }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof PodwrightError) return false;
      throw error;
    }
    this.#fallbacks?.inc();
    const message = `request to HTTPS lifecycle hook ${httpGetUrl(target).host} got HTTP response, retry with HTTP succeeded`;
    this.#options.events.event(eventSubject(pod), 'Warning', 'LifecycleHTTPFallback', message);
    return true;
  }

  async #sleep(seconds: number, signal: AbortSignal): Promise<void> {
    try {
      await sleep(seconds * 1000, signal);
    } catch (error) {
      this.#cutSleeps?.inc();
      throw error;
    }
  }
}

function counter(registry: Registry, of: { name: string; help: string }): Counter {
  return metricIn(registry, of.name, () => new Counter({ ...of, registers: [registry] }));
}

function failed({ container, pod }: HookRequest, what: string): string {
  return `${what} for Container ${JSON.stringify(container.name)} in Pod ${JSON.stringify(describePod(pod))} failed - error`;
}
