import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@podwright/base';

/** The host's containerd binary with its own directories and socket, separate from any containerd that is running on the host. */
export class Containerd implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'podwright-containerd-'));
  #process: ChildProcess | undefined;

  get endpoint(): string {
    return `unix://${this.#directory}/containerd.sock`;
  }

  static async start(): Promise<Containerd> {
    const containerd = new Containerd();
    try {
      await containerd.start();
      return containerd;
    } catch (error) {
      await containerd[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts or restarts containerd, and waits until it has booted. */
  async start(): Promise<void> {
    const log = join(this.#directory, 'log');
    writeFileSync(log, '');
    this.#process = spawn('containerd', ['--config', this.#writeConfig(), '--log-level', 'info'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process.stderr?.on('data', (chunk) => writeFileSync(log, chunk, { flag: 'a' }));
    await once(this.#process, 'spawn');
    const booted = () => readFileSync(log, 'utf8').includes('containerd successfully booted') || undefined;
    try {
      await waitFor(booted, { intervalMs: 20, signal: AbortSignal.timeout(20_000) });
    } catch (error) {
      throw new Error(`containerd did not start: ${readFileSync(log, 'utf8').slice(-2000)}`, { cause: error });
    }
  }

  /** Stops containerd, keeping its directories. */
  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const exited = once(running, 'exit', { signal: AbortSignal.timeout(20_000) });
    running.kill('SIGTERM');
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #writeConfig(): string {
    const directory = this.#directory;
    mkdirSync(join(directory, 'cni'), { recursive: true });
    const config = join(directory, 'config.toml');
    writeFileSync(
      config,
      `version = 2
root = "${directory}/root"
state = "${directory}/state"
[grpc]
  address = "${directory}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "${directory}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    conf_dir = "${directory}/cni"
`,
    );
    return config;
  }
}
