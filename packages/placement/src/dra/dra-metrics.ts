/** ResourceClaim and DRA driver metrics, named as in upstream. */
import { errorCode, Gauge, Histogram, type Registry, statusNumber } from '@podwright/base';
import { codeName } from '@podwright/grpc';

export type DraMetrics = {
  /** Measures the time to prepare or unprepare all claims of a pod. */
  measured<T>(operation: 'PrepareResources' | 'UnprepareResources', work: () => Promise<T>): Promise<T>;
  /** Measures the duration of a call to a driver. */
  called<T>(call: { driver: string; method: string }, work: () => Promise<T>): Promise<T>;
};

/** Label value for all claims, regardless of driver. */
const ANY_DRIVER = '<any>';

/** Fifteen logarithmic buckets from 0.1 s to 40 s; driver calls time out after 45 s. */
const BUCKETS = Array.from({ length: 15 }, (_, index) => 0.1 * 400 ** (index / 14));

/** `drivers` returns the list of driver names for each prepared claim. */
export function draMetrics(registry: Registry, drivers: () => string[][]): DraMetrics {
  const registers = [registry];
  const operations = new Histogram({
    name: 'dra_operations_duration_seconds',
    help: 'Latency histogram in seconds for the duration of handling all ResourceClaims referenced by a pod when the pod starts or stops. Identified by the name of the operation (PrepareResources or UnprepareResources) and separated by the success of the operation.',
    labelNames: ['operation_name', 'is_error'],
    buckets: BUCKETS,
    registers,
  });
  const calls = new Histogram({
    name: 'dra_grpc_operations_duration_seconds',
    help: 'Duration in seconds of the DRA gRPC operations',
    labelNames: ['driver_name', 'method_name', 'grpc_status_code'],
    buckets: BUCKETS,
    registers,
  });
  const inUse: Gauge<'driver_name'> = new Gauge({
    name: 'dra_resource_claims_in_use',
    help: 'The number of ResourceClaims that are currently in use on the node, by driver name and across all drivers (special value <any> for driver_name).',
    labelNames: ['driver_name'],
    registers,
    collect: () => {
      const prepared = drivers();
      inUse.reset();
      inUse.set({ driver_name: ANY_DRIVER }, prepared.length);
      for (const driver of prepared.flat()) inUse.inc({ driver_name: driver });
    },
  });
  return {
    measured: (operation_name, work) =>
      timed(work, (seconds, error) =>
        operations.observe({ operation_name, is_error: String(error !== undefined) }, seconds),
      ),
    called: ({ driver, method }, work) =>
      timed(work, (seconds, error) => {
        const grpc_status_code = codeName(error === undefined ? 0 : statusNumber(errorCode(error)));
        calls.observe({ driver_name: driver, method_name: method, grpc_status_code }, seconds);
      }),
  };
}

async function timed<T>(work: () => Promise<T>, note: (seconds: number, error: unknown) => void): Promise<T> {
  const startedAtMs = performance.now();
  const seconds = () => (performance.now() - startedAtMs) / 1000;
  try {
    const result = await work();
    note(seconds(), undefined);
    return result;
  } catch (error) {
    note(seconds(), error);
    throw error;
  }
}
