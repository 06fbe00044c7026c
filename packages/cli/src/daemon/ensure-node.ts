import { openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makePrivateDirectory, PodwrightError, PRIVATE_FILE, raceAbort, waitFor, withTimeout } from '@podwright/base';
import type { StopOptions } from '@podwright/node-api';
import { NodeClient } from '../client/node-client.ts';
import { processStart } from '../client/process-start.ts';
import { isNoNode } from '../client/unix-http.ts';
import { NODE_START_TIMEOUT_MS, NODE_STOP_TIMEOUT_MS } from '../limits.ts';
import type { CommandContext } from '../settings/node-config.ts';
import type { NodePaths } from '../settings/node-paths.ts';
import { DAEMON_FLAGS, PROCESS_FLAGS } from './daemon-flags.ts';
import { takeLeftBehind } from './left-behind.ts';

/** A client for the node's API, and whether this call started the node. */
export type EnsuredNode = { client: NodeClient; started: boolean; logFile: string };

/** Returns the node with this configuration, without checking whether it is running. */
export function presumedNode(config: NodePaths): EnsuredNode {
  return { client: new NodeClient(config.apiSocket), started: false, logFile: join(config.root, 'node.log') };
}

/**
 * Starts this configuration's daemon if it is not running, with a Kubernetes API if one is needed. An interrupt before the daemon has been
 * started cancels the call. After that, the daemon is allowed to finish starting, so that it can be stopped cleanly; `last` kills it
 * immediately. On a timeout, the daemon continues to start, because some hosts are slow, unless there was an interrupt.
 */
export async function ensureNode(
  { config, settings, configArgs }: CommandContext,
  { interrupts, needsApi = false }: { interrupts?: { first: AbortSignal; last: AbortSignal }; needsApi?: boolean } = {},
): Promise<EnsuredNode> {
  const node = presumedNode(config);
  const { client, logFile } = node;
  if (await answers(client)) return node;
  if (process.getuid?.() !== 0) {
    throw new PodwrightError(
      'permission_denied',
      'start a node: this needs root (namespaces, mounts, cgroups, networks); call podwright with sudo',
    );
  }
  // report a missing Docker Engine immediately: the daemon would wait for it, but the user should not have to
  const whole = await settings();
  if (whole.container_runtime === 'docker')
    await (await import('./docker-runtime.ts')).requireEngine(whole, interrupts?.first);
  interrupts?.first.throwIfAborted();
  makePrivateDirectory(config.root);
  const logOffset = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  const log = openSync(logFile, 'a', PRIVATE_FILE);
  // The daemon starts in the current directory, so that it can resolve relative paths in its configuration, and then changes to a different
  // one.
  const { spawn } = process.getBuiltinModule('node:child_process'); // loaded late: most commands find a running node
  const daemon = spawn(
    process.execPath,
    [...programArguments(), ...configArgs, ...(needsApi ? ['--api', 'true'] : []), 'node'],
    {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...ownCompiledCode() },
    },
  );
  daemon.unref();
  let ended: string | undefined;
  daemon.once('exit', (code, signal) => {
    ended = signal === null ? `exit code ${code}` : `killed by ${signal}`;
  });
  using deadline = withTimeout(
    interrupts?.last,
    NODE_START_TIMEOUT_MS,
    `start the node (it continues to start; its log is ${logFile})`,
  );
  const giveUp = () => interrupts?.first.aborted && daemon.kill(); // after an interrupt, no process would stop the daemon
  deadline.addEventListener('abort', giveUp, { once: true });
  const isUp = async () => {
    if (ended !== undefined) throw startFailure(ended, { logFile, logOffset });
    return (await answers(client, deadline)) ? true : undefined;
  };
  await raceAbort(waitFor(isUp, { intervalMs: 10, signal: deadline }), deadline);
  return { client, started: true, logFile };
}

/**
 * Returns the arguments that precede the daemon's own: Node.js flags and the script. A single executable has no script and sets its own
 * flags.
 */
function programArguments(): string[] {
  if (process.getBuiltinModule('node:sea').isSea()) return [];
  return [...new Set([...process.execArgv, ...PROCESS_FLAGS, ...DAEMON_FLAGS]), process.argv[1]!];
}

async function answers(client: NodeClient, signal?: AbortSignal): Promise<boolean> {
  try {
    await client.node(signal);
    return true;
  } catch (error) {
    if (isNoNode(error)) return false;
    throw error;
  }
}

/** Builds the error for a daemon that exited, using the last error in its log if there is one. */
function startFailure(ended: string, log: { logFile: string; logOffset: number }): PodwrightError {
  const lines = readFileSync(log.logFile).subarray(log.logOffset).toString('utf8').trim().split('\n');
  const last = lines.findLast((line) => line.startsWith('podwright: '))?.slice('podwright: '.length) ?? lines.at(-1);
  return new PodwrightError(
    'unavailable',
    `start the node (${ended}): ${last || 'no error was logged'}; its log is ${log.logFile}`,
  );
}

/**
 * Stops the node and waits until its process has exited. `spareMs` is extra time for its pods to terminate. Rejects with
 * `failed_precondition` if the node could not remove everything from the host.
 */
export async function stopNode(client: NodeClient, options: StopOptions, spareMs = 0): Promise<void> {
  using deadline = withTimeout(undefined, NODE_STOP_TIMEOUT_MS + spareMs, 'stop the node');
  const { pid, stateDir } = await client.node(deadline);
  const start = processStart(pid);
  await raceAbort(client.stop(options), deadline);
  // an exited process can keep its PID for a while: on some hosts, the init process takes a second to reap it
  const hasExited = () => start === undefined || processStart(pid) !== start || undefined;
  await waitFor(hasExited, { intervalMs: 10, signal: deadline });
  const leftBehind = stateDir === undefined ? undefined : takeLeftBehind(stateDir);
  if (leftBehind !== undefined)
    throw new PodwrightError(
      'failed_precondition',
      `stop the node: it has stopped, but not removed everything: ${leftBehind}`,
    );
}

/** Makes the daemon use this command's compile cache. Daemons started in other ways do not use it, but a user is waiting for this one. */
function ownCompiledCode(): { NODE_COMPILE_CACHE?: string } {
  const { getCompileCacheDir } = process.getBuiltinModule('node:module');
  const directory = getCompileCacheDir(); // the subdirectory of this Node.js in the cache
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}
