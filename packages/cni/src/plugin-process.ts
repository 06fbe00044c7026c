import type { Readable, Writable } from 'node:stream';
import { BoundedBytes, PodwrightError, wrapError } from '@podwright/base';
import { type ProgramStarter, programDirectories, type StartedProgram } from '@podwright/host';
import { endProcessGroup } from './left-processes.ts';
import { HELPER_GRACE_MS, LINGER_MS, MAX_OUTPUT_BYTES } from './limits.ts';

/** How a plugin exited, and its output. */
export type PluginOutput = { exitCode: number | null; signal: string | null; stdout: string; stderr: string };

export type PluginProcess = {
  path: string;
  environment: Record<string, string>;
  stdin: string;
  signal: AbortSignal;
  start: ProgramStarter;
};

/**
 * Runs a plugin in a new process group. If the signal aborts or the plugin writes more than 1 MiB, it is killed, and the promise rejects
 * once the whole group has exited. The plugin's helpers (IPAM plugins, `iptables`) are killed only if they do not exit promptly:
 * `host-local`, if killed during a write, leaves behind an address that no DEL would release.
 */
export function runPlugin(process: PluginProcess): Promise<PluginOutput> {
  if (process.signal.aborted) return Promise.reject(process.signal.reason);
  const child = process.start(process.path, [], {
    env: pluginEnvironment(process.environment),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // setsid: a new process group
  });
  return new Running(child, process).done;
}

/** Returns the environment for a plugin. Plugins run programs such as `iptables`, which are not in the PATH of a non-login root shell. */
function pluginEnvironment(variables: Record<string, string>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CNI_'));
  // the plugin's own variables come first, because `endStrayPlugins` identifies the plugin by them and reads only the start of an
  // environment
  return { ...variables, ...Object.fromEntries(inherited), PATH: programDirectories().join(':') };
}

class Running {
  readonly done: Promise<PluginOutput>;
  readonly #child: StartedProgram;
  readonly #output: Record<'stdout' | 'stderr', Readable>;
  readonly #written = { stdout: new BoundedBytes(MAX_OUTPUT_BYTES), stderr: new BoundedBytes(MAX_OUTPUT_BYTES) };
  #failure: unknown;
  #linger: NodeJS.Timeout | undefined;

  constructor(child: StartedProgram, { path, stdin, signal }: PluginProcess) {
    this.#child = child;
    const [input, stdout, stderr] = child.stdio as [Writable, Readable, Readable];
    this.#output = { stdout, stderr };
    const { promise, resolve, reject } = Promise.withResolvers<PluginOutput>();
    this.done = promise;
    const onAbort = () => this.#kill(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    for (const name of ['stdout', 'stderr'] as const)
      this.#output[name].on('data', (chunk) => this.#collect(name, chunk));
    input.on('error', () => undefined); // the plugin may exit without reading its configuration
    input.end(stdin);
    child.on('error', (error) => {
      signal.removeEventListener('abort', onAbort);
      reject(wrapError(`start the CNI plugin ${path}`, error, 'internal'));
    });
    child.on('exit', () => {
      this.#linger = setTimeout(() => this.#closeOutput(), this.#failure === undefined ? LINGER_MS : 0);
    });
    child.on('close', (exitCode, killedBy) => {
      clearTimeout(this.#linger);
      signal.removeEventListener('abort', onAbort);
      const failed = () => reject(this.#failure);
      if (this.#failure !== undefined)
        return void endProcessGroup(child.pid ?? 0, HELPER_GRACE_MS).then(failed, failed);
      resolve({ exitCode, signal: killedBy, stdout: this.#text('stdout'), stderr: this.#text('stderr') });
    });
  }

  #collect(name: 'stdout' | 'stderr', chunk: Buffer): void {
    this.#written[name].add(chunk);
    if (this.#written.stdout.sizeBytes + this.#written.stderr.sizeBytes > MAX_OUTPUT_BYTES || this.#written[name].isCut)
      this.#kill(new PodwrightError('resource_exhausted', `it wrote more than ${MAX_OUTPUT_BYTES} bytes`));
  }

  #text(name: 'stdout' | 'stderr'): string {
    return this.#written[name].bytes().toString('utf8');
  }

  #kill(reason: unknown): void {
    this.#failure ??= reason;
    this.#child.kill('SIGKILL');
  }

  #closeOutput(): void {
    this.#output.stdout.destroy();
    this.#output.stderr.destroy();
  }
}
