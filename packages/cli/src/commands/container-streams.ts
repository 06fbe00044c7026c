import { readlinkSync } from 'node:fs';
import { type Readable, Writable } from 'node:stream';
import { type BoundedBytes, isNotFound } from '@podwright/base';
import type { Pod } from '@podwright/kubelet';
import { runRemoteCommand, type UpgradeTarget } from '@podwright/streaming';
import { decodeStreamPlace } from '../client/answers.ts';
import { podPath } from '../client/node-client.ts';
import { UnixHttp } from '../client/unix-http.ts';
import { rawTerminal, terminalName, watchTerminalSize } from './terminal.ts';

/** Which pod, whatever else of it is known. */
type NamedPod = { metadata: Pick<Pod['metadata'], 'namespace' | 'name'> };

/** A container of a pod behind a node's socket. */
export type StreamTarget = { socketPath: string; pod: NamedPod; container: string };

export type StreamRequest = {
  call: { kind: 'exec'; command: string[] } | { kind: 'attach' };
  /** Standard input is passed on. */
  stdin: boolean;
  tty: boolean;
  /** Stands between the keys and the container. */
  keys?: Readable;
  /** Leaves the container; the promise rejects with the reason. */
  signal?: AbortSignal;
};

/** Where a node's API has the streams of a container. */
export function streamPath(pod: NamedPod, query: URLSearchParams, kind: 'exec' | 'attach' | 'portforward'): string {
  return `${podPath(pod.metadata.namespace, pod.metadata.name)}/${kind}?${query}`;
}

/** Joins our standard streams to a container until it, or the command in it, has ended. Returns the exit code. */
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
  } finally {
    if (stdin) process.stdin.destroy(); // an idle terminal or pipe must not keep us from ending
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
  /** Takes what it says of its errors. */
  stderr: BoundedBytes;
  signal?: AbortSignal;
};

/** Runs a program in a container for ourselves. Returns its exit code, 127 if it is not there. */
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
  const target = stdin || stdout ? await nearest({ socketPath, path }) : { socketPath, path };
  return runRemoteCommand(target, { stdin, stdout, stderr: errors, tty: false }, signal);
}

/**
 * Where the runtime itself has the streams: the kubelet, which would pass on every byte, takes as much time for that as the runtime.
 * The node's socket, if the runtime's is out of reach or the node is of an older version.
 */
async function nearest(target: { socketPath: string; path: string }): Promise<UpgradeTarget> {
  const path = target.path.replace('/api/v1/', '/podwright/v1/');
  try {
    const place = await new UnixHttp(target.socketPath).json({ method: 'POST', path }, decodeStreamPlace);
    const isNear = place.url.startsWith('http:') && place.network === readlinkSync('/proc/self/ns/net');
    return isNear ? { url: place.url } : target;
  } catch (error) {
    if (isNotFound(error)) return target; // if it is the pod that is not there, the next call says so
    throw error;
  }
}

function commandQuery(container: string, command: string[], wanted: string[]): URLSearchParams {
  const words = command.map((word): [string, string] => ['command', word]);
  return new URLSearchParams([
    ...words,
    ['container', container],
    ...wanted.map((name): [string, string] => [name, 'true']),
  ]);
}
