import { type Readable, Writable } from 'node:stream';
import type { BoundedBytes } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { runRemoteCommand } from '@podwright/streaming';
import { podPath } from '../client/node-client.ts';
import { isNoNode, noNode } from '../client/unix-http.ts';
import { rawTerminal, terminalName, watchTerminalSize } from './terminal.ts';

type NamedPod = { metadata: Pick<Pod['metadata'], 'namespace' | 'name'> };

/** A container of a pod, and the API socket of the node that runs it. */
export type StreamTarget = { socketPath: string; pod: NamedPod; container: string };

export type StreamRequest = {
  call: { kind: 'exec'; command: string[] } | { kind: 'attach' };
  stdin: boolean;
  tty: boolean;
  /** Input to forward instead of standard input, such as keystrokes with the detach keys removed. */
  keys?: Readable;
  /** When aborted, detaches from the container and rejects the promise with the abort reason. */
  signal?: AbortSignal;
};

/** Returns the API path of a pod's exec, attach or portforward stream. */
export function streamPath(pod: NamedPod, query: URLSearchParams, kind: 'exec' | 'attach' | 'portforward'): string {
  return `${podPath(pod.metadata.namespace, pod.metadata.name)}/${kind}?${query}`;
}

/** Connects this process's standard streams to a container until the container, or the command run in it, exits. Returns the exit code. */
export async function streamContainer(target: StreamTarget, request: StreamRequest): Promise<number> {
  const { call, stdin, tty } = request;
  const path = streamPath(target.pod, streamQuery(target.container, request), call.kind);
  using _raw = tty && stdin && process.stdin.isTTY ? rawTerminal() : undefined;
  try {
    return await runRemoteCommand(
      { socketPath: target.socketPath, path, terminal: tty ? terminalName(process.env.TERM) : undefined },
      {
        stdin: stdin ? (request.keys ?? process.stdin) : undefined,
        stdout: process.stdout,
        stderr: process.stderr,
        tty,
        resize: tty ? watchTerminalSize : undefined,
      },
      request.signal,
    );
  } catch (error) {
    throw isNoNode(error) ? noNode(target.socketPath, (error as Error).cause) : error; // with a named container, this may be the first call of the node
  } finally {
    if (stdin) process.stdin.destroy(); // an open terminal or pipe must not keep this process alive
  }
}

function streamQuery(container: string, { call, stdin, tty }: StreamRequest): URLSearchParams {
  const wanted = ['stdout', tty ? 'tty' : 'stderr', ...(stdin ? ['stdin'] : [])];
  return commandQuery(container, call.kind === 'exec' ? call.command : [], wanted);
}

export type ContainerProgram = {
  command: string[];
  stdin?: Readable;
  stdout?: Writable;
  stderr: BoundedBytes;
  signal?: AbortSignal;
};

/** Runs a program in a container for the CLI's own purposes. Returns its exit code, or 127 if the program does not exist. */
export async function runInContainer(
  { socketPath, pod, container }: StreamTarget,
  { command, stdin, stdout, stderr, signal }: ContainerProgram,
): Promise<number> {
  const wanted = ['stderr', ...(stdin ? ['stdin'] : []), ...(stdout ? ['stdout'] : [])];
  const errors = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      stderr.add(chunk);
      done();
    },
  });
  const path = streamPath(pod, commandQuery(container, command, wanted), 'exec');
  return runRemoteCommand({ socketPath, path }, { stdin, stdout, stderr: errors, tty: false }, signal);
}

function commandQuery(container: string, command: string[], wanted: string[]): URLSearchParams {
  const words = command.map((word): [string, string] => ['command', word]);
  return new URLSearchParams([
    ...words,
    ['container', container],
    ...wanted.map((name): [string, string] => [name, 'true']),
  ]);
}
