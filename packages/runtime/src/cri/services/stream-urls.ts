import { ignoreFailure } from '@podwright/base';
import type { AttachRequest, ExecRequest, PortForwardRequest } from '@podwright/cri';
import type { RemoteProcess, StreamChoice, StreamingServer } from '@podwright/streaming';
import type { PortDialer } from '@podwright/system';
import type { SandboxControllers } from '../../sandbox/sandbox-controllers.ts';
import type { SandboxService } from '../../sandbox/sandbox-service.ts';
import type { ExecSession, TaskRuntime } from '../../tasks/task-runtime.ts';
import { unstartedCommand } from './unstarted-command.ts';

export type StreamUrlsDependencies = {
  server: StreamingServer;
  tasks: TaskRuntime;
  sandboxes: SandboxService;
  controllers: SandboxControllers;
  /** Connects to a port in the network namespace at the given path. */
  dial: PortDialer;
};

const HOST_NETNS = '/proc/self/ns/net';

/**
 * Issues streaming server URLs for exec, attach and port-forward. Each URL is valid only once and expires soon. Requests must refer to
 * running containers or ready sandboxes by full ID.
 */
export class StreamUrls {
  readonly #dependencies: StreamUrlsDependencies;

  constructor(dependencies: StreamUrlsDependencies) {
    this.#dependencies = dependencies;
  }

  async exec({ containerId, cmd, tty, stdin, stdout, stderr }: ExecRequest): Promise<string> {
    const { server, tasks } = this.#dependencies;
    const choice = { stdin, stdout, stderr, tty };
    return server.url({
      kind: 'exec',
      choice,
      start: async (signal, terminalName) => {
        const ended = new AbortController();
        const both = AbortSignal.any([signal, ended.signal]);
        const config = { command: cmd, terminal: tty, terminalName, signal: both };
        try {
          const session = await tasks.exec(containerId, config);
          const exit = session.exit.then(({ exitCode }) => exitCode);
          return remoteProcess(session, choice, { exit, close: () => ended.abort() });
        } catch (error) {
          const state = () => tasks.state(containerId);
          const failed = await unstartedCommand(error, { containerId, command: cmd, tty, state });
          if (failed === undefined) throw error;
          return failed;
        }
      },
    });
  }

  async attach({ containerId, tty, stdin, stdout, stderr }: AttachRequest): Promise<string> {
    const { server, tasks } = this.#dependencies;
    const choice = { stdin, stdout, stderr, tty };
    return server.url({
      kind: 'attach',
      choice,
      start: async (signal) => {
        const ended = new AbortController();
        const session = await tasks.attach(containerId, AbortSignal.any([signal, ended.signal]), { stdin });
        const { promise: exit, resolve, reject } = Promise.withResolvers<number>();
        ignoreFailure(exit, 'the client may disconnect before it is awaited');
        session.stdout.once('error', reject); // the client did not read
        session.stdout.once('close', () => resolve(0));
        return remoteProcess(session, choice, { exit, close: () => ended.abort() });
      },
    });
  }

  async portForward({ podSandboxId, port: ports }: PortForwardRequest): Promise<string> {
    const { server, sandboxes, controllers, dial } = this.#dependencies;
    const record = sandboxes.require(podSandboxId);
    const netns = controllers.of(record).netnsPath(record) ?? HOST_NETNS;
    return server.url({
      kind: 'portforward',
      dial: (port, signal) => dial(netns, port, signal),
      ports: ports.length > 0 ? ports : undefined,
    });
  }
}

/**
 * Returns the remote process of a streaming session, with only the streams that the client has requested. Drains the other output streams,
 * so that the process never blocks on them.
 */
function remoteProcess(
  session: Omit<ExecSession, 'exit'>,
  choice: StreamChoice,
  life: { exit: Promise<number>; close: () => void },
): RemoteProcess {
  if (!choice.stdin) session.stdin.end();
  if (!choice.stdout) session.stdout.resume();
  if (!choice.stderr) session.stderr?.resume();
  return {
    stdin: choice.stdin ? session.stdin : undefined,
    stdout: choice.stdout ? session.stdout : undefined,
    stderr: choice.stderr ? session.stderr : undefined,
    resize: session.resize,
    ...life,
  };
}
