/** Shows the pods of `podwright run` and their logs until the command ends, then removes the pods. */
import { raceAbort, withTimeout } from '@podwright/base';
import type { Event, Pod } from '@podwright/kube-api';
import { DETACHED_STEADY_MS, LAST_LOGS_TIMEOUT_MS, START_PATIENCE_MS, STEADY_MS } from '../limits.ts';
import { canRedraw, terminalWidth } from '../output/terminal.ts';
import { printError } from '../output/terminal-text.ts';
import { HeldEvents } from './held-events.ts';
import { Interrupted, timeoutSignal } from './interrupt.ts';
import { TerminalView } from './live-view.ts';
import { LogFollower } from './log-follower.ts';
import { showEvent, showEvents } from './node-feeds.ts';
import { OrderedStates } from './ordered-states.ts';
import { PlainView } from './plain-view.ts';
import { isEnded, isReady, isWell } from './pod-end.ts';
import { podLabel } from './pod-rows.ts';
import { publishedPorts } from './published-ports.ts';
import { objectNames } from './replacing.ts';
import {
  type Course,
  type Ending,
  endEarly,
  explain,
  hasFailed,
  leaveRunning,
  type WatchedCourse,
  type WatchOptions,
} from './run-ending.ts';
import { podTable, type RunView } from './run-view.ts';
import { failsToStart, StartPatience } from './start-patience.ts';

type ShownCourse = WatchedCourse & {
  view: RunView;
  logs: LogFollower | undefined;
  patience: StartPatience | undefined;
  states: OrderedStates;
};

/**
 * Shows the pods of an invocation of `podwright run` until it ends, and returns the exit code. With --detach, it ends when the pods are
 * ready.
 */
export async function watchRun(course: Course): Promise<number> {
  const { session, options } = course;
  const [watching, following] = [new AbortController(), new AbortController()];
  const view = viewFor(options);
  const logs = options.detach ? undefined : followLogs(course, view, following.signal);
  using _logs = session.onPod((pod) => logs?.update(pod));
  const watch = session.watch(watching.signal);
  try {
    const ending = await runToCompletion({ ...course, view, logs });
    if (ending.keep) return ending.exitCode;
    if (ending.early && session.makesPods && !options.quiet) console.error('stopping the pods (Ctrl-C again: at once)');
    await takeDown(course);
    if (logs !== undefined) await drain(logs, new Set(session.existing.map(({ uid = '' }) => uid)));
    return ending.exitCode;
  } finally {
    following.abort();
    watching.abort();
    await watch;
  }
}

/**
 * Returns the view for an invocation of `podwright run`. If standard output is redirected, it receives only the logs, and everything else
 * goes to standard error. With --detach there are no logs, so standard output receives the table.
 */
function viewFor({ quiet, detach }: WatchOptions): RunView {
  const { stdout, stderr } = process;
  if (quiet) return new PlainView({ out: stdout });
  if (canRedraw(stdout)) return new TerminalView(stdout);
  return new PlainView({ out: stdout, status: detach ? stdout : stderr });
}

function followLogs({ node, session, prefixed }: Course, view: RunView, signal: AbortSignal): LogFollower {
  const write = (line: string) => view.log(line);
  return new LogFollower({ client: node.client, write, prefixed, stream: process.stdout, old: session.old, signal });
}

/** Shows the pods until they have terminated or the command ends early. */
async function runToCompletion(given: Omit<ShownCourse, 'warnings' | 'patience' | 'states'>): Promise<Ending> {
  const { session, node, view, logs, interrupts } = given;
  const states = new OrderedStates(view, logs);
  const warnings = new Map<string, Event>();
  using patience = patienceFor(given, warnings);
  const course = { ...given, warnings, patience, states };
  const showing = new AbortController();
  const signal = AbortSignal.any([showing.signal, interrupts.first]);
  const feed = { client: node.client, view, onTransfer: () => patience?.progress(), signal };
  const workloads = session.workloads.objects.map(({ uid }) => uid);
  const uids = () => new Set([...session.uids, ...workloads]);
  const held = workloads.length > 0 ? new HeldEvents() : undefined;
  const events = showEvents({ ...feed, uids, held, old: session.old, warnings });
  using _states = session.onPod((pod) => {
    states.show(pod);
    for (const event of held?.take(pod.metadata.uid) ?? []) showEvent(event, { view, warnings });
  });
  try {
    return await untilEnd(course);
  } catch (error) {
    view.settle();
    return await endEarly(course, error);
  } finally {
    showing.abort();
    await events;
  }
}

/**
 * Limits how long pods may fail to start with --once and --detach, which are often used in scripts. Otherwise, a user is watching, who can
 * stop the command.
 */
function patienceFor(
  { session, options }: Pick<ShownCourse, 'session' | 'options'>,
  warnings: ReadonlyMap<string, Event>,
): StartPatience | undefined {
  if (options.timeout !== undefined || !(options.once || options.detach)) return undefined;
  const isStuck = () => [...session.pods.values()].some((pod) => failsToStart(pod, warnings.has(pod.metadata.uid)));
  return new StartPatience(isStuck, START_PATIENCE_MS);
}

async function untilEnd(course: ShownCourse): Promise<Ending> {
  const { session, options, view, states, logs, patience, interrupts } = course;
  const late = patience?.signal ?? timeoutSignal(options.timeout);
  const inTime = AbortSignal.any([interrupts.first, late]);
  await session.settled(inTime, options.detach ? DETACHED_STEADY_MS : STEADY_MS);
  const pods = () => [...session.pods.values()];
  await states.caughtUp();
  view.settle(pods().length === 0 ? undefined : podTable(pods(), session.tookMs, terminalWidth()));
  view.note(pods().filter(isReady).flatMap(publishedPorts));
  view.note(session.idleWorkloads.map(({ object, progress }) => `${objectNames([object])}: ${progress}`));
  if (options.detach) return leaveRunning(course);
  const explained = pods().every(isEnded) ? [] : pods().filter((pod) => !isWell(pod));
  await explain(course, explained);
  await session.ended(options.once ? inTime : AbortSignal.any([interrupts.first, whenNotWell(inTime, pods)]));
  if (logs !== undefined) await drain(logs);
  for (const pod of session.deletedByOthers)
    printError(`${podLabel(pod)}: deleted by another command before it had ended`);
  for (const workload of session.lostWorkloads)
    printError(`${objectNames([workload])}: deleted by another command before it had finished`);
  const known = new Set([...explained, ...session.deletedByOthers].map(({ metadata }) => metadata.uid));
  await explain(
    course,
    pods().filter((pod) => hasFailed(pod) && !known.has(pod.metadata.uid)),
  );
  return { exitCode: session.exitCode(), early: false, keep: false };
}

/**
 * Returns a signal that aborts when `inTime` does, but only if a pod is not ready at that moment. Having been ready before does not count,
 * because a crash-looping pod is ready from time to time.
 */
function whenNotWell(inTime: AbortSignal, pods: () => Pod[]): AbortSignal {
  const late = new AbortController();
  const look = () => {
    if (pods().some((pod) => !isWell(pod) && !isEnded(pod))) late.abort(inTime.reason);
  };
  inTime.addEventListener('abort', look, { once: true });
  return late.signal;
}

/** Waits a limited time for the remaining logs, except those of pods that are not removed. */
async function drain(logs: LogFollower, staying?: ReadonlySet<string>): Promise<void> {
  using signal = withTimeout(undefined, LAST_LOGS_TIMEOUT_MS, 'read the logs');
  await raceAbort(logs.drain(staying), signal).catch(() => undefined);
}

/** Stops the pods gracefully. A second Ctrl-C kills them; a third one, at least a second later, stops waiting for the node. */
async function takeDown({ session, interrupts }: Course): Promise<void> {
  try {
    await session.remove(undefined, interrupts.again);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    console.error('killing the pods (Ctrl-C again: leave that to the node)');
    await session.remove(0, interrupts.last);
  }
}
