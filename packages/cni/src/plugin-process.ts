import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { PodwrightError, wrapError } from '@podwright/base';

/** How a plugin ended and what it wrote. */
export type PluginOutput = { exitCode: number | null; signal: string | null; stdout: string; stderr: string };

export type PluginProcess = { path: string; environment: Record<string, string>; stdin: string; signal: AbortSignal };

const maxOutputBytes = 1 << 20;
/** How long a program that has ended may leave its output open, as it does when it starts a daemon. */
const lingerMs = 1000;

/**
 * Runs a plugin in a process group of its own. When the signal aborts, or it writes more than 1 MiB, the whole group is
 * killed (address plugins, `iptables`), and the promise rejects after the plugin has gone.
 */
export function runPlugin(process: PluginProcess): Promise<PluginOutput> {
  if (process.signal.aborted) return Promise.reject(process.signal.reason);
  const child = spawn(process.path, [], {
    env: pluginEnvironment(process.environment),
    stdio: 'pipe',
    detached: true, // setsid: a group that can be killed as one
  });
  return new Running(child, process).done;
}

/** Plugins call `iptables` and the like, which a root shell without a login does not have in its PATH. */
function pluginEnvironment(variables: Record<string, string>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CNI_'));
  const path = [process.env.PATH ?? '', '/usr/sbin', '/usr/bin', '/sbin', '/bin'].filter((entry) => entry !== '');
  return { ...Object.fromEntries(inherited), PATH: path.join(':'), ...variables };
}

class Running {
  readonly done: Promise<PluginOutput>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #written = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  #writtenBytes = 0;
  #failure: unknown;
  #linger: NodeJS.Timeout | undefined;

  constructor(child: ChildProcessWithoutNullStreams, { path, stdin, signal }: PluginProcess) {
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<PluginOutput>();
    this.done = promise;
    const onAbort = () => this.#kill(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => this.#collect(name, chunk));
    child.stdin.on('error', () => undefined); // it may end without reading its configuration
    child.stdin.end(stdin);
    child.on('error', (error) => {
      signal.removeEventListener('abort', onAbort);
      reject(wrapError(`start the CNI plugin ${path}`, error, 'internal'));
    });
    child.on('exit', () => {
      this.#linger = setTimeout(() => this.#closeOutput(), this.#failure === undefined ? lingerMs : 0);
    });
    child.on('close', (exitCode, killedBy) => {
      clearTimeout(this.#linger);
      signal.removeEventListener('abort', onAbort);
      if (this.#failure !== undefined) return reject(this.#failure);
      resolve({ exitCode, signal: killedBy, stdout: this.#text('stdout'), stderr: this.#text('stderr') });
    });
  }

  #collect(name: 'stdout' | 'stderr', chunk: Buffer): void {
    this.#writtenBytes += chunk.length;
    if (this.#writtenBytes <= maxOutputBytes) this.#written[name].push(chunk);
    else this.#kill(new PodwrightError('resource_exhausted', `it wrote more than ${maxOutputBytes} bytes`));
  }

  #text(name: 'stdout' | 'stderr'): string {
    return Buffer.concat(this.#written[name]).toString('utf8');
  }

  #kill(reason: unknown): void {
    this.#failure ??= reason;
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // ESRCH: the group has gone by itself
    }
  }

  #closeOutput(): void {
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }
}
