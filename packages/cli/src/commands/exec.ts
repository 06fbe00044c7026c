import { PodwrightError } from '@podwright/base';
import { podName } from '../client/object-names.ts';
import { printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { type StreamTarget, streamContainer } from './container-streams.ts';
import { namesOwner, podsOfArgument } from './owned-pods.ts';
import { chooseContainer } from './pod-arguments.ts';

export type ExecOptions = {
  namespace: string;
  container?: string;
  stdin?: boolean;
  tty?: boolean;
  quiet?: boolean;
  podRunningTimeout?: number;
};

/** `podwright exec POD -- COMMAND`. Returns the command's exit code, 127 if the command does not exist, or 126 if it cannot be executed. */
export async function exec(
  { config }: CommandContext,
  target: { pod: string; command: string[] },
  options: ExecOptions,
): Promise<number> {
  if (target.command.length === 0) {
    throw new PodwrightError(
      'invalid_argument',
      `exec: the command is missing: 'podwright exec ${target.pod} -- COMMAND', or for a shell 'podwright exec -it ${target.pod} -- sh'`,
    );
  }
  const stdin = options.stdin === true;
  const tty = options.tty === true && stdin && process.stdin.isTTY;
  if (options.tty && !tty && !options.quiet) {
    const why = stdin ? 'standard input is not a terminal' : '-t without -i: standard input is not passed on';
    printError(`podwright: ${why}, so the command gets no terminal either`);
  }
  const call = { kind: 'exec', command: target.command } as const;
  return streamContainer(await findTarget(config.apiSocket, target.pod, options), { call, stdin, tty });
}

/**
 * Determines the container in which to run the command. Reads the pod only if needed: the container is not named, or the argument is
 * `TYPE/NAME`.
 */
async function findTarget(
  socketPath: string,
  argument: string,
  { namespace, container, quiet, podRunningTimeout: timeoutMs }: ExecOptions,
): Promise<StreamTarget> {
  if (container !== undefined && !namesOwner(argument))
    return { socketPath, pod: { metadata: { namespace, name: podName(argument) } }, container };
  const { pods } = await podsOfArgument(socketPath, argument, { namespace, purpose: 'streams', timeoutMs });
  const [pod] = pods;
  const { name, note } = chooseContainer(pod, container);
  if (note !== undefined && !quiet) printError(note);
  return { socketPath, pod, container: name };
}
