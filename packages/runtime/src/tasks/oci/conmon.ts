import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { BoundedBytes, PodwrightError, wrapError } from '@podwright/base';
import { type ProgramStarter, scopeOf } from '@podwright/host';
import { globalArguments, type OciProgram, type OciRuntime, withoutHostNull } from '../../oci-runtime/oci-program.ts';
import { runtimeError } from '../../oci-runtime/runtime-error.ts';
import { MONITOR_REPORT_BYTES } from '../limits.ts';
import { BUNDLE_FILES, type TaskFiles, type TaskRecord } from './task-files.ts';

/** Input for starting conmon, which runs the OCI runtime to create the task and then stays as the task's monitor. */
export type MonitorRequest = {
  start: ProgramStarter;
  conmon: string;
  program: OciProgram;
  files: TaskFiles;
  record: TaskRecord;
  /** Whether the task has its own user namespace. */
  hasUsers: boolean;
  /** CRI log file; '' for none. */
  logPath: string;
};

const END_OF_REPORT = Buffer.from('}\n');

/**
 * Starts conmon(8) and waits for the OCI runtime to create the task. Returns the PID of the task's first process. conmon becomes a session
 * leader and outlives this process. Aborting only ends the wait.
 */
export async function startMonitor(request: MonitorRequest, signal: AbortSignal): Promise<number> {
  const { id, bundle } = request.record;
  const child = request.start(request.conmon, monitorArguments(request), {
    cwd: bundle, // conmon writes its `oom` file there
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...monitorEnvironment(), _OCI_SYNCPIPE: '3' },
  });
  const started = new Promise<never>((_, reject) => child.once('error', reject));
  const report = child.stdio[3] as Readable;
  const stderr = child.stdio[2] as Readable;
  const stop = () => report.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const [line, errors] = await Promise.race([Promise.all([readLine(report), readAll(stderr)]), started]);
    signal.throwIfAborted();
    return createdPid(`create task ${id} with ${request.program.name}`, line, errors);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof PodwrightError
      ? error
      : wrapError(`start ${request.conmon} for task ${id}`, error, 'internal');
  } finally {
    signal.removeEventListener('abort', stop);
    report.destroy();
    stderr.destroy();
  }
}

function monitorArguments({ program, files, record, hasUsers, logPath }: MonitorRequest): string[] {
  const { id, bundle, terminal, stdin } = record;
  const getsNull = hasUsers && (terminal || !stdin);
  const runtime = getsNull ? withoutHostNull(files.runtime(program), { terminal }) : files.runtime(program);
  return [
    ...['--cid', id, '--cuuid', id, '--name', id],
    ...runtimeOptions(runtime, scopeOf(record.cgroupsPath) === undefined ? [] : ['--systemd-cgroup']),
    ...['--bundle', bundle, '--persist-dir', bundle, '--exit-dir', files.exits, '--full-attach'],
    ...['--container-pidfile', join(bundle, BUNDLE_FILES.pid)],
    ...['--conmon-pidfile', join(bundle, BUNDLE_FILES.monitorPid)],
    ...['--log-path', logPath === '' ? 'off' : `k8s-file:${logPath}`, '--no-sync-log'],
    ...(terminal ? ['--terminal'] : []),
    ...(stdin ? ['--stdin'] : []),
    ...(stdin && !record.stdinOnce ? ['--leave-stdin-open'] : []),
  ];
}

/**
 * Returns conmon's environment. conmon creates a terminal's socket in TMPDIR, and does not remove it if the OCI runtime sends no terminal.
 * TMPDIR is therefore conmon's working directory, which is removed along with the container.
 */
export function monitorEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, TMPDIR: '.' };
}

/** Returns the conmon options for the OCI runtime and its global arguments. */
export function runtimeOptions(runtime: OciRuntime, more: string[] = []): string[] {
  const before = [...globalArguments(runtime), ...more].map((argument) => `--runtime-arg=${argument}`);
  return ['--runtime', runtime.path, ...before];
}

/**
 * Returns the PID from conmon's report, which is `{"pid": 42}`, or `{"pid": -1, "message": "the runtime's stderr"}` if the create failed.
 */
function createdPid(what: string, line: string, stderr: string): number {
  if (line === '') throw runtimeError(what, stderr.replaceAll(/^\[conmon:\w\]: /gm, 'conmon: '));
  const report = JSON.parse(line) as { pid?: number; message?: string };
  if (typeof report.pid === 'number' && report.pid > 0) return report.pid;
  throw runtimeError(what, report.message ?? '');
}

/** Reads a stream up to the first newline that follows a JSON object, or to its end. */
export async function readLine(stream: Readable): Promise<string> {
  const report = new BoundedBytes(MONITOR_REPORT_BYTES);
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    report.add(chunk);
    if (report.isCut || report.bytes().subarray(-2).equals(END_OF_REPORT)) break;
  }
  return report.bytes().toString('utf8');
}

/** Reads a stream to its end; returns the first 64 KiB. */
export async function readAll(stream: Readable): Promise<string> {
  const text = new BoundedBytes(MONITOR_REPORT_BYTES);
  for await (const chunk of stream) text.add(chunk);
  return text.bytes().toString('utf8');
}
