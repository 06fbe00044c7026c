/** Metrics for calls to CSI drivers, named as in upstream (pkg/volume/util). */
import { Histogram, type Registry } from '@podwright/base';

export type CsiMetrics = {
  /** `method` is the fully qualified name, such as `/csi.v1.Node/NodeStageVolume`; `code` is the name of the gRPC status code. */
  called(driver: string, call: { method: string; code: string; seconds: number }): void;
};

export function csiMetrics(registry: Registry): CsiMetrics {
  const seconds = new Histogram({
    name: 'csi_operations_seconds',
    help: 'Container Storage Interface operation duration with gRPC error code status total',
    labelNames: ['driver_name', 'method_name', 'grpc_status_code', 'migrated'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
    registers: [registry],
  });
  return {
    called: (driver, { method, code, seconds: duration }) =>
      seconds.observe(
        { driver_name: driver, method_name: method, grpc_status_code: code, migrated: 'false' },
        duration,
      ),
  };
}
