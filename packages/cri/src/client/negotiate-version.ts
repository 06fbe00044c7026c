import { errorCode, errorMessage, isUnimplemented, PodwrightError, sleep, wrapError } from '@podwright/base';
import { type Connection, createServiceClient } from '@podwright/grpc';
import { type CriApiVersion, packageOf } from '../api-version.ts';
import { ImageService, RuntimeService } from '../gen/runtime/v1/services_pb.js';
import { CONNECT_RETRY_MS, DEFAULT_CONNECT_TIMEOUT_MS } from '../limits.ts';

/** The endpoint to negotiate with, and the requested CRI version. */
export type Negotiation = {
  connection: Connection;
  /** The endpoint as a URL, for error messages. */
  endpoint: string;
  /** The service to probe. A dedicated image endpoint might not serve the RuntimeService. */
  service: 'runtime' | 'image';
  apiVersion: CriApiVersion | 'auto';
  connectTimeoutMs: number;
  signal?: AbortSignal;
};

/**
 * Determines the CRI version that an endpoint serves, waiting for the endpoint to start. v1alpha2 is used only if the endpoint returns
 * `UNIMPLEMENTED` for v1. On timeout, rejects with the error of the last attempt, not counting a final attempt that was cut short by the
 * timeout.
 */
export async function negotiateVersion(negotiation: Negotiation): Promise<CriApiVersion> {
  const endsAtMs = Date.now() + negotiation.connectTimeoutMs;
  let failure: unknown;
  for (let delayMs = CONNECT_RETRY_MS.initial; ; delayMs = Math.min(2 * delayMs, CONNECT_RETRY_MS.max)) {
    const leftMs = Math.max(1, endsAtMs - Date.now());
    try {
      return await findVersion(negotiation, Math.min(leftMs, DEFAULT_CONNECT_TIMEOUT_MS));
    } catch (error) {
      negotiation.signal?.throwIfAborted();
      if (isUnimplemented(error)) throw notServed(negotiation, error);
      const hadNoTime = leftMs < CONNECT_RETRY_MS.max && errorCode(error) === 'deadline_exceeded';
      if (failure === undefined || !hadNoTime) failure = error;
      if (Date.now() + delayMs >= endsAtMs) throw notReached(negotiation, failure);
    }
    await sleep(delayMs, negotiation.signal);
  }
}

async function findVersion(negotiation: Negotiation, timeoutMs: number): Promise<CriApiVersion> {
  const wanted = negotiation.apiVersion;
  if (wanted !== 'auto') return probe(negotiation, wanted, timeoutMs);
  try {
    return await probe(negotiation, 'v1', timeoutMs);
  } catch (error) {
    if (!isUnimplemented(error)) throw error;
    return probe(negotiation, 'v1alpha2', timeoutMs);
  }
}

async function probe(negotiation: Negotiation, version: CriApiVersion, timeoutMs: number): Promise<CriApiVersion> {
  const { connection, signal } = negotiation;
  const packageName = packageOf(version);
  if (negotiation.service === 'runtime') {
    await createServiceClient(RuntimeService, connection, { packageName }).version({}, { timeoutMs, signal });
  } else {
    await createServiceClient(ImageService, connection, { packageName }).imageFsInfo({}, { timeoutMs, signal });
  }
  return version;
}

function notServed({ endpoint, service, apiVersion }: Negotiation, cause: unknown): PodwrightError {
  const versions = apiVersion === 'auto' ? 'v1 and v1alpha2' : apiVersion;
  const name = service === 'runtime' ? 'RuntimeService' : 'ImageService';
  return new PodwrightError(
    'unimplemented',
    `${endpoint} serves no CRI ${name} (asked for ${versions}): ${errorMessage(cause)}; is the CRI turned off in its configuration?`,
    { cause },
  );
}

function notReached({ endpoint, connectTimeoutMs }: Negotiation, cause: unknown): PodwrightError {
  const attempt = `connect to the container runtime at ${endpoint}`;
  const { message } = wrapError(attempt, (cause as Error).cause ?? cause); // the cause's message already names the endpoint
  return new PodwrightError('unavailable', `${message} (tried for ${connectTimeoutMs} ms); is it running?`, { cause });
}
