import { once } from 'node:events';
import { counted, errorMessage, linesOf, PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { type LogOptions, NodeClient } from '../client/node-client.ts';
import { POD } from '../client/object-names.ts';
import { MAX_LOG_LINE_BYTES } from '../limits.ts';
import { escapeLine, printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { nothingFound } from './get-options.ts';
import { podsOfArgument } from './owned-pods.ts';
import { chooseContainer } from './pod-arguments.ts';

export type LogsOptions = {
  namespace: string;
  container?: string;
  allContainers?: boolean;
  allPods?: boolean;
  podRunningTimeout?: number;
  selector?: string;
  prefix?: boolean;
  maxLogRequests: number;
  follow?: boolean;
  previous?: boolean;
  tail?: number;
  /** Shows only log lines from the last `since` milliseconds. */
  since?: number;
  sinceTime?: string;
  limitBytes?: number;
  timestamps?: boolean;
};

/** Default for `--tail` if a selector is given, as in kubectl. */
const SELECTED_TAIL_LINES = 10;

type Source = { pod: Pod; container: string };

/** `podwright logs POD [CONTAINER]`. Returns exit code 1 if one of several logs could not be read. */
export async function logs(
  { config }: CommandContext,
  target: { pod?: string; container?: string },
  options: LogsOptions,
): Promise<number> {
  checkOptions(target, options);
  const client = new NodeClient(config.apiSocket);
  const sources = await findSources(config.apiSocket, target, options);
  const prefix = options.prefix ?? options.allPods ?? false;
  if (options.follow && sources.length > options.maxLogRequests) {
    const message = `cannot follow ${sources.length} logs: the limit is ${options.maxLogRequests}; raise it with --max-log-requests ${sources.length}`;
    throw new PodwrightError('invalid_argument', message);
  }
  const read = (source: Source) => client.log(source.pod.metadata, logQuery(source, options));
  const [only] = sources;
  if (only === undefined) return 0;
  if (sources.length === 1 && !prefix) {
    for await (const chunk of await read(only)) await write(chunk);
    return 0;
  }
  const show = (source: Source) => showLines(source, { read, prefix });
  if (options.follow) return Math.max(...(await Promise.all(sources.map(show))));
  let exitCode = 0;
  for (const source of sources) exitCode = Math.max(exitCode, await show(source));
  return exitCode;
}

function checkOptions(target: { pod?: string; container?: string }, options: LogsOptions): void {
  const { selector, container, allContainers, since, sinceTime } = options;
  const named = target.container ?? container;
  const problem = [
    [target.pod === undefined && selector === undefined, 'name a pod, or select pods by labels with -l'],
    [
      target.pod !== undefined && selector !== undefined,
      'either a pod by its name or pods by their labels (-l), not both',
    ],
    [
      target.container !== undefined && container !== undefined,
      'the container is named twice, as an argument and with -c',
    ],
    [allContainers === true && named !== undefined, `either --all-containers or the container ${named}, not both`],
    [since !== undefined && sinceTime !== undefined, 'either --since or --since-time, not both'],
  ].find(([wrong]) => wrong)?.[1];
  if (problem !== undefined) throw new PodwrightError('invalid_argument', `logs: ${problem}`);
}

async function findSources(
  socketPath: string,
  target: { pod?: string; container?: string },
  { namespace, selector, ...options }: LogsOptions,
): Promise<Source[]> {
  const pods =
    target.pod === undefined
      ? await selectPods(new NodeClient(socketPath), selector!, namespace)
      : await podsOfTarget(socketPath, target.pod, { namespace, ...options });
  return pods.flatMap((pod): Source[] => {
    if (options.allContainers) {
      const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
      return [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => ({ pod, container: name }));
    }
    const { name, note } = chooseContainer(pod, target.container ?? options.container);
    if (note !== undefined) printError(note);
    return [{ pod, container: name }];
  });
}

/** Returns the named pod. For a workload, returns all its pods with `allPods`, otherwise the one with the most useful log. */
async function podsOfTarget(
  socketPath: string,
  argument: string,
  {
    namespace,
    allPods,
    podRunningTimeout: timeoutMs,
  }: Pick<LogsOptions, 'namespace' | 'allPods' | 'podRunningTimeout'>,
): Promise<Pod[]> {
  const { pods } = await podsOfArgument(socketPath, argument, { namespace, purpose: 'logs', timeoutMs });
  if (allPods) return pods;
  const [pod] = pods;
  if (pods.length > 1) printError(`Found ${counted(pods.length, 'pod')}, using pod/${pod.metadata.name}`);
  return [pod];
}

async function selectPods(client: NodeClient, selector: string, namespace: string): Promise<Pod[]> {
  const pods = await client.pods({ namespace, labelSelector: selector });
  if (pods.length === 0) printError(nothingFound([POD], { namespace, selector }));
  return pods;
}

/** Returns the request options for a container's log. As in kubectl, a `since` or `limitBytes` of 0 means no limit. */
export function logQuery(
  { container }: Pick<Source, 'container'>,
  options: Omit<LogsOptions, 'namespace' | 'maxLogRequests'>,
): LogOptions {
  const { follow, previous, timestamps, sinceTime, limitBytes, since } = options;
  const tail = options.tail ?? (options.selector === undefined ? undefined : SELECTED_TAIL_LINES);
  return {
    container,
    follow,
    previous,
    timestamps,
    sinceTime,
    limitBytes: limitBytes || undefined,
    tailLines: tail === -1 ? undefined : tail,
    sinceSeconds: since ? Math.max(1, Math.ceil(since / 1000)) : undefined,
  };
}

/** Prints a log line by line, so that the output of several logs does not mix within a line. Returns the exit code. */
async function showLines(
  { pod, container }: Source,
  how: { read: (source: Source) => Promise<AsyncIterable<Buffer>>; prefix: boolean },
): Promise<number> {
  const name = `pod/${pod.metadata.name}/${container}`;
  const prefix = how.prefix ? escapeLine(`[${name}] `) : '';
  try {
    const chunks = await how.read({ pod, container });
    for await (const line of linesOf(chunks, MAX_LOG_LINE_BYTES)) await write(`${prefix}${line}\n`);
    return 0;
  } catch (error) {
    printError(`podwright: ${name}: ${errorMessage(error)}`);
    return 1;
  }
}

/** Writes part of a log verbatim, including color codes, as kubectl does. */
async function write(text: Buffer | string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
