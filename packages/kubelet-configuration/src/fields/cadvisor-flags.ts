import { field, nothing } from './field.ts';
import { bool, duration, type FieldType, int32, string } from './field-types.ts';

const cadvisor = <T, D extends T>(type: FieldType<T>, fallback: D, flag: string) =>
  field(type, fallback, { flag, about: 'a setting of cAdvisor', effect: nothing('Podwright has no cAdvisor') });

/** cAdvisor's flags, which upstream's kubelet exposes by accident and has deprecated. The row names are Podwright's. */
export const CADVISOR_FLAGS = {
  applicationMetricsCountLimit: cadvisor(int32, 100, 'application-metrics-count-limit'),
  bootIdFile: cadvisor(string, '', 'boot-id-file'),
  containerHints: cadvisor(string, '', 'container-hints'),
  containerd: cadvisor(string, '', 'containerd'),
  containerdNamespace: cadvisor(string, '', 'containerd-namespace'),
  enableLoadReader: cadvisor(bool, false, 'enable-load-reader'),
  eventStorageAgeLimit: cadvisor(string, '', 'event-storage-age-limit'),
  eventStorageEventLimit: cadvisor(string, '', 'event-storage-event-limit'),
  globalHousekeepingInterval: cadvisor(duration, 60_000, 'global-housekeeping-interval'),
  housekeepingInterval: cadvisor(duration, 10_000, 'housekeeping-interval'),
  maxHousekeepingInterval: cadvisor(duration, 15_000, 'max-housekeeping-interval'),
  logCadvisorUsage: cadvisor(bool, false, 'log-cadvisor-usage'),
  machineIdFile: cadvisor(string, '', 'machine-id-file'),
  storageDriverBufferDuration: cadvisor(duration, 60_000, 'storage-driver-buffer-duration'),
  storageDriverDb: cadvisor(string, '', 'storage-driver-db'),
  storageDriverHost: cadvisor(string, '', 'storage-driver-host'),
  storageDriverPassword: cadvisor(string, '', 'storage-driver-password'),
  storageDriverSecure: cadvisor(bool, false, 'storage-driver-secure'),
  storageDriverTable: cadvisor(string, '', 'storage-driver-table'),
  storageDriverUser: cadvisor(string, '', 'storage-driver-user'),
};
