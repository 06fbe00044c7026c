import type { Readable, Writable } from 'node:stream';
import { BoundedBytes, PodwrightError, wrapError } from '@podwright/base';
import { type ProgramStarter, startByFork } from './program-starter.ts';

/**
 * Options of `runProgram`. `maxOutputBytes` limits stdout and stderr separately (default 1 MiB); `stderr: false` discards stderr; `start`
 * starts the program (default: by fork).
 */
export type ProgramOptions = {
  stdin?: string | Uint8Array;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  signal?: AbortSignal;
  maxOutputBytes?: number;
  stderr?: boolean;
  start?: ProgramStarter;
};

/** How a program terminated (its exit code or the signal that killed it), and its output. */
export type ProgramResult = {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** The raw bytes of stdout, for programs whose output is not text. */
  stdoutBytes: Buffer;
};

/**
 * Runs a program to completion, without a shell. Rejects only if the program cannot be started (`not_found` if it does not exist), is
 * aborted, or writes more than `maxOutputBytes`; a non-zero exit code is a result, not an error. On abort, the call rejects once the
 * program has been killed and reaped; the program's descendants keep running.
 */
export function runProgram(file: string, args: string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramResult>();
  if (options.signal?.aborted) return Promise.reject(options.signal.reason);
  const start = options.start ?? startByFork;
  const child = start(file, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['pipe', 'pipe', options.stderr === false ? 'ignore' : 'pipe'],
  });
  const [stdin, ...written] = child.stdio as [Writable, Readable, Readable?];
  const limit = options.maxOutputBytes ?? 1 << 20;
  const output = { stdout: new BoundedBytes(limit), stderr: new BoundedBytes(limit) };
  let failure: unknown;
  const stop = (reason: unknown) => {
    failure ??= reason;
    child.kill('SIGKILL');
    if (child.exitCode !== null || child.signalCode !== null) abandon();
  };
  /** Closes the pipes to a killed program, which its descendants might still hold open. */
  const abandon = () => {
    for (const stream of child.stdio) stream?.destroy();
  };
  const onAbort = () => stop(options.signal?.reason);
  for (const [index, name] of (['stdout', 'stderr'] as const).entries()) {
    written[index]?.on('data', (chunk: Buffer) => {
      output[name].add(chunk);
      if (output[name].isCut)
        stop(new PodwrightError('resource_exhausted', `${file}: more than ${limit} bytes of ${name}`));
    });
  }
  options.signal?.addEventListener('abort', onAbort, { once: true });
  stdin.on('error', () => undefined); // the program may exit without reading its input
  stdin.end(options.stdin);
  child.on('error', (error) => {
    options.signal?.removeEventListener('abort', onAbort);
    reject(
      wrapError(`start ${file}`, error, (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'not_found' : 'internal'),
    );
  });
  child.on('exit', () => {
    if (failure !== undefined) abandon();
  });
  child.on('close', (exitCode, signal) => {
    options.signal?.removeEventListener('abort', onAbort);
    if (failure !== undefined) return reject(failure);
    const stdoutBytes = output.stdout.bytes();
    const stderr = output.stderr.bytes().toString('utf8');
    resolve({ exitCode, signal, stdout: stdoutBytes.toString('utf8'), stderr, stdoutBytes });
  });
  return promise;
}

/**
 * Runs a program and returns its stdout. If the program fails, rejects with `internal` and the end of its stderr, or of its stdout if
 * stderr is empty.
 */
export async function runChecked(file: string, args: string[], options: ProgramOptions = {}): Promise<string> {
  const result = await runProgram(file, args, options);
  if (result.exitCode === 0) return result.stdout;
  const how = result.signal === null ? `exit code ${result.exitCode}` : `killed by ${result.signal}`;
  const output = (result.stderr.trim() || result.stdout.trim()).slice(-2000);
  throw new PodwrightError('internal', `${file} ${args.join(' ')}: ${how}${output === '' ? '' : `: ${output}`}`);
}
