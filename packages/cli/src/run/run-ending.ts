/** Reports how `podwright run` ended: what keeps running, what failed, and why. */
import { counted, errorCode, errorMessage, withTimeout } from '@podwright/base';
import type { Event, Pod } from '@podwright/kube-api';
import type { NodeClient } from '../client/node-client.ts';
import { NODE_ANSWER_TIMEOUT_MS } from '../limits.ts';
import { terminalWidth } from '../output/terminal.ts';
import { printError, printProse } from '../output/terminal-text.ts';
import { claimWait } from './claim-wait.ts';
import { Interrupted, type Interrupts, TimedOut } from './interrupt.ts';
import { explainTrouble, isInTrouble, warningText } from './not-ready.ts';
import { isEnded, isWell, lacksImage, lostContainers } from './pod-end.ts';
import { podLabel } from './pod-rows.ts';
import { objectNames } from './replacing.ts';
import type { RunSession } from './run-session.ts';
import { failsToStart, NotStarted } from './start-patience.ts';

/** `timeout`, in ms, limits the time until the pods are ready or, with `once`, until they have terminated. */
export type WatchOptions = { once?: boolean; detach: boolean; timeout?: number; quiet?: boolean; namespace?: string };

/** An invocation of `podwright run` whose manifests have already been applied. */
export type Course = {
  node: { client: NodeClient };
  program: string;
  options: WatchOptions;
  names: string[];
  /** Whether log lines are prefixed with the pod and container names. */
  prefixed: boolean;
  interrupts: Interrupts;
  session: RunSession;
};

/** `warnings`: the most recent warning event of each pod, by UID. */
export type WatchedCourse = Course & { warnings: ReadonlyMap<string, Event> };

/** How an invocation of `podwright run` ended. `early`: before its pods had terminated. `keep`: the pods are not removed. */
export type Ending = { exitCode: number; early: boolean; keep: boolean };

export const hasFailed = (pod: Pod): boolean => pod.status?.phase === 'Failed' || lacksImage(pod);

/** Ends `podwright run --detach`. Reports failures now, because the command stops watching the pods. */
export async function leaveRunning(course: WatchedCourse): Promise<Ending> {
  const pods = [...course.session.pods.values()];
  const troubled = pods.filter((pod) => hasFailed(pod) || lostContainers(pod).length > 0);
  await explain(course, troubled);
  if (pods.length === 0) reportObjects(course.session);
  reportRunning(pods, course.program);
  const failed = troubled.length > 0 || course.session.deletedByOthers.length > 0;
  return { exitCode: failed ? 1 : 0, early: false, keep: true };
}

function reportRunning(pods: Pod[], program: string): void {
  const staying = pods.filter((pod) => !isEnded(pod));
  if (staying.length === 0) return;
  const [run, stay] = staying.length === 1 ? ['keeps running', 'stays'] : ['keep running', 'stay'];
  const what = staying.every(isWell) ? run : stay; // a pod that was never ready may still be starting
  printProse(`${counted(staying.length, 'pod')} ${what}; see '${program} ps', also logs, exec, describe, delete, stop`);
}

/** Reports what was applied if there are no pods, for example a Service, or a CronJob that has not created a Job yet. */
function reportObjects({ workloads, objectCount }: RunSession): void {
  for (const object of workloads.objects)
    printProse(`${objectNames([object])}: ${workloads.stateOf(object.uid)?.progress}`);
  if (workloads.objects.length === 0)
    printProse(`applied ${counted(objectCount, 'object')}; none of them creates pods`);
}

/** Ends `podwright run` after a timeout, a signal or an error. If the node has stopped, its pods cannot be removed. */
export async function endEarly(course: WatchedCourse, error: unknown): Promise<Ending> {
  const { session, options, program } = course;
  const pods = [...session.pods.values()];
  if (error instanceof TimedOut || error instanceof NotStarted) {
    const late = pods.filter((pod) => isLate(pod, course, error));
    const { incomplete } = session;
    const names = [...late.map(podLabel), ...incomplete.map(({ object }) => objectNames([object]))];
    printError(`podwright: ${lateness(error, options)}: ${names.join(', ')}`);
    await explain(course, late);
    explainWorkloads(course);
    if (options.detach) reportRunning(pods, program);
    return { exitCode: 1, early: true, keep: options.detach };
  }
  if (error instanceof Interrupted) {
    await explain(course, pods.filter(isInTrouble));
    explainWorkloads(course);
    if (options.detach) reportRunning(pods, program);
    return { exitCode: error.exitCode, early: true, keep: options.detach };
  }
  printError(`podwright: ${errorMessage(error)}`);
  return { exitCode: 1, early: true, keep: options.detach || errorCode(error) === 'unavailable' };
}

function isLate(pod: Pod, { options, warnings }: WatchedCourse, error: TimedOut | NotStarted): boolean {
  if (error instanceof NotStarted) return failsToStart(pod, warnings.has(pod.metadata.uid));
  return !(options.once ? isEnded(pod) : isWell(pod));
}

function lateness(error: TimedOut | NotStarted, { once }: WatchOptions): string {
  if (error instanceof NotStarted)
    return `no container has started within ${error.seconds} s ('--timeout 10m' waits longer)`;
  return `not ${once ? 'ended' : 'ready'} within ${error.seconds} s (--timeout)`;
}

/** Prints a line for each workload that does not have all its pods available. */
function explainWorkloads({ session, warnings }: WatchedCourse): void {
  for (const { object, progress, failure } of session.incomplete) {
    const warning = warnings.get(object.uid ?? '');
    const why = failure ?? (warning && warningText(warning));
    printError(`${objectNames([object])}: ${progress}${why === undefined ? '' : `: ${why}`}`);
  }
}

/** Prints a paragraph about each of these pods that explains why it is not ready, on standard error. */
export async function explain(course: WatchedCourse, pods: Pod[]): Promise<void> {
  const { session, node, program, options, names, interrupts, warnings } = course;
  using signal = withTimeout(interrupts.again, NODE_ANSWER_TIMEOUT_MS, 'read the logs');
  const events = pods.some(({ spec }) => !spec.nodeName) ? await node.client.events().catch(() => []) : [];
  for (const pod of pods) {
    const keeps = options.detach || !session.isMade(pod);
    const within = options.namespace === undefined ? '' : `-n ${options.namespace} `;
    const keptBy = keeps ? undefined : `run --detach ${within}${names.join(' ')}`;
    const warning = warnings.get(pod.metadata.uid);
    const width = terminalWidth(process.stderr);
    console.error(
      await explainTrouble(pod, {
        ...{ client: node.client, program, warning, keptBy, signal, width },
        claim: claimWait(pod, events),
      }),
    );
  }
}
