import { errorMessage, PodwrightError } from '@podwright/base';
import { type EnsuredNode, ensureNode, stopNode } from '../daemon/ensure-node.ts';
import { printError } from '../output/terminal-text.ts';
import { PlainView, podTable, type RunView, TerminalView } from '../run/live-view.ts';
import { LogFollower } from '../run/log-follower.ts';
import { readManifests } from '../run/manifests.ts';
import { exitCodeOf, failureLines, isEnded } from '../run/pod-rows.ts';
import {
  Interrupted,
  interruptSignals,
  RunSession,
  showEvents,
  showTransfers,
  timeoutSignal,
} from '../run/run-session.ts';
import type { CommandContext } from '../settings/node-config.ts';

/** `timeout` in ms: for the pods to be ready, and with `once` for them to end. */
export type RunOptions = { once?: boolean; detach?: boolean; timeout?: number };

/** `podwright run FILE…`: returns the exit code. */
export async function run(files: string[], options: RunOptions, context: CommandContext): Promise<number> {
  const manifest = readRunnable(files);
  const signals = interruptSignals();
  const node = await ensureNode(context.config, context.configArgs);
  try {
    const session = new RunSession(node.client, await node.client.apply(manifest));
    return await runSession(session, { node, options, signals });
  } finally {
    await leaveNode(node, options);
  }
}

type RunContext = { node: EnsuredNode; options: RunOptions; signals: ReturnType<typeof interruptSignals> };

async function runSession(session: RunSession, { node, options, signals }: RunContext): Promise<number> {
  const watching = new AbortController();
  const watch = session.watch(watching.signal);
  const inTime = AbortSignal.any([signals.first, timeoutSignal(options.timeout)]);
  let exitCode = 0;
  try {
    await comeUp(session, { node, stop: inTime });
    if (options.detach) return leaveRunning(session);
    const stop = options.once ? inTime : signals.first;
    exitCode = await followLogs(session, { node, once: options.once ?? false, stop });
  } catch (error) {
    exitCode = explain(error);
  } finally {
    try {
      if (exitCode !== 0 || !options.detach) await takeDown(session, signals.again);
    } finally {
      watching.abort(); // or the command would not end
      await watch;
    }
  }
  return exitCode;
}

/** `run` is for pods; other objects may come along. */
function readRunnable(files: string[]): string {
  const { text, objects } = readManifests(files);
  if (objects.some(({ kind }) => kind === 'Pod')) return text;
  throw new PodwrightError(
    'invalid_argument',
    `run ${files.join(', ')}: no Pod in it; 'podwright apply' takes other objects`,
  );
}

async function comeUp(session: RunSession, context: { node: EnsuredNode; stop: AbortSignal }): Promise<void> {
  const { node, stop } = context;
  const view: RunView = process.stdout.isTTY ? new TerminalView(process.stdout) : new PlainView(process.stdout);
  const showing = new AbortController();
  const signal = AbortSignal.any([showing.signal, stop]);
  using _listener = session.onPod((pod) => view.pod(pod));
  const uids = new Set(session.uids);
  const shown = Promise.all([
    showTransfers(node.client, view, signal),
    showEvents(node.client, { uids, view, signal }),
  ]);
  try {
    await session.settled(stop);
  } finally {
    showing.abort();
    await shown;
    view.close();
  }
  console.log(
    podTable([...session.pods.values()], session.tookMs, process.stdout.isTTY ? process.stdout.columns : undefined),
  );
  for (const line of failureLines([...session.pods.values()])) printError(line);
}

function leaveRunning(session: RunSession): number {
  const pods = [...session.pods.values()];
  const running = pods.filter((pod) => !isEnded(pod)).length;
  if (running > 0)
    console.log(`${running} pods go on running; see 'podwright ps', 'podwright logs', 'podwright delete'`);
  return pods.some(({ status }) => status?.phase === 'Failed') ? 1 : 0;
}

async function followLogs(
  session: RunSession,
  context: { node: EnsuredNode; once: boolean; stop: AbortSignal },
): Promise<number> {
  const following = new AbortController();
  const logs = new LogFollower(context.node.client, AbortSignal.any([following.signal, context.stop]));
  using _listener = session.onPod((pod) => logs.update(pod));
  try {
    if (!context.once) {
      await new Promise<never>((_resolve, reject) => {
        context.stop.addEventListener('abort', () => reject(context.stop.reason), { once: true });
        session.failed.catch(reject);
      });
    }
    await session.ended(context.stop);
    await logs.drain();
    return exitCodeOf([...session.pods.values()]);
  } finally {
    following.abort();
  }
}

function explain(error: unknown): number {
  if (error instanceof Interrupted) return error.exitCode;
  printError(`podwright: ${errorMessage(error)}`);
  return 1;
}

/** Stops the pods gracefully, at the second Ctrl-C at once. */
async function takeDown(session: RunSession, again: AbortSignal): Promise<void> {
  console.error('stopping the pods (Ctrl-C again: at once)');
  try {
    await session.remove(undefined, again);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    await session.remove(0);
  }
}

/** Ends the node if this command started it and it has no pods of others. */
async function leaveNode(node: EnsuredNode, options: RunOptions): Promise<void> {
  if (!node.started) return;
  const others = await node.client.pods();
  if (others.length === 0) return stopNode(node.client, { removeHostState: true });
  if (!options.detach) console.error(`the node goes on: it has ${others.length} other pods; 'podwright ps' lists them`);
}
