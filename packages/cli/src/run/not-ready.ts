import { styleText } from 'node:util';
import { errorMessage, isNotFound, linesOf } from '@podwright/base';
import { type ContainerStatus, type Event, type Pod, podSummary } from '@podwright/kube-api';
import { explainPod, type LogEnd } from '@podwright/kube-view';
import type { NodeClient } from '../client/node-client.ts';
import { escapeLine } from '../output/terminal-text.ts';
import { wrapText } from '../output/wrap.ts';
import { attemptsOf } from './log-follower.ts';
import { quotedLine } from './log-text.ts';
import { containerStatuses, isWell } from './pod-end.ts';
import { containerRows, firstLine, podLabel } from './pod-rows.ts';

/**
 * Limits on the log lines quoted in an explanation: how many are shown, how many characters of each, and the length at which a line is
 * split.
 */
const SHOWN_LINES = 10;
const SHOWN_CHARACTERS = 400;
const MAX_LINE_BYTES = 4 << 10;

/** The container attempt whose log shows why a pod failed. `previous`: it is not the container's latest attempt. */
export type FailureLog = { container: string; containerId: string; previous: boolean };

/** Why a pod is not ready. `containers` lists its containers that are not ready. */
export type Trouble = { reason: string; containers: { name: string; state: string }[]; log: FailureLog | undefined };

/** Whether something in the pod has failed. False for a pod that is merely starting. */
export function isInTrouble(pod: Pod): boolean {
  if (isWell(pod)) return false;
  const hasFailed = ({ ready, lastState: { terminated } }: ContainerStatus) =>
    !ready && (terminated?.exitCode ?? 0) !== 0;
  const looksBad = containerRows(pod).some(({ tone }) => tone === 'bad');
  return pod.status?.phase === 'Failed' || looksBad || containerStatuses(pod).some(hasFailed);
}

/** Determines why a pod is not ready. Pure. */
export function troubleOf(pod: Pod): Trouble {
  const unscheduled = notScheduled(pod);
  const message = pod.status?.message || unscheduled;
  const reason = podSummary(pod).status + (message ? `: ${firstLine(message)}` : '');
  if (unscheduled !== undefined) return { reason, containers: [], log: undefined };
  const statuses = containerStatuses(pod);
  const rows = containerRows(pod);
  const amiss = rows.filter(({ tone }) => tone === 'bad' || tone === 'waiting');
  // if all other containers are running, the pod is not ready because a container has completed
  const containers = (amiss.length > 0 ? amiss : rows.filter(({ tone, role }) => tone === 'done' && role === '')).map(
    ({ container, role, state }) => {
      const status = statuses.find(({ name }) => name === container);
      return { name: role === '' ? container : `${role} ${container}`, state: state + lastEnd(status) };
    },
  );
  return { reason, containers, log: failureLog(statuses) };
}

/** Returns why the pod has not been scheduled, if the scheduler has reported a reason. */
function notScheduled({ status }: Pod): string | undefined {
  const condition = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  return condition?.message || condition?.reason;
}

/** Describes how a container's last attempt terminated; '' if there is none or if the current state already shows a termination. */
function lastEnd(status: ContainerStatus | undefined): string {
  const last = status?.lastState.terminated;
  if (last === undefined || status?.state.terminated !== undefined) return '';
  const why = last.message ? `: ${firstLine(last.message)}` : '';
  return `; last termination: ${last.reason ?? 'Terminated'} (exit code ${last.exitCode}${why})`;
}

/** Returns the log of the first container that failed or, if none failed, of the first one that is running but not ready. */
function failureLog(statuses: ContainerStatus[]): FailureLog | undefined {
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

type PodWarning = Pick<Event, 'type' | 'reason' | 'message'>;

export type ExplainOptions = {
  client: Pick<NodeClient, 'log'>;
  /** The podwright command line, including the global options that select the node. */
  program: string;
  /** The pod's last warning event, if there was one. */
  warning: PodWarning | undefined;
  /** The last event of a claim that the pod is waiting for. */
  claim?: string;
  keptBy: string | undefined;
  signal: AbortSignal;
  /** The terminal's width, used to wrap sentences. Commands are not wrapped, so that they can be copied. */
  width: number | undefined;
};

/**
 * Explains in a paragraph for the terminal why the pod is not ready: the reason, the last lines of the log that shows the failure, and
 * commands for more details. `keptBy`: a command that would retain the pod, set if this command is about to remove it.
 */
export async function explainTrouble(pod: Pod, options: ExplainOptions): Promise<string> {
  const { client, program, warning, claim, keptBy, signal, width } = options;
  const { reason, containers, log } = troubleOf(pod);
  const lines = [styleText('red', escapeLine(`${podLabel(pod)}: ${reason}`), { stream: process.stderr })];
  for (const { name, state } of containers) lines.push(escapeLine(`  ${name}: ${state}`));
  const states = containers.map(({ state }) => state);
  const isShown = warning === undefined || repeats(warning, [reason, ...states]);
  if (log === undefined && !isShown) lines.push(escapeLine(`  ${warningText(warning)}`));
  if (claim !== undefined) lines.push(escapeLine(`  ${claim}`));
  const end = log === undefined ? [] : await failureLines(pod, { ...log, client, signal });
  if (end.length > 0) lines.push(`  the end of the log of ${log!.container}:`, ...end.map((line) => `    ${line}`));
  const advice = adviceFor(pod, { warning, log: log && { ...log, lines: end } });
  if (advice.length > 0) lines.push('  what to do:', ...advice.map((sentence) => escapeLine(`    ${sentence}`)));
  const more =
    keptBy === undefined
      ? ['  more:', ...commandsFor(pod, log)]
      : ['  to keep and inspect it:', keptBy, describeCommand(pod)];
  const [heading, ...commands] = more;
  const shown = commands.map((command) => `    ${program} ${command}`);
  return [wrapText([...lines, heading].join('\n'), width), ...shown].join('\n');
}

/** Returns the advice that `podwright why` would give for the pod. */
function adviceFor(pod: Pod, { warning, log }: { warning: PodWarning | undefined; log: LogEnd | undefined }): string[] {
  const events = warning === undefined ? [] : [warning];
  return explainPod({ pod, events, log, unboundClaims: [], nodes: [], now: Date.now() }).advice;
}

/** Returns the reason of a warning and the first line of its message. */
export const warningText = ({ reason, message }: PodWarning): string => `${reason}: ${firstLine(message)}`;

/** Whether a warning event says the same as one of these texts. */
function repeats(warning: PodWarning, texts: string[]): boolean {
  const message = firstLine(warning.message).replace(/^Error: /, '');
  return texts.some((text) => text.includes(message) || warningText(warning).includes(text));
}

/** Returns commands that show more details about a pod that is not removed. */
function commandsFor(pod: Pod, log: FailureLog | undefined): string[] {
  const logs = `logs ${argumentsOf(pod)} -c ${log?.container}${log?.previous ? ' --previous' : ''}`;
  return [describeCommand(pod), ...(log === undefined ? [] : [logs])];
}

const describeCommand = (pod: Pod) => `describe ${argumentsOf(pod)}`;
const argumentsOf = ({ metadata: { namespace, name } }: Pod) =>
  namespace === 'default' ? name : `${name} -n ${namespace}`;

type LogSource = FailureLog & { client: Pick<NodeClient, 'log'>; signal: AbortSignal };

/** Reads the last lines of the failed attempt's log. If that log no longer exists, reads the latest attempt's log that is not empty. */
async function failureLines(pod: Pod, source: LogSource): Promise<string[]> {
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
