import type { DescMethod, Message } from '@bufbuild/protobuf';
import {
  Counter,
  type ErrorCode,
  errorCode,
  errorMessage,
  Histogram,
  type Logger,
  PodwrightError,
  type Registry,
  withSourcePositions,
} from '@podwright/base';
import { MAX_KNOWN_STACKS } from '../limits.ts';
import { redactedJson } from './redact.ts';

/** A call handled by the server, as passed to the observer. `request` is set once the request has been decoded. */
export type ObservedCall = { service: string; method: DescMethod; request: Message | undefined };

/** Observes every call handled by a server. `started` returns a callback to be invoked when the call ends, with the error if it failed. */
export type ServerObserver = { started(call: ObservedCall): (error?: unknown) => void };

/** Error codes of failures that are the server's fault rather than the client's. */
const OWN_FAULTS: ReadonlySet<ErrorCode> = new Set([
  'unknown',
  'internal',
  'unavailable',
  'data_loss',
  'resource_exhausted',
]);

/**
 * Returns an observer that logs calls, and counts and times them in `registry`. Every call is logged at debug level. Failed calls are
 * logged again: at warn if the server is at fault, at debug if they were cancelled, and otherwise at info.
 */
export function createServerObserver(logger: Logger, registry?: Registry): ServerObserver {
  const metrics = registry === undefined ? undefined : serverMetrics(registry);
  const stacks = new Map<string, string>();
  return {
    started(call) {
      const { service, method } = call;
      const startedAtMs = performance.now();
      const labels = { grpc_service: service, grpc_method: method.name };
      metrics?.started.inc(labels);
      return (error) => {
        const durationMs = performance.now() - startedAtMs;
        const code = error === undefined ? 'ok' : errorCode(error);
        metrics?.handled.inc({ ...labels, grpc_code: code });
        metrics?.seconds.observe(labels, durationMs / 1000);
        const fields = { call: `${service}/${method.name}`, durationMs: Math.round(durationMs * 10) / 10 };
        logger.debug({ ...fields, code, request: lazyRequest(call) }, 'answered a call');
        if (error !== undefined) logFailure(logger, { ...fields, stack: stackOf(error, stacks) }, error);
      };
    },
  };
}

function logFailure(logger: Logger, fields: object, error: unknown): void {
  const code = errorCode(error);
  // `cancelled` is logged at debug level, because clients normally end a stream by disconnecting
  const level = OWN_FAULTS.has(code) ? 'warn' : code === 'cancelled' ? 'debug' : 'info';
  logger[level]({ ...fields, code, error: errorMessage(error) }, 'a call failed');
}

/**
 * Returns the stack trace of an unexpected error. Its source positions are resolved lazily, when the log line is written, and cached in
 * `known`, because reading the source maps takes a tenth of a second.
 */
function stackOf(error: unknown, known: Map<string, string>): object | undefined {
  if (error instanceof PodwrightError || !(error instanceof Error)) return undefined;
  const { stack = '' } = error;
  return {
    toJSON: () => {
      const mapped = known.get(stack) ?? withSourcePositions(stack);
      if (known.size === MAX_KNOWN_STACKS) known.clear();
      known.set(stack, mapped);
      return mapped;
    },
  };
}

/** Returns the request for the log. It is converted to JSON lazily, only if the log line is written. */
function lazyRequest({ method, request }: ObservedCall): object | undefined {
  return request === undefined ? undefined : { toJSON: () => redactedJson(method.input, request) };
}

/** Creates metrics with the names used by Go's gRPC servers, but with this project's error codes, in lower case. */
function serverMetrics(registry: Registry) {
  const labelNames = ['grpc_service', 'grpc_method'] as const;
  const registers = [registry];
  return {
    started: new Counter({ name: 'grpc_server_started_total', help: 'Calls started', labelNames, registers }),
    handled: new Counter({
      name: 'grpc_server_handled_total',
      help: 'Calls answered, by result',
      labelNames: [...labelNames, 'grpc_code'] as const,
      registers,
    }),
    seconds: new Histogram({
      name: 'grpc_server_handling_seconds',
      help: 'How long calls took to be answered, in seconds',
      labelNames,
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
      registers,
    }),
  };
}
