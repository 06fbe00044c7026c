import { PodwrightError, raceAbort } from '@podwright/base';
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from '../gen/grpc/health/v1/health_pb.js';
import { type HandledService, handleService } from './handlers.ts';

/** A server's health service, and a function that makes it report the server as closing. */
export type HealthService = { service: HandledService; stopServing(): void };

/**
 * Creates a health service that reports the server and each of `services` (by fully qualified name) as serving until `stopServing` is
 * called.
 */
export function createHealthService(services: readonly string[]): HealthService {
  const known = new Set(['', ...services]);
  const stopped = Promise.withResolvers<void>();
  let status: ServingStatus = ServingStatus.SERVING;
  const service = handleService(Health, {
    async check({ service }) {
      if (!known.has(service)) throw new PodwrightError('not_found', `no service ${service}`);
      return { status };
    },
    async list() {
      return { statuses: Object.fromEntries([...known].map((name) => [name, { status }])) };
    },
    async *watch({ service }, { signal }) {
      const current = () => ({ status: known.has(service) ? status : ServingStatus.SERVICE_UNKNOWN });
      yield current();
      await raceAbort(stopped.promise, signal);
      yield current();
      await raceAbort(new Promise<never>(() => undefined), signal);
    },
  });
  const stopServing = () => {
    status = ServingStatus.NOT_SERVING;
    stopped.resolve();
  };
  return { service, stopServing };
}
