import { type ErrorCode, errorCode, errorMessage, type Logger, type Registry } from '@podwright/base';
import type { CallObserver } from '@podwright/grpc';
import { REPEATED_ERROR_AFTER_MS } from '../limits.ts';
import { LogReduction } from './log-reduction.ts';
import { operationMetrics, operationName } from './operation-metrics.ts';

/** Codes that occur in ordinary operation: an object already removed, a cancelled call, an unsupported feature. */
const EXPECTED: ReadonlySet<ErrorCode> = new Set(['not_found', 'cancelled', 'unimplemented']);

/** Logs failed calls, identical errors at most once a minute, and counts every call in `registry` if given. */
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
