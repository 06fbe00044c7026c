import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { errorMessage, isErrno, PodwrightError, waitFor, withTimeout } from '@podwright/base';
import { removeTree, runProgram } from '@podwright/host';

/** Options of `startTestNode`. */
export type TestNodeOptions = {
  /** The command that runs Podwright, as an argument list. Default: `['podwright']`, which is looked up in `PATH`. */
  command?: readonly string[];
  /** Path of a configuration file (docs/configuration.md). Default: none. The host's configuration file is not read either. */
  config?: string;
  /** Maximum time, in milliseconds, for the node to start, for pods to become ready, and for the node to stop. Default: 60,000. */
  timeoutMs?: number;
};

/** A command's exit code and output. */
export type CommandResult = { exitCode: number | null; stdout: string; stderr: string };

/** Number of bytes from the end of the node's log that are quoted in an error message. */
const LOG_TAIL_BYTES = 2000;
const OUTPUT_LIMIT_BYTES = 64 << 20;

/**
 * Starts a Podwright node with its own directories, cgroup and bridge, so that it can run alongside other nodes on the host. Requires root,
 * and the host programs that `podwright doctor` lists. Throws if the node does not start, leaving nothing behind.
 */
export async function startTestNode(options: TestNodeOptions = {}): Promise<TestNode> {
  const node = new TestNode(options);
  try {
    await node.start();
    return node;
  } catch (error) {
    await node.kill();
    throw error;
  }
}

/** A Podwright node for one test or one test file. `await using` or `stop` removes it along with its pods, images and files. */
export class TestNode implements AsyncDisposable {
  /** The directory that contains all of the node's files. */
  readonly directory = mkdtempSync(join(tmpdir(), 'podwright-test-'));
  readonly #command: readonly string[];
  readonly #flags: readonly string[];
  readonly #timeoutMs: number;
  #daemon: ChildProcess | undefined;

  /** @internal Use `startTestNode`. */
  constructor({ command = ['podwright'], config, timeoutMs = 60_000 }: TestNodeOptions) {
    const path = (name: string) => join(this.directory, name);
    const id = basename(this.directory).slice(-6).toLowerCase();
    this.#command = command;
    this.#timeoutMs = timeoutMs;
    // there is no CNI configuration, so the node uses its own bridge
    this.#flags = [
      ...(config === undefined ? [] : ['--config', config]),
      ...['--root', path('root'), '--state', path('state'), '--pod-logs', path('logs')],
      ...['--cgroup-parent', `/podwright-test-${id}`, '--bridge', `pwt${id}`, '--cni-conf-dir', path('net.d')],
      ...['--subnet', `10.${randomInt(128, 256)}.${randomInt(256)}.0/24`],
    ];
  }

  /** @internal Use `startTestNode`. */
  async start(): Promise<void> {
    const [program, ...args] = this.#command;
    const log = openSync(this.#logPath, 'a');
    const daemon = spawn(program!, [...args, ...this.#flags, 'node'], { stdio: ['ignore', log, log] });
    closeSync(log);
    await once(daemon, 'spawn').catch((error) => {
      throw isErrno(error, 'ENOENT') ? missingProgram(program!) : error;
    });
    this.#daemon = daemon;
    using signal = withTimeout(undefined, this.#timeoutMs, 'wait for the node to start');
    await waitFor(async () => (await this.#isReady(daemon)) || undefined, { intervalMs: 50, signal });
  }

  async #isReady(daemon: ChildProcess): Promise<boolean> {
    if (hasExited(daemon))
      throw new PodwrightError('unavailable', `start the node: ${describeExit(daemon)}: ${this.log().trim()}`);
    return (await this.run('ps')).exitCode === 0;
  }

  /** Runs a `podwright` command on this node until it exits, whatever its exit code. */
  async run(command: string, ...args: string[]): Promise<CommandResult> {
    return this.#run([command, ...args]);
  }

  /** Runs a `podwright` command that must succeed, and returns its stdout. */
  async podwright(...args: string[]): Promise<string> {
    return this.#ok(args);
  }

  /**
   * Creates the objects in a manifest (YAML or JSON text, or objects), and waits until the pods are ready. Throws an error that contains
   * the reason if they do not become ready in time; the pods then remain, for inspection.
   */
  async apply(manifest: string | object | readonly object[]): Promise<void> {
    await this.#ok(['run', '--detach', '--timeout', `${this.#timeoutMs}ms`, '-'], manifestText(manifest));
  }

  /**
   * Runs a manifest's pods until they terminate. The exit code is 0 if all of them succeeded; otherwise it is that of the first container
   * that failed.
   */
  async runToEnd(manifest: string | object | readonly object[]): Promise<CommandResult> {
    return this.#run(['run', '--once', '--quiet', '-'], manifestText(manifest));
  }

  /** Runs a command in a pod's first container, and returns its stdout. */
  async exec(pod: string, ...args: string[]): Promise<string> {
    return this.#ok(['exec', pod, '--', ...args]);
  }

  /** Returns the log of a pod's container. The container name may be omitted if the pod has only one container. */
  async logs(pod: string, container?: string): Promise<string> {
    return this.#ok(['logs', pod, ...(container === undefined ? [] : [container])]);
  }

  /** Returns the last part of the node's own log. */
  log(): string {
    try {
      return readFileSync(this.#logPath, 'utf8').slice(-LOG_TAIL_BYTES);
    } catch {
      return '';
    }
  }

  /**
   * Deletes all pods with a grace period of one second, stops the node and removes its directory. If the node has crashed, restarts it
   * first, because its pods are still running. Further calls have no effect.
   */
  async stop(): Promise<void> {
    if (this.#daemon === undefined) return;
    if (hasExited(this.#daemon)) await this.start();
    const daemon = this.#daemon;
    const exited = once(daemon, 'exit');
    await this.#ok(['stop', '--delete', '--grace-period', '1']);
    await exited;
    this.#daemon = undefined;
    await removeTree(this.directory); // refuses to cross mounts
  }

  /** @internal Kills a node that failed to start and therefore has no pods. */
  async kill(): Promise<void> {
    if (this.#daemon !== undefined && !hasExited(this.#daemon)) {
      const exited = once(this.#daemon, 'exit');
      this.#daemon.kill('SIGKILL');
      await exited;
    }
    await removeTree(this.directory);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get #logPath(): string {
    return join(this.directory, 'node.log');
  }

  async #ok(args: readonly string[], stdin?: string): Promise<string> {
    const { exitCode, stdout, stderr } = await this.#run(args, stdin);
    if (exitCode === 0) return stdout;
    const what = `podwright ${args.join(' ')}: exit code ${exitCode}`;
    throw new PodwrightError('unknown', `${what}: ${stderr.trim() || stdout.trim() || 'no output'}`);
  }

  async #run(args: readonly string[], stdin?: string): Promise<CommandResult> {
    const [program, ...before] = this.#command;
    try {
      const options = { stdin, maxOutputBytes: OUTPUT_LIMIT_BYTES };
      const result = await runProgram(program!, [...before, ...this.#flags, ...args], options);
      return { exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr };
    } catch (error) {
      throw new PodwrightError('unavailable', `run ${this.#command.join(' ')}: ${errorMessage(error)}`);
    }
  }
}

const hasExited = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

const describeExit = ({ exitCode, signalCode }: ChildProcess) =>
  signalCode === null ? `exit code ${exitCode}` : `killed by ${signalCode}`;

const missingProgram = (program: string) =>
  new PodwrightError(
    'not_found',
    `start the node: ${program} not found; install Podwright, or set \`command\` to its path`,
  );

function manifestText(manifest: string | object | readonly object[]): string {
  if (typeof manifest === 'string') return manifest;
  return JSON.stringify(Array.isArray(manifest) ? { apiVersion: 'v1', kind: 'List', items: manifest } : manifest);
}
