import { type ErrorCode, errorCode, errorMessage, type Logger, type Registry } from '@podwright/base';
import type { CallObserver } from '@podwright/grpc';
import { REPEATED_ERROR_AFTER_MS } from '../limits.ts';
import { LogReduction } from './log-reduction.ts';
import { operationMetrics, operationName } from './operation-metrics.ts';

/** Error codes that occur in normal operation: an object has already been removed, a call was cancelled, or a feature is not supported. */
const EXPECTED: ReadonlySet<ErrorCode> = new Set(['not_found', 'cancelled', 'unimplemented']);

/**
 * Returns an observer that logs failed calls, identical errors at most once a minute, and counts every call in `registry` if one is given.
 */
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
