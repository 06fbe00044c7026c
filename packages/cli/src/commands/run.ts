import { isatty } from 'node:tty';
import { counted, errorCode, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { isEndless, isWorkload } from '@podwright/kube-view';
import type { ApplyResult } from '@podwright/node-api';
import type { NodeClient } from '../client/node-client.ts';
import { type EnsuredNode, ensureNode, presumedNode, stopNode } from '../daemon/ensure-node.ts';
import { NODE_ANSWER_TIMEOUT_MS } from '../limits.ts';
import { dryRun } from '../manifests/dry-run.ts';
import { printNotes } from '../manifests/findings.ts';
import { type ManifestOptions, type Manifests, manifestNames, readManifests } from '../manifests/read-manifests.ts';
import { canRedraw } from '../output/terminal.ts';
import { printError } from '../output/terminal-text.ts';
import { keepEndedJobs, suspendedJob } from '../run/ended-jobs.ts';
import { Interrupted, listenForInterrupts } from '../run/interrupt.ts';
import { podLabel } from '../run/pod-rows.ts';
import { applyWithConsent, objectNames, reportAdopted, reportExisting } from '../run/replacing.ts';
import type { Course as AppliedCourse, WatchOptions } from '../run/run-ending.ts';
import { adoptLeftovers, dropAdopted, leftoverRecords, recordRun, uidsOfRuns } from '../run/run-records.ts';
import { RunSession } from '../run/run-session.ts';
import { watchRun } from '../run/watch-run.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type RunOptions = ManifestOptions & Partial<WatchOptions> & { force?: boolean; dryRun?: boolean };

/** `podwright run FILE…`: returns the exit code. */
export async function run(files: string[], options: RunOptions, context: CommandContext): Promise<number> {
  const names = manifestNames('run', files, options);
  const node = presumedNode(context.config);
  const manifests = await readRunnable(names, options, node.client);
  if (options.dryRun) return dryRun(node.client, manifests);
  const program = ['podwright', ...context.configArgs].join(' ');
  const interrupts = listenForInterrupts();
  const prefixed = canRedraw(process.stdout) || containersIn(manifests) > 1 || manifests.others.some(isWorkload);
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
  let isApplied = false;
  try {
    // try to apply first, and start a node only if none responds; checking up front would cost an extra call
    const applied = await apply(manifests, course).catch(async (error: unknown) => {
      if (errorCode(error) !== 'unavailable') throw error;
      course.node = await ensureNode(context, { interrupts, needsApi: needsApi(manifests) }).catch(
        (failure: unknown) => {
          interrupts.first.throwIfAborted(); // Ctrl-C also ends a starting node that is still in the terminal's process group
          throw failure;
        },
      );
      return apply(manifests, course);
    });
    isApplied = true;
    const leftovers = leftoverRecords(state);
    const { objects, adopted, startedNode } = adoptLeftovers(applied.objects, leftovers);
    if (startedNode) course.node = { ...course.node, started: true };
    const made = { objects, startedNode: course.node.started };
    using _record = options.detach ? undefined : recordRun(state, made, interrupts.last);
    dropAdopted(leftovers, adopted);
    reportAdopted(adopted, options.detach);
    if (!options.detach) await keepEndedJobs(course.node.client, objects, manifests.decoded.others);
    const session = new RunSession(course.node.client, { ...applied, objects });
    if (!options.detach) reportExisting(session.existing, uidsOfRuns(state));
    return await watchRun({ ...course, session });
  } finally {
    // even without pods, the node may still have work: a CronJob waits for its schedule, a Service for the pods of another manifest
    if (!(isApplied && options.detach && needsApi(manifests))) await leaveNode(course);
  }
}

/**
 * Reports the pods and the node that `podwright run` may leave behind if it exits without waiting for its pods. They are adopted if the
 * same manifests are run again.
 */
function reportLeft({ node, program }: Course): void {
  const stop = node.started ? `, '${program} stop' ends them and the node` : '';
  printError(`pods of this run may still be there: '${program} ps' lists them${stop}`);
}

/** An invocation of `podwright run`, from its start. It has no session until the manifests have been applied. */
type Course = Omit<AppliedCourse, 'node' | 'options' | 'session'> & {
  node: EnsuredNode;
  options: RunOptions & { detach: boolean };
};

const podsIn = ({ decoded }: Manifests): Pod[] =>
  decoded.objects.flatMap(({ object }) => (object.kind === 'Pod' ? [object] : []));

const containersIn = (manifests: Manifests): number =>
  podsIn(manifests).flatMap(({ spec }) => [...spec.containers, ...(spec.initContainers ?? [])]).length;

const needsApi = ({ decoded }: Manifests): boolean => decoded.needsApi;

/**
 * Reads the manifests, which must contain at least one pod or an object that needs a Kubernetes API (a node started by this command gets
 * one). Before a node is started, rejects anything that cannot work.
 */
async function readRunnable(names: string[], options: RunOptions, client: NodeClient): Promise<Manifests> {
  const { once, detach } = options;
  const refuse = (why: string) => new PodwrightError('invalid_argument', why);
  if (once && detach) throw refuse('run: --once waits for the end of the pods, --detach does not wait; choose one');
  const manifests = await readManifests(names, options, async () => (await client.hasKubernetesApi()) !== false);
  const pods = podsIn(manifests);
  if (pods.length === 0 && !needsApi(manifests))
    throw refuse(`run ${names.join(', ')}: it contains no Pod; 'podwright apply' accepts other objects`);
  if (!once) return manifests;
  const [workload] = manifests.others.filter(isEndless);
  if (workload !== undefined) throw refuse(`run --once: ${objectNames([workload])} never ends; leave out --once`);
  const suspended = suspendedJob(manifests.decoded.others);
  if (suspended !== undefined)
    throw refuse(`run --once: ${objectNames([suspended])} does not end while spec.suspend is true; leave out --once`);
  const endless = pods.find(({ spec }) => spec.restartPolicy === 'Always');
  if (endless === undefined) return manifests;
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
  for (const warning of applied.warnings) printError(`warning: ${warning}`);
  printNotes(applied.findings, decoded);
  return applied;
}

/** Stops the node if this command started it and no other pods are left. */
async function leaveNode({ node, options, program, interrupts }: Course): Promise<void> {
  if (!node.started || interrupts.last.aborted) return;
  using signal = withTimeout(undefined, NODE_ANSWER_TIMEOUT_MS, 'list the pods of the node');
  const others = await raceAbort(node.client.pods(), signal).catch((error: unknown) => {
    if (errorCode(error) === 'unavailable') return undefined; // the node has stopped
    throw error;
  });
  if (others === undefined) return;
  if (others.length === 0) return stopNode(node.client, { removeHostState: true, endPods: false });
  if (options.detach) return;
  printError(
    `the node keeps running: it has ${counted(others.length, 'other pod')}; '${program} ps' lists them, '${program} stop' stops the node`,
  );
}
