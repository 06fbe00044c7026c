import { isatty } from 'node:tty';
import { counted, errorCode, errorMessage, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { ApplyResult } from '@podwright/node-api';
import { type EnsuredNode, ensureNode, presumedNode, stopNode } from '../daemon/ensure-node.ts';
import {
  DETACHED_STEADY_MS,
  LAST_LOGS_TIMEOUT_MS,
  NODE_ANSWER_TIMEOUT_MS,
  START_PATIENCE_MS,
  STEADY_MS,
} from '../limits.ts';
import { dryRun } from '../manifests/dry-run.ts';
import { printNotes } from '../manifests/findings.ts';
import { type ManifestOptions, type Manifests, manifestNames, readManifests } from '../manifests/read-manifests.ts';
import { canRedraw, terminalWidth } from '../output/terminal.ts';
import { printError, printProse } from '../output/terminal-text.ts';
import { Interrupted, type Interrupts, listenForInterrupts, TimedOut, timeoutSignal } from '../run/interrupt.ts';
import { TerminalView } from '../run/live-view.ts';
import { LogFollower } from '../run/log-follower.ts';
import { showEvents } from '../run/node-feeds.ts';
import { explainTrouble, isInTrouble } from '../run/not-ready.ts';
import { OrderedStates } from '../run/ordered-states.ts';
import { PlainView } from '../run/plain-view.ts';
import { isEnded, isReady, isWell, lacksImage, lostContainers } from '../run/pod-end.ts';
import { podLabel } from '../run/pod-rows.ts';
import { publishedPorts } from '../run/published-ports.ts';
import { applyWithConsent, reportAdopted, reportExisting } from '../run/replacing.ts';
import { adoptLeftovers, dropAdopted, leftoverRecords, recordRun, uidsOfRuns } from '../run/run-records.ts';
import { RunSession } from '../run/run-session.ts';
import { podTable, type RunView } from '../run/run-view.ts';
import { failsToStart, NotStarted, StartPatience } from '../run/start-patience.ts';
import type { CommandContext } from '../settings/node-config.ts';

/** `timeout`, in ms, limits the time until the pods are ready or, with `once`, until they have terminated. */
export type RunOptions = ManifestOptions & {
  once?: boolean;
  detach?: boolean;
  timeout?: number;
  force?: boolean;
  quiet?: boolean;
  dryRun?: boolean;
};

/** `podwright run FILE…`: returns the exit code. */
export async function run(files: string[], options: RunOptions, context: CommandContext): Promise<number> {
  const names = manifestNames('run', files, options);
  const manifests = await readRunnable(names, options);
  const node = presumedNode(context.config);
  if (options.dryRun) return dryRun(node.client, manifests);
  const program = ['podwright', ...context.configArgs].join(' ');
  const interrupts = listenForInterrupts();
  const prefixed = canRedraw(process.stdout) || containersIn(manifests) > 1;
  const course = {
    node,
    program,
    options: { ...options, detach: options.detach ?? false },
    names,
    prefixed,
    interrupts,
  };
  try {
    return await raceAbort(runOnNode(manifests, course, context), interrupts.last);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    if (interrupts.last.aborted) reportLeft(course);
    return error.exitCode;
  }
}

/** Applies the manifests and runs the session. If no node is running, starts one and sets `course.node`. */
async function runOnNode(manifests: Manifests, course: Course, context: CommandContext): Promise<number> {
  const { interrupts, options } = course;
  const { state } = context.config;
  try {
    // try to apply first: if that fails, no node is running; checking for it up front would cost an extra call
    const applied = await apply(manifests, course).catch(async (error: unknown) => {
      if (errorCode(error) !== 'unavailable') throw error;
      course.node = await ensureNode(context, interrupts).catch((failure: unknown) => {
        interrupts.first.throwIfAborted(); // Ctrl-C also ends a starting node that is still in the terminal's process group
        throw failure;
      });
      return apply(manifests, course);
    });
    const leftovers = leftoverRecords(state);
    const { objects, adopted, startedNode } = adoptLeftovers(applied.objects, leftovers);
    if (startedNode) course.node = { ...course.node, started: true };
    const made = { objects, startedNode: course.node.started };
    using _record = options.detach ? undefined : recordRun(state, made, interrupts.last);
    dropAdopted(leftovers, adopted);
    reportAdopted(adopted, options.detach);
    const session = new RunSession(course.node.client, { ...applied, objects });
    if (!options.detach) reportExisting(session.existing, uidsOfRuns(state));
    return await runSession({ ...course, session });
  } finally {
    await leaveNode(course);
  }
}

/** Reports what may remain of a run that exited without waiting for its pods. The next run of these manifests takes them over. */
function reportLeft({ node, program }: Course): void {
  const stop = node.started ? `, '${program} stop' ends them and the node` : '';
  printError(`pods of this run may still be there: '${program} ps' lists them${stop}`);
}

type Course = {
  node: EnsuredNode;
  program: string;
  options: RunOptions & { detach: boolean };
  names: string[];
  /** Whether log lines are prefixed with the names of the pod and container. */
  prefixed: boolean;
  interrupts: Interrupts;
};
type SessionCourse = Course & { session: RunSession };
type ShownCourse = SessionCourse & {
  view: RunView;
  logs: LogFollower | undefined;
  /** The most recent warning event of each pod, by UID. */
  warnings: Map<string, string>;
  patience: StartPatience | undefined;
  states: OrderedStates;
};

const podsIn = ({ decoded }: Manifests): Pod[] =>
  decoded.objects.flatMap(({ object }) => (object.kind === 'Pod' ? [object] : []));

const containersIn = (manifests: Manifests): number =>
  podsIn(manifests).flatMap(({ spec }) => [...spec.containers, ...(spec.initContainers ?? [])]).length;

/** Reads the manifests, which must contain at least one pod. Rejects whatever cannot work before a node is started. */
async function readRunnable(names: string[], options: RunOptions): Promise<Manifests> {
  const { once, detach } = options;
  const refuse = (why: string) => new PodwrightError('invalid_argument', why);
  if (once && detach) throw refuse('run: --once waits for the end of the pods, --detach does not wait; choose one');
  const manifests = await readManifests(names, options);
  const pods = podsIn(manifests);
  if (pods.length === 0)
    throw refuse(`run ${names.join(', ')}: it contains no Pod; 'podwright apply' accepts other objects`);
  const endless = pods.find(({ spec }) => spec.restartPolicy === 'Always');
  if (!once || endless === undefined) return manifests;
  throw refuse(
    `run --once: pod ${podLabel(endless)} never ends, as its restartPolicy is Always (the default); ` +
      'give it Never or OnFailure, or leave out --once',
  );
}

async function apply({ text, decoded }: Manifests, { node, options, names, interrupts }: Course): Promise<ApplyResult> {
  const signal = interrupts.first;
  signal.throwIfAborted();
  const canAsk = isatty(0) && isatty(2) && !names.includes('-');
  const applied = await applyWithConsent(text, { client: node.client, force: options.force ?? false, canAsk, signal });
  printNotes(applied.findings, decoded);
  return applied;
}

async function runSession(course: SessionCourse): Promise<number> {
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
 * If standard output is redirected, it receives only the logs, and everything else goes to standard error. With --detach there are no logs,
 * so standard output receives the table.
 */
function viewFor({ quiet, detach }: RunOptions): RunView {
  const { stdout, stderr } = process;
  if (quiet) return new PlainView({ out: stdout });
  if (canRedraw(stdout)) return new TerminalView(stdout);
  return new PlainView({ out: stdout, status: detach ? stdout : stderr });
}

function followLogs({ node, session, prefixed }: SessionCourse, view: RunView, signal: AbortSignal): LogFollower {
  const write = (line: string) => view.log(line);
  return new LogFollower({ client: node.client, write, prefixed, stream: process.stdout, old: session.old, signal });
}

/** How a run ended. `early`: before its pods did. `keep`: the pods are not removed. */
type Ending = { exitCode: number; early: boolean; keep: boolean };

/** Shows the pods until they have terminated or the run ends early. */
async function runToCompletion(given: Omit<ShownCourse, 'warnings' | 'patience' | 'states'>): Promise<Ending> {
  const { session, node, view, logs, interrupts } = given;
  const states = new OrderedStates(view, logs);
  const warnings = new Map<string, string>();
  using patience = patienceFor(given, warnings);
  const course = { ...given, warnings, patience, states };
  const showing = new AbortController();
  const signal = AbortSignal.any([showing.signal, interrupts.first]);
  const feed = { client: node.client, view, onTransfer: () => patience?.progress(), signal };
  const events = showEvents({ ...feed, uids: new Set(session.uids), old: session.old, warnings });
  using _states = session.onPod((pod) => states.show(pod));
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
 * Limits how long pods may fail to start with --once and --detach, which are often used in scripts. Without these options, a user is
 * watching and can decide.
 */
function patienceFor(
  { session, options }: Pick<ShownCourse, 'session' | 'options'>,
  warnings: ReadonlyMap<string, string>,
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
  view.settle(podTable(pods(), session.tookMs, terminalWidth()));
  view.note(pods().filter(isReady).flatMap(publishedPorts));
  if (options.detach) return leaveRunning(course);
  const explained = pods().every(isEnded) ? [] : pods().filter((pod) => !isWell(pod));
  await explain(course, explained);
  await session.ended(options.once ? inTime : AbortSignal.any([interrupts.first, whenNotWell(inTime, pods)]));
  if (logs !== undefined) await drain(logs);
  for (const pod of session.deletedByOthers)
    printError(`${podLabel(pod)}: deleted by another command before it had ended`);
  const known = new Set([...explained, ...session.deletedByOthers].map(({ metadata }) => metadata.uid));
  await explain(
    course,
    pods().filter((pod) => hasFailed(pod) && !known.has(pod.metadata.uid)),
  );
  return { exitCode: session.exitCode(), early: false, keep: false };
}

const hasFailed = (pod: Pod) => pod.status?.phase === 'Failed' || lacksImage(pod);

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

/** Ends a run with --detach. Failures are reported now, because the command stops watching the pods. */
async function leaveRunning(course: ShownCourse): Promise<Ending> {
  const pods = [...course.session.pods.values()];
  const troubled = pods.filter((pod) => hasFailed(pod) || lostContainers(pod).length > 0);
  await explain(course, troubled);
  reportRunning(pods, course.program);
  const failed = troubled.length > 0 || course.session.deletedByOthers.length > 0;
  return { exitCode: failed ? 1 : 0, early: false, keep: true };
}

function reportRunning(pods: Pod[], program: string): void {
  const staying = pods.filter((pod) => !isEnded(pod));
  if (staying.length === 0) return;
  const [run, stay] = staying.length === 1 ? ['keeps running', 'stays'] : ['keep running', 'stay'];
  const what = staying.every(isWell) ? run : stay; // a pod that was never ready may not have started
  printProse(`${counted(staying.length, 'pod')} ${what}; see '${program} ps', also logs, exec, describe, delete, stop`);
}

/** Ends a run after a timeout, a signal or an error. If the node has stopped, its pods cannot be removed. */
async function endEarly(course: ShownCourse, error: unknown): Promise<Ending> {
  const { session, options, program } = course;
  const pods = [...session.pods.values()];
  if (error instanceof TimedOut || error instanceof NotStarted) {
    const late = pods.filter((pod) => isLate(pod, course, error));
    printError(`podwright: ${lateness(error, options)}: ${late.map(podLabel).join(', ')}`);
    await explain(course, late);
    if (options.detach) reportRunning(pods, program);
    return { exitCode: 1, early: true, keep: options.detach };
  }
  if (error instanceof Interrupted) {
    await explain(course, pods.filter(isInTrouble));
    if (options.detach) reportRunning(pods, program);
    return { exitCode: error.exitCode, early: true, keep: options.detach };
  }
  printError(`podwright: ${errorMessage(error)}`);
  return { exitCode: 1, early: true, keep: options.detach || errorCode(error) === 'unavailable' };
}

function isLate(pod: Pod, { options, warnings }: ShownCourse, error: TimedOut | NotStarted): boolean {
  if (error instanceof NotStarted) return failsToStart(pod, warnings.has(pod.metadata.uid));
  return !(options.once ? isEnded(pod) : isReady(pod));
}

function lateness(error: TimedOut | NotStarted, { once }: RunOptions): string {
  if (error instanceof NotStarted)
    return `no container has started within ${error.seconds} s ('--timeout 10m' waits longer)`;
  return `not ${once ? 'ended' : 'ready'} within ${error.seconds} s (--timeout)`;
}

/** Prints a paragraph about each pod on standard error. */
async function explain(course: ShownCourse, pods: Pod[]): Promise<void> {
  const { session, node, program, options, names, interrupts, warnings } = course;
  using signal = withTimeout(interrupts.again, NODE_ANSWER_TIMEOUT_MS, 'read the logs');
  for (const pod of pods) {
    const keeps = options.detach || !session.isMade(pod);
    const within = options.namespace === undefined ? '' : `-n ${options.namespace} `;
    const keptBy = keeps ? undefined : `run --detach ${within}${names.join(' ')}`;
    const warning = warnings.get(pod.metadata.uid);
    const width = terminalWidth(process.stderr);
    console.error(await explainTrouble(pod, { client: node.client, program, warning, keptBy, signal, width }));
  }
}

/** Waits a limited time for the remaining logs, except those of pods that are not removed. */
async function drain(logs: LogFollower, staying?: ReadonlySet<string>): Promise<void> {
  using signal = withTimeout(undefined, LAST_LOGS_TIMEOUT_MS, 'read the logs');
  await raceAbort(logs.drain(staying), signal).catch(() => undefined);
}

/** Stops the pods gracefully. A second Ctrl-C kills them; a third one, at least a second later, stops waiting for the node. */
async function takeDown({ session, interrupts }: SessionCourse): Promise<void> {
  try {
    await session.remove(undefined, interrupts.again);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    console.error('killing the pods (Ctrl-C again: leave that to the node)');
    await session.remove(0, interrupts.last);
  }
}

/** Stops the node if this command started it and no other pods are left. */
async function leaveNode({ node, options, program, interrupts }: Course): Promise<void> {
  if (!node.started || interrupts.last.aborted) return;
  using signal = withTimeout(undefined, NODE_ANSWER_TIMEOUT_MS, 'list the pods of the node');
  const others = await raceAbort(node.client.pods(), signal).catch((error: unknown) => {
    if (errorCode(error) === 'unavailable') return undefined; // the node has ended
    throw error;
  });
  if (others === undefined) return;
  if (others.length === 0) return stopNode(node.client, { removeHostState: true, endPods: false });
  if (options.detach) return;
  printError(
    `the node keeps running: it has ${counted(others.length, 'other pod')}; '${program} ps' lists them, '${program} stop' stops the node`,
  );
}
