import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { silentLogger, waitFor } from '@podwright/base';
import { runRemoteCommand } from '../client/remote-command.ts';
import type { UpgradeTarget } from '../client/upgrade.ts';
import type { RemoteProcess, StreamChoice } from '../remote-process.ts';
import { StreamingServer } from './streaming-server.ts';

/** A streaming server whose URLs run real processes of this host. */
export class ShellServer {
  readonly server = new StreamingServer({ address: '127.0.0.1', port: 0, logger: silentLogger });
  readonly sizes: string[] = [];
  readonly #pids = new Set<number>();

  /** Creates a URL for a shell script; by default with stdout and stderr. Closing the process kills it. */
  shell(script: string, choice: Partial<StreamChoice> = {}, startDelayMs = 0): string {
    const wanted = { stdin: false, stdout: true, stderr: true, tty: false, ...choice };
    const start = async () => {
      if (startDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, startDelayMs));
      return this.#spawn(script);
    };
    return this.server.url({ kind: 'exec', choice: wanted, start });
  }

  /** Number of shell processes that are running. */
  get live(): number {
    return this.#pids.size;
  }

  #spawn(script: string): RemoteProcess {
    const child = spawn('sh', ['-c', script], { detached: true });
    const pid = child.pid!;
    this.#pids.add(pid);
    const { promise: exit, resolve } = Promise.withResolvers<number>();
    child.on('exit', (code) => {
      this.#pids.delete(pid);
      resolve(code ?? 137);
    });
    const { stdin, stdout, stderr } = child;
    const resize = (columns: number, rows: number) => this.sizes.push(`${columns}x${rows}`);
    return { stdin, stdout, stderr, exit, resize, close: () => killGroup(pid) };
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // the process has already exited
  }
}

/** Runs the command behind a streaming URL or socket path and collects its output. */
export async function collect(target: UpgradeTarget, input?: Buffer) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const outputs = Promise.all([buffer(stdout), text(stderr)]);
  const stdin = input && Readable.from([input]);
  const exitCode = await runRemoteCommand(target, { stdin, stdout, stderr, tty: false });
  stdout.end();
  stderr.end();
  const [out, err] = await outputs;
  return { exitCode, out, err };
}

export const descriptors = () => readdirSync('/proc/self/fd').length;

export const eventually = (condition: () => boolean) =>
  waitFor(() => (condition() ? true : undefined), { intervalMs: 5, signal: AbortSignal.timeout(60_000) });
