import { errorCode, errorMessage, type Logger, PodwrightError, raceAbort, waitFor } from '@podwright/base';
import type { Shim, ShimCall, Shims } from '@podwright/shim';
import { findShimProcesses, killShimProcesses } from '../tasks/shim/shim-group.ts';

/** How long a sandbox may take to start: a virtual machine boots. */
const START_TIMEOUT_MS = 120_000;
/** How long a shim may take for an answer of its own, also on a busy host. */
const ANSWER_TIMEOUT_MS = 30_000;
const SHIM_ENDED = 'the shim of the sandbox has ended';

/** What the sandbox is made from. `options` describe the pod. */
export type ShimSandboxRequest = {
  sandboxId: string;
  bundlePath: string;
  netnsPath: string;
  options: { typeUrl: string; value: Uint8Array };
  annotations: Record<string, string>;
};

/**
 * Makes and starts the sandbox of a shim. Returns a process in it, 0 if the shim reports none. A shim without sandboxes is a
 * `failed_precondition`, one whose sandboxes are not of Linux `unimplemented`.
 */
export async function startShimSandbox(shim: Shim, request: ShimSandboxRequest, signal: AbortSignal): Promise<number> {
  const { sandboxId } = request;
  const bounds = { signal, timeoutMs: START_TIMEOUT_MS };
  await shim.sandbox.createSandbox(request, bounds).catch((error) => {
    throw errorCode(error) === 'unimplemented' ? withoutSandboxes(error) : error;
  });
  const { platform } = await shim.sandbox.platform({ sandboxId }, bounds);
  if (platform !== undefined && platform.os !== '' && platform.os !== 'linux')
    throw new PodwrightError('unimplemented', `start sandbox ${sandboxId}: its shim makes sandboxes of ${platform.os}`);
  return (await shim.sandbox.startSandbox({ sandboxId }, bounds)).pid;
}

function withoutSandboxes(cause: unknown): PodwrightError {
  return new PodwrightError(
    'failed_precondition',
    'the shim has no sandboxes of its own (containerd.runtime.sandbox.v1); use the sandbox controller "pause" for its handler',
    { cause },
  );
}

/** Why the sandbox is not alive, undefined if it is. `shim` is undefined if it has ended. */
export async function whyNotAlive(shim: Shim | undefined, sandboxId: string): Promise<string | undefined> {
  if (shim === undefined) return SHIM_ENDED;
  const bounds = { timeoutMs: ANSWER_TIMEOUT_MS };
  try {
    await shim.sandbox.pingSandbox({ sandboxId }, bounds);
    // shims that keep no state of a sandbox leave it empty
    const { state } = await shim.sandbox.sandboxStatus({ sandboxId, verbose: false }, bounds);
    return state === 'SANDBOX_NOTREADY' ? 'the sandbox of the shim has ended' : undefined;
  } catch (error) {
    return `the shim of the sandbox does not answer: ${errorMessage(error)}`;
  }
}

/** Waits until the sandbox has ended, or its shim has; returns which of them. */
export async function untilEnded(shim: Shim, sandboxId: string): Promise<string> {
  await shim.sandbox.waitSandbox({ sandboxId }, { timeoutMs: 0 }).catch(() => undefined); // `whyNotAlive` finds out why
  const reason = await whyNotAlive(shim.isOpen ? shim : undefined, sandboxId);
  if (reason !== undefined) return reason;
  await shim.closed; // some answer at once: the sandbox then is as alive as the shim
  return SHIM_ENDED;
}

export type ShimSandboxEnd = {
  shims: Shims;
  call: ShimCall;
  /** How long the sandbox may take to end by itself, and then its shim. */
  graceMs: number;
  logger: Logger;
};

/** Ends the sandbox and its shim, by force if they do not by themselves, and has the shim's binary remove what is left. */
export async function endShimSandbox(end: ShimSandboxEnd): Promise<void> {
  const { shims, call, logger } = end;
  const shim = await shims.load(call.bundle).catch((error) => {
    if (errorCode(error) !== 'data_loss') throw error;
    logger.warn({ sandbox: call.id, error: errorMessage(error) }, 'find the shim of a sandbox');
    return undefined; // its processes are found by their command lines
  });
  if (shim !== undefined && (await shutDown(shim, end))) return await shims.removeSocket(call.bundle); // some leave it
  await killShimProcesses(shims, call.id);
  await shims.cleanUp(call).catch((error) => {
    logger.warn({ sandbox: call.id, error: errorMessage(error) }, 'the binary of a dead shim could not clean up');
  });
}

/** Whether the sandbox and the shim ended by themselves. */
async function shutDown(shim: Shim, { shims, call, graceMs, logger }: ShimSandboxEnd): Promise<boolean> {
  const sandboxId = call.id;
  const stop = { sandboxId, timeoutSecs: Math.ceil(graceMs / 2000) };
  try {
    await unlessGone(shim, shim.sandbox.stopSandbox(stop, { timeoutMs: graceMs }));
    await unlessGone(shim, endShim(shim, sandboxId));
    await raceAbort(shim.closed, AbortSignal.timeout(graceMs));
    const gone = async () => ((await findShimProcesses(shims, sandboxId)).length === 0 ? true : undefined);
    await waitFor(gone, { intervalMs: 5, signal: AbortSignal.timeout(graceMs) });
    return true;
  } catch (error) {
    logger.warn({ sandbox: sandboxId, error: errorMessage(error) }, 'kill a shim that does not end its sandbox');
    return false;
  }
}

/** Asks the shim to end; one without sandboxes, by its task service. */
async function endShim(shim: Shim, sandboxId: string): Promise<void> {
  const bounds = { timeoutMs: ANSWER_TIMEOUT_MS };
  await shim.sandbox.shutdownSandbox({ sandboxId }, bounds).catch(async (error) => {
    if (errorCode(error) !== 'unimplemented') throw error;
    await shim.tasks.shutdown({ id: sandboxId, now: true }, bounds);
  });
}

/** A sandbox that is not there is as good as ended; the answer may be lost with the shim. */
async function unlessGone(shim: Shim, call: Promise<unknown>): Promise<void> {
  await call.catch((error) => {
    if (shim.isOpen && !['not_found', 'unimplemented'].includes(errorCode(error))) throw error;
  });
}
