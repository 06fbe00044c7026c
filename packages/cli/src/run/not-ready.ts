import { styleText } from 'node:util';
import { errorMessage, isNotFound, linesOf } from '@podwright/base';
import { type ContainerStatus, type Pod, podSummary } from '@podwright/kube-api';
import type { NodeClient } from '../client/node-client.ts';
import { escapeLine } from '../output/terminal-text.ts';
import { wrapText } from '../output/wrap.ts';
import { attemptsOf } from './log-follower.ts';
import { quotedLine } from './log-text.ts';
import { containerStatuses, isWell } from './pod-end.ts';
import { containerRows, firstLine, podLabel } from './pod-rows.ts';

/** Lines of a log that a paragraph shows, and what it shows of each. */
const SHOWN_LINES = 10;
const SHOWN_CHARACTERS = 400;
const MAX_LINE_BYTES = 4 << 10;

/** The attempt whose log tells most: `previous` if it is not the newest of its container. */
export type TellingLog = { container: string; containerId: string; previous: boolean };

/** Why a pod is not ready; pure. `containers` are those that are not ready either. */
export type Trouble = { reason: string; containers: { name: string; state: string }[]; log: TellingLog | undefined };

/** Whether something has gone wrong with the pod: it is not only on its way. */
export function isInTrouble(pod: Pod): boolean {
  if (isWell(pod)) return false;
  const hasFailed = ({ ready, lastState: { terminated } }: ContainerStatus) =>
    !ready && (terminated?.exitCode ?? 0) !== 0;
  const looksBad = containerRows(pod).some(({ tone }) => tone === 'bad');
  return pod.status?.phase === 'Failed' || looksBad || containerStatuses(pod).some(hasFailed);
}

/** What keeps a pod from being ready, for one that is not. */
export function troubleOf(pod: Pod): Trouble {
  const { message } = pod.status ?? {};
  const reason = podSummary(pod).status + (message ? `: ${firstLine(message)}` : '');
  const statuses = containerStatuses(pod);
  const rows = containerRows(pod);
  const amiss = rows.filter(({ tone }) => tone === 'bad' || tone === 'waiting');
  // of a pod that goes on without one of its containers, that is it
  const containers = (amiss.length > 0 ? amiss : rows.filter(({ tone, role }) => tone === 'done' && role === '')).map(
    ({ container, role, state }) => {
      const status = statuses.find(({ name }) => name === container);
      return { name: role === '' ? container : `${role} ${container}`, state: state + lastEnd(status) };
    },
  );
  return { reason, containers, log: tellingLog(statuses) };
}

/** How the last attempt ended, where the state itself does not tell. */
function lastEnd(status: ContainerStatus | undefined): string {
  const last = status?.lastState.terminated;
  if (last === undefined || status?.state.terminated !== undefined) return '';
  const why = last.message ? `: ${firstLine(last.message)}` : '';
  return `; the last time ${last.reason ?? 'Terminated'} (exit code ${last.exitCode}${why})`;
}

/** The log of the first container that failed; else of the first that runs and is not ready. */
function tellingLog(statuses: ContainerStatus[]): TellingLog | undefined {
  for (const status of statuses) {
    const ends = [status.state.terminated, status.lastState.terminated];
    const failed = ends.find((end) => end !== undefined && end.exitCode !== 0);
    if (failed?.containerID === undefined) continue;
    const previous = attemptsOf(status).at(-1) !== failed.containerID;
    return { container: status.name, containerId: failed.containerID, previous };
  }
  const unready = statuses.find(({ ready, state }) => !ready && state.running !== undefined);
  const containerId = unready && attemptsOf(unready).at(-1);
  return containerId === undefined ? undefined : { container: unready!.name, containerId, previous: false };
}

export type ExplainOptions = {
  client: Pick<NodeClient, 'log'>;
  /** How the command is called for this node: with the global options that chose it. */
  program: string;
  warning: string | undefined;
  keptBy: string | undefined;
  signal: AbortSignal;
  /** Of the terminal: where sentences are broken; commands never are, as they are copied from there. */
  width: number | undefined;
};

/**
 * A paragraph for a terminal on why the pod is not ready: the reason, the end of the telling log, and the commands that show
 * more. `keptBy` is the command that would keep a pod that will not stay; `warning` is the last event that warned of it.
 */
export async function explainTrouble(pod: Pod, options: ExplainOptions): Promise<string> {
  const { client, program, warning, keptBy, signal, width } = options;
  const { reason, containers, log } = troubleOf(pod);
  const lines = [styleText('red', escapeLine(`${podLabel(pod)}: ${reason}`), { stream: process.stderr })];
  for (const { name, state } of containers) lines.push(escapeLine(`  ${name}: ${state}`));
  const states = containers.map(({ state }) => state);
  const told = warning === undefined || isTold(warning, [reason, ...states]);
  if (log === undefined && !told) lines.push(escapeLine(`  ${warning}`));
  const end = log === undefined ? [] : await tellingLines(pod, { ...log, client, signal });
  if (end.length > 0) lines.push(`  the end of the log of ${log!.container}:`, ...end.map((line) => `    ${line}`));
  const more =
    keptBy === undefined
      ? ['  more:', ...commandsFor(pod, log)]
      : ['  to keep it, and look at it:', keptBy, describeCommand(pod)];
  const [heading, ...commands] = more;
  const shown = commands.map((command) => `    ${program} ${command}`);
  return [wrapText([...lines, heading].join('\n'), width), ...shown].join('\n');
}

/** Whether one of these says what an event, `REASON: MESSAGE`, does, or the event what it says. */
function isTold(warning: string, texts: string[]): boolean {
  const message = warning.replace(/^\w+: (?:Error: )?/, '');
  return texts.some((text) => text.includes(message) || warning.includes(text));
}

/** What shows more of a pod that stays. */
function commandsFor(pod: Pod, log: TellingLog | undefined): string[] {
  const logs = `logs ${argumentsOf(pod)} -c ${log?.container}${log?.previous ? ' --previous' : ''}`;
  return [describeCommand(pod), ...(log === undefined ? [] : [logs])];
}

const describeCommand = (pod: Pod) => `describe ${argumentsOf(pod)}`;
const argumentsOf = ({ metadata: { namespace, name } }: Pod) =>
  namespace === 'default' ? name : `${name} -n ${namespace}`;

type LogSource = TellingLog & { client: Pick<NodeClient, 'log'>; signal: AbortSignal };

/** The attempt that failed may have given way to others meanwhile: then the newest that has said something. */
async function tellingLines(pod: Pod, source: LogSource): Promise<string[]> {
  const status = containerStatuses(pod).find(({ name }) => name === source.container);
  const attempts = status === undefined ? [] : attemptsOf(status).reverse();
  for (const containerId of new Set([source.containerId, ...attempts])) {
    const lines = await lastLines(pod, { ...source, containerId });
    if (lines.length > 0) return lines;
  }
  return [];
}

async function lastLines(pod: Pod, { client, signal, container, containerId }: LogSource): Promise<string[]> {
  try {
    const chunks = await client.log(pod.metadata, { container, containerId, tailLines: SHOWN_LINES }, signal);
    const lines: string[] = [];
    for await (const line of linesOf(chunks, MAX_LINE_BYTES)) {
      lines.push(quotedLine(line.slice(0, SHOWN_CHARACTERS)));
      if (lines.length > SHOWN_LINES) lines.shift();
    }
    return lines;
  } catch (error) {
    if (isNotFound(error) || signal.aborted) return [];
    return [`(it cannot be read: ${escapeLine(errorMessage(error))})`];
  }
}
