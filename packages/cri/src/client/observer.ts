import { type ErrorCode, errorCode, errorMessage, type Logger, type Registry } from '@podwright/base';
import { REPEATED_ERROR_AFTER_MS } from '../limits.ts';
import { LogReduction } from './log-reduction.ts';
import { operationMetrics, operationName } from './operation-metrics.ts';

/** Sees every call of a client: `started` returns what to call when it has ended, with its error if it failed. */
export type CallObserver = { started(method: string): (error?: unknown) => void };

/** Outcomes that are part of ordinary work: something is gone already, the caller went away, a feature is not there. */
const EXPECTED: ReadonlySet<ErrorCode> = new Set(['not_found', 'cancelled', 'unimplemented']);

/** Logs failed calls, identical ones once a minute, and counts all calls in `registry` if there is one. */
export function createCallObserver(logger: Logger, registry?: Registry): CallObserver {
  const metrics = registry === undefined ? undefined : operationMetrics(registry);
  const reduction = new LogReduction(REPEATED_ERROR_AFTER_MS);
  const operations = new Map<string, string>();
  const operationOf = (method: string) => {
    const known = operations.get(method) ?? operationName(method);
    operations.set(method, known);
    return known;
  };
  const logFailure = (operation: string, error: unknown) => {
    const code = errorCode(error);
    const message = errorMessage(error);
    if (!reduction.shouldLog(`${operation} ${code} ${message}`)) return;
    logger[EXPECTED.has(code) ? 'debug' : 'warn']({ operation, code, error: message }, 'call to the runtime failed');
  };
  return {
    started(method) {
      const startedAtMs = performance.now();
      const operation = operationOf(method);
      return (error) => {
        metrics?.record(operation, (performance.now() - startedAtMs) / 1000, error !== undefined);
        if (error !== undefined) logFailure(operation, error);
      };
    },
  };
}
