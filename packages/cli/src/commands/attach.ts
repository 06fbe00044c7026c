import type { Pod } from '@podwright/kube-api';
import { printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { type StreamTarget, streamContainer } from './container-streams.ts';
import { podsOfArgument } from './owned-pods.ts';
import { chooseContainer } from './pod-arguments.ts';
import { DetachKeys } from './terminal.ts';

export type AttachOptions = {
  namespace: string;
  container?: string;
  stdin?: boolean;
  tty?: boolean;
  quiet?: boolean;
  podRunningTimeout?: number;
};

/**
 * `podwright attach POD`: attaches to a container's main process until it exits or, on a terminal, Ctrl-P Ctrl-Q is pressed. After
 * detaching, the container keeps running.
 */
export async function attach({ config }: CommandContext, argument: string, options: AttachOptions): Promise<number> {
  const { namespace, podRunningTimeout: timeoutMs } = options;
  const { pods } = await podsOfArgument(config.apiSocket, argument, { namespace, purpose: 'streams', timeoutMs });
  const [pod] = pods;
  const { name, note } = chooseContainer(pod, options.container);
  if (note !== undefined && !options.quiet) printError(note);
  return attachContainer({ socketPath: config.apiSocket, pod, container: name }, options);
}

/** Attaches this process's terminal or streams to a container that the caller has already found in its pod. */
export async function attachContainer(
  target: StreamTarget & { pod: Pod },
  options: Pick<AttachOptions, 'stdin' | 'tty' | 'quiet'>,
): Promise<number> {
  const { pod, container: name } = target;
  const { tty, stdin } = streamsOf(pod, name, options);
  const keyboard = tty && stdin && process.stdin.isTTY;
  const detached = new AbortController();
  const keys = new DetachKeys(() => detached.abort());
  if (keyboard) {
    if (!options.quiet)
      printError(
        'Attached; Ctrl-P Ctrl-Q detaches and leaves the container running. Press Enter if there is no prompt.',
      );
    process.stdin.pipe(keys);
  }
  try {
    return await streamContainer(target, {
      call: { kind: 'attach' },
      stdin,
      tty,
      keys: keyboard ? keys : undefined,
      signal: detached.signal,
    });
  } catch (error) {
    if (!detached.signal.aborted) throw error;
    printError(`\ndetached from container ${name} of pod ${pod.metadata.name}, which keeps running`);
    return 0;
  }
}

/**
 * Returns which streams to attach: the terminal if the container's spec has `tty`, and standard input if it was requested and the spec has
 * `stdin`. Reports requested streams that the spec lacks.
 */
function streamsOf(
  pod: Pod,
  name: string,
  options: Pick<AttachOptions, 'stdin' | 'tty' | 'quiet'>,
): { tty: boolean; stdin: boolean } {
  const { containers: own, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const containers = [...own, ...initContainers, ...ephemeralContainers];
  const { tty = false, stdin = false } = containers.find((container) => container.name === name)!;
  const lacks = (what: string) => {
    if (!options.quiet) printError(`podwright: container ${name} has no ${what} in its spec; ignoring the option`);
  };
  if (options.tty && !tty) lacks('terminal (tty: true)');
  if (options.stdin && !stdin) lacks('standard input (stdin: true)');
  return { tty, stdin: options.stdin === true && stdin };
}
