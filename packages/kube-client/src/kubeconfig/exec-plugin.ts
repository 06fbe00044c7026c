import { isNotFound, PodwrightError, withTimeout, wrapError } from '@podwright/base';
import { type ProgramResult, type ProgramStarter, runProgram, startByFork } from '@podwright/host';
import { MAX_PLUGIN_OUTPUT_BYTES, PLUGIN_OUTPUT_GRACE_MS, PLUGIN_PAUSE_MS, PLUGIN_TIMEOUT_MS } from '../limits.ts';
import type { TlsOptions } from '../transport/http-exchange.ts';
import { decodeExecCredential, type ExecCredential, execInfo } from './exec-credential.ts';
import type { Cluster, ExecConfig } from './parse-kubeconfig.ts';

export type ExecPluginOptions = {
  config: ExecConfig;
  cluster: Cluster;
  tls: () => Promise<TlsOptions>;
  /** Called when the plugin returns a different certificate. The caller must reopen its connections. */
  onNewCertificate: () => void;
  timeoutMs?: number;
  /** Minimum interval between plugin runs after a failed run or rejected credentials. Default: 5 seconds. */
  pauseMs?: number;
  now?: () => number;
};

/**
 * A credential plugin: an external program that provides credentials. It is run if there are no credentials yet, or if they have expired or
 * been rejected by the server.
 */
export class ExecPlugin {
  readonly #options: ExecPluginOptions;
  readonly #what: string;
  #credential: ExecCredential | undefined;
  #running: Promise<ExecCredential> | undefined;
  #failure: { error: unknown } | undefined;
  #ranAtMs = Number.NEGATIVE_INFINITY;
  /** Certificate of the previous credentials: '' if they had none, `undefined` before the first run. */
  #lastCertificate: string | undefined;

  constructor(options: ExecPluginOptions) {
    this.#options = options;
    this.#what = `credential plugin ${options.config.command}`;
  }

  /**
   * Returns the current credentials. Concurrent callers share one plugin run. After a failure, calls fail with the same error for a few
   * seconds.
   */
  async credential(): Promise<ExecCredential> {
    const current = this.#credential;
    const now = (this.#options.now ?? Date.now)();
    if (current !== undefined && (current.expiresAtMs === undefined || current.expiresAtMs > now)) return current;
    if (this.#failure !== undefined && this.#isSoon()) throw this.#failure.error;
    this.#running ??= this.#renew().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async header(): Promise<string | undefined> {
    const { token } = await this.credential();
    return token === undefined ? undefined : `Bearer ${token}`;
  }

  /**
   * Returns true if the next request would use a different Authorization header than the rejected one. Runs the plugin for new credentials
   * if necessary.
   */
  async refused(header: string | undefined): Promise<boolean> {
    const isStill = (await this.header()) === header;
    if (!isStill) return true;
    if (this.#isSoon()) return false;
    this.#credential = undefined;
    await this.credential();
    return true;
  }

  #isSoon(): boolean {
    return performance.now() - this.#ranAtMs < (this.#options.pauseMs ?? PLUGIN_PAUSE_MS);
  }

  async #renew(): Promise<ExecCredential> {
    try {
      const credential = await this.#run();
      const { certificate = '' } = credential.certificate ?? {};
      const isNew = this.#lastCertificate !== undefined && this.#lastCertificate !== certificate;
      this.#credential = credential;
      this.#lastCertificate = certificate;
      this.#failure = undefined;
      if (isNew) this.#options.onNewCertificate();
      return credential;
    } catch (error) {
      this.#failure = { error };
      throw error;
    } finally {
      this.#ranAtMs = performance.now();
    }
  }

  async #run(): Promise<ExecCredential> {
    const { config, cluster, tls, timeoutMs = PLUGIN_TIMEOUT_MS } = this.#options;
    const { command, args, env } = config;
    const info = { name: 'KUBERNETES_EXEC_INFO', value: execInfo(config, cluster, await tls()) };
    using signal = withTimeout(undefined, timeoutMs, this.#what);
    const given = Object.fromEntries([...env, info].map(({ name, value }) => [name, value]));
    const options = {
      env: { ...process.env, ...given },
      signal,
      maxOutputBytes: MAX_PLUGIN_OUTPUT_BYTES,
      start: startAlone,
    };
    const result = await runProgram(command, args, options).catch((error) => {
      throw this.#notStarted(error);
    });
    if (result.exitCode !== 0) throw new PodwrightError('failed_precondition', `${this.#what}: ${howItEnded(result)}`);
    return decodeExecCredential(this.#what, config, result.stdout);
  }

  #notStarted(error: unknown): unknown {
    const { installHint } = this.#options.config;
    if (!isNotFound(error)) return wrapError(this.#what, error);
    const hint = installHint === undefined ? '' : `; ${installHint.slice(0, 1000)}`;
    return new PodwrightError('failed_precondition', `${this.#what}: there is no such program${hint}`);
  }
}

/** Describes how the plugin exited, with the last line of stderr. Its stdout is left out, because it might contain a token. */
function howItEnded({ exitCode, signal, stderr }: ProgramResult): string {
  const end = signal === null ? `exit code ${exitCode}` : `killed by ${signal}`;
  const complaint = stderr.trim().split('\n').at(-1)?.slice(-300) ?? '';
  return complaint === '' ? end : `${end}: ${complaint}`;
}

/**
 * Starts a plugin in a new session. Stopping it also kills the processes it has started. Its output is closed one second after it exits,
 * even if such a process still holds it open.
 */
const startAlone: ProgramStarter = (file, args, options) => {
  const child = startByFork(file, args, { ...options, detached: true });
  const closePipes = () => {
    for (const pipe of child.stdio) pipe?.destroy();
  };
  child.once('exit', () => setTimeout(closePipes, PLUGIN_OUTPUT_GRACE_MS).unref());
  const kill = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.pid !== undefined) killGroup(child.pid, signal);
    closePipes();
    return true;
  };
  return Object.assign(child, { kill });
};

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // the plugin and its processes have already exited
  }
}
