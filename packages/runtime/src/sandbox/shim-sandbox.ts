import { errorCode, errorMessage, type Logger, PodwrightError, raceAbort, waitFor } from '@podwright/base';
import type { Shim, ShimCall, Shims } from '@podwright/shim';
import { findShimProcesses, killShimProcesses } from '../tasks/shim/shim-group.ts';

/** Timeout for starting a sandbox, which can include booting a virtual machine. */
const START_TIMEOUT_MS = 120_000;
/** Timeout for a shim's responses to all requests except those that start a sandbox, with allowance for a busy host. */
const ANSWER_TIMEOUT_MS = 30_000;
const SHIM_ENDED = 'the shim of the sandbox has ended';

/** Input for creating a sandbox in a shim. `options` describes the pod. */
export type ShimSandboxRequest = {
  sandboxId: string;
  bundlePath: string;
  netnsPath: string;
  options: { typeUrl: string; value: Uint8Array };
  annotations: Record<string, string>;
};

/**
 * Creates and starts a sandbox in a shim. Returns the PID of a process in the sandbox; 0 if the shim reports none. Throws
 * `failed_precondition` if the shim does not support sandboxes, and `unimplemented` if its sandboxes are not for Linux.
 */
export async function startShimSandbox(shim: Shim, request: ShimSandboxRequest, signal: AbortSignal): Promise<number> {
  const { sandboxId } = request;
  const bounds = { signal, timeoutMs: START_TIMEOUT_MS };
  await shim.sandbox.createSandbox(request, bounds).catch((error) => {
    throw errorCode(error) === 'unimplemented' ? withoutSandboxes(error) : error;
  });
  const { platform } = await shim.sandbox.platform({ sandboxId }, bounds);
  if (platform !== undefined && platform.os !== '' && platform.os !== 'linux')
    throw new PodwrightError(
      'unimplemented',
      `start sandbox ${sandboxId}: its shim creates sandboxes for ${platform.os}`,
    );
  return (await shim.sandbox.startSandbox({ sandboxId }, bounds)).pid;
}

function withoutSandboxes(cause: unknown): PodwrightError {
  return new PodwrightError(
    'failed_precondition',
    'the shim does not implement sandboxes (containerd.runtime.sandbox.v1); use the sandbox controller "pause" for its handler',
    { cause },
  );
}

/** Returns why the sandbox is not alive; undefined if it is alive. `shim` is undefined if the shim has exited. */
export async function whyNotAlive(shim: Shim | undefined, sandboxId: string): Promise<string | undefined> {
  if (shim === undefined) return SHIM_ENDED;
  const bounds = { timeoutMs: ANSWER_TIMEOUT_MS };
  try {
    await shim.sandbox.pingSandbox({ sandboxId }, bounds);
    // `state` is empty if the shim does not support sandbox states
    const { state } = await shim.sandbox.sandboxStatus({ sandboxId, verbose: false }, bounds);
    return state === 'SANDBOX_NOTREADY' ? 'the sandbox of the shim has ended' : undefined;
  } catch (error) {
    return `the shim of the sandbox does not answer: ${errorMessage(error)}`;
  }
}

/** Waits for the sandbox or its shim to exit, and returns the reason. */
export async function untilEnded(shim: Shim, sandboxId: string): Promise<string> {
  await shim.sandbox.waitSandbox({ sandboxId }, { timeoutMs: 0 }).catch(() => undefined); // `whyNotAlive` determines the reason
  const reason = await whyNotAlive(shim.isOpen ? shim : undefined, sandboxId);
  if (reason !== undefined) return reason;
  await shim.closed; // some shims respond immediately; their sandboxes exist as long as the shim
  return SHIM_ENDED;
}

export type ShimSandboxEnd = {
  shims: Shims;
  call: ShimCall;
  /** Grace period for the sandbox, and then for its shim, to stop on its own. */
  graceMs: number;
  logger: Logger;
};

/** Stops the sandbox and its shim. If they do not exit, kills them and then runs the shim's binary to clean up. */
export async function endShimSandbox(end: ShimSandboxEnd): Promise<void> {
  const { shims, call, logger } = end;
  const shim = await shims.load(call.bundle).catch((error) => {
    if (errorCode(error) !== 'data_loss') throw error;
    logger.warn({ sandbox: call.id, error: errorMessage(error) }, 'cannot find the shim of a sandbox');
    return undefined; // its processes are found by their command lines
  });
  if (shim !== undefined && (await shutDown(shim, end))) return await shims.removeSocket(call.bundle); // some leave a socket
  await killShimProcesses(shims, call.id);
  await shims.cleanUp(call).catch((error) => {
    logger.warn({ sandbox: call.id, error: errorMessage(error) }, 'cannot clean up after a dead shim with its binary');
  });
}

/** Tries to stop the sandbox and its shim. Returns true if both exited on their own. */
async function shutDown(shim: Shim, { shims, call, graceMs, logger }: ShimSandboxEnd): Promise<boolean> {
  const sandboxId = call.id;
  const stop = { sandboxId, timeoutSecs: Math.ceil(graceMs / 2000) };
  try {
    await unlessGone(shim, shim.sandbox.stopSandbox(stop, { timeoutMs: graceMs }));
    await unlessGone(shim, endShim(shim, sandboxId));
    await raceAbort(shim.closed, AbortSignal.timeout(graceMs));
    const hasEnded = async () => ((await findShimProcesses(shims, sandboxId)).length === 0 ? true : undefined);
    await waitFor(hasEnded, { intervalMs: 5, signal: AbortSignal.timeout(graceMs) });
    return true;
  } catch (error) {
    logger.warn({ sandbox: sandboxId, error: errorMessage(error) }, 'a shim did not stop its sandbox: killing it');
    return false;
  }
}

/** Asks the shim to shut down, through its task service if it does not support sandboxes. */
async function endShim(shim: Shim, sandboxId: string): Promise<void> {
  const bounds = { timeoutMs: ANSWER_TIMEOUT_MS };
  await shim.sandbox.shutdownSandbox({ sandboxId }, bounds).catch(async (error) => {
    if (errorCode(error) !== 'unimplemented') throw error;
    await shim.tasks.shutdown({ id: sandboxId, now: true }, bounds);
  });
}

/**
 * Awaits a call to a shim, ignoring errors that mean that the sandbox has exited, or that the shim has exited and closed the connection.
 */
async function unlessGone(shim: Shim, call: Promise<unknown>): Promise<void> {
  await call.catch((error) => {
    if (shim.isOpen && !['not_found', 'unimplemented'].includes(errorCode(error))) throw error;
  });
}
