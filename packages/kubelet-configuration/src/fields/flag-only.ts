import { field, nothing, only, sets, setsInCluster } from './field.ts';
import { bool, choice, duration, type FieldType, int32, path, string, stringTable } from './field-types.ts';

const NO_CADVISOR = 'cAdvisor, whose flag it is, is no part of this kubelet';
const NO_LOCK = 'the kubelet takes no lock file';

/** A flag that reached upstream's kubelet by mistake, and is deprecated there. */
const cadvisor = <T, D extends T>(type: FieldType<T>, fallback: D, flag: string) =>
  field(type, fallback, { flag, about: 'a setting of cAdvisor', effect: nothing(NO_CADVISOR) });

/** Flags that no field of a KubeletConfiguration stands for. The names are ours. */
export const FLAG_ONLY_FIELDS = {
  rootDir: field(path, '', {
    flag: 'root-dir',
    about: 'directory of the pods, without it DIR/kubelet of --root DIR',
    effect: sets('rootDir'),
  }),
  certDirectory: field(path, '', {
    flag: 'cert-dir',
    about: "directory of the kubelet's certificates",
    effect: sets('server.tls.certDirectory'),
  }),
  tokenAuthFile: field(path, '', {
    flag: 'token-auth-file',
    about: 'file of bearer tokens, as token_file of ours; upstream has none',
    effect: sets('server.authentication.tokenFile'),
  }),
  hostnameOverride: field(string, '', {
    flag: 'hostname-override',
    about: "the node's name, instead of the host's",
    effect: sets('nodeName'),
  }),
  nodeIp: field(string, '', {
    flag: 'node-ip',
    about: 'address of the node, or one of each family: 192.0.2.1,2001:db8::1',
    effect: sets('nodeIp'),
  }),
  nodeLabels: field(stringTable, {}, { flag: 'node-labels', about: 'labels of the node', effect: sets('nodeLabels') }),
  seccompDefaultFlag: field(bool, undefined, {
    flag: 'seccomp-default',
    about: "containers without a seccomp profile get the runtime's",
    effect: sets('seccompDefault'),
  }),
  maxDeadContainersPerContainer: field(int32, 1, {
    flag: 'maximum-dead-containers-per-container',
    about: 'dead containers that are kept of each',
    effect: sets('containerGc.maxPerContainer'),
    keepsZero: true,
  }),
  maxDeadContainers: field(int32, -1, {
    flag: 'maximum-dead-containers',
    about: 'dead containers that are kept in all, -1 for any number',
    effect: sets('containerGc.maxContainers'),
    keepsZero: true,
  }),
  minContainerAge: field(duration, 0, {
    flag: 'minimum-container-ttl-duration',
    about: 'age that a dead container has at least when it is removed',
    effect: sets('containerGc.minAgeMs'),
  }),
  kubeconfig: field(path, '', {
    flag: 'kubeconfig',
    about: 'how to reach the API server whose node this is; without it the kubelet stands alone',
    effect: sets('cluster'),
  }),
  bootstrapKubeconfig: field(path, '', {
    flag: 'bootstrap-kubeconfig',
    about: 'how to get a first certificate, and the file of --kubeconfig',
    effect: sets('cluster'),
  }),
  cloudProvider: field(choice('external'), '', {
    flag: 'cloud-provider',
    about: 'external, or nothing',
    effect: setsInCluster('node.externalCloudProvider'),
  }),
  imageCredentialProviderConfig: field(path, '', {
    flag: 'image-credential-provider-config',
    about: 'configuration of credential providers',
    effect: sets('images.credentialProviders'),
  }),
  imageCredentialProviderBinDir: field(path, '', {
    flag: 'image-credential-provider-bin-dir',
    about: 'directory of credential providers',
    effect: sets('images.credentialProviders'),
  }),
  runtimeCgroups: field(string, '', {
    flag: 'runtime-cgroups',
    about: 'cgroup of the container runtime',
    effect: nothing(
      'the runtime is in the cgroup in which it was started; with --container-runtime=docker it is moved',
    ),
  }),
  lockFile: field(string, '', {
    flag: 'lock-file',
    about: 'file that only one kubelet may hold',
    effect: only([''], NO_LOCK),
  }),
  exitOnLockContention: field(bool, false, {
    flag: 'exit-on-lock-contention',
    about: 'end when another kubelet wants it',
    effect: only([false], NO_LOCK),
  }),
  mounterPath: field(string, '', {
    flag: 'experimental-mounter-path',
    about: 'program that mounts volumes',
    effect: only([''], 'volumes are mounted by mount(8)'),
  }),
  ignoreEvictionThreshold: field(bool, false, {
    flag: 'experimental-allocatable-ignore-eviction',
    about: 'keep no eviction thresholds back',
    effect: setsInCluster('node.evictionHard'),
  }),
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
