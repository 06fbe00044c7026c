import { field, nothing, only, sets, setsInCluster } from './field.ts';
import { bool, choice, duration, int32, path, string, stringTable } from './field-types.ts';

const NO_LOCK = 'the kubelet takes no lock file';

/** Flags without a field of a KubeletConfiguration. The names of the rows are Podwright's. */
export const FLAG_ONLY_FIELDS = {
  rootDir: field(path, '', {
    flag: 'root-dir',
    about: 'directory of pods and volumes; if unset, DIR/kubelet of --root DIR',
    key: 'root',
    effect: sets('rootDir'),
  }),
  certDirectory: field(path, '', {
    flag: 'cert-dir',
    about: "directory of the kubelet's certificates",
    effect: sets('server.tls.certDirectory'),
  }),
  tokenAuthFile: field(path, '', {
    flag: 'token-auth-file',
    about: 'file of bearer tokens; upstream has no such flag',
    key: 'kubelet.server.token_file',
    effect: sets('server.authentication.tokenFile'),
  }),
  hostnameOverride: field(string, '', {
    flag: 'hostname-override',
    about: "the node's name instead of the host name",
    key: 'node_name',
    effect: sets('nodeName'),
  }),
  nodeIp: field(string, '', {
    flag: 'node-ip',
    about: 'IP address of the node, or one of each family: 192.0.2.1,2001:db8::1',
    effect: sets('nodeIp'),
  }),
  nodeLabels: field(stringTable, {}, { flag: 'node-labels', about: 'labels of the node', effect: sets('nodeLabels') }),
  seccompDefaultFlag: field(bool, undefined, {
    flag: 'seccomp-default',
    about: 'overrides the field seccompDefault',
    key: 'kubelet.seccomp_default',
    effect: sets('seccompDefault'),
  }),
  maxDeadContainersPerContainer: field(int32, 1, {
    flag: 'maximum-dead-containers-per-container',
    about: 'maximum number of dead instances to keep of each container',
    effect: sets('containerGc.maxPerContainer'),
    keepsZero: true,
  }),
  maxDeadContainers: field(int32, -1, {
    flag: 'maximum-dead-containers',
    about: 'maximum number of dead containers to keep in total, -1 for no limit',
    effect: sets('containerGc.maxContainers'),
    keepsZero: true,
  }),
  minContainerAge: field(duration, 0, {
    flag: 'minimum-container-ttl-duration',
    about: 'minimum age of a dead container before it is removed',
    effect: sets('containerGc.minAgeMs'),
  }),
  kubeconfig: field(path, '', {
    flag: 'kubeconfig',
    about: 'kubeconfig of the API server; without it the kubelet runs standalone',
    key: 'cluster.kubeconfig',
    effect: sets('cluster'),
  }),
  bootstrapKubeconfig: field(path, '', {
    flag: 'bootstrap-kubeconfig',
    about: 'kubeconfig for requesting the first client certificate; --kubeconfig is then written',
    key: 'cluster.bootstrap_kubeconfig',
    effect: sets('cluster'),
  }),
  cloudProvider: field(choice('external'), '', {
    flag: 'cloud-provider',
    about: 'external if a cloud controller manager initializes the node',
    effect: setsInCluster('node.externalCloudProvider'),
  }),
  imageCredentialProviderConfig: field(path, '', {
    flag: 'image-credential-provider-config',
    about: 'configuration file of credential providers',
    effect: sets('images.credentialProviders'),
  }),
  imageCredentialProviderBinDir: field(path, '', {
    flag: 'image-credential-provider-bin-dir',
    about: 'directory of credential provider programs',
    effect: sets('images.credentialProviders'),
  }),
  runtimeCgroups: field(string, '', {
    flag: 'runtime-cgroups',
    about: 'cgroup of the container runtime',
    effect: nothing(
      'the runtime stays in the cgroup in which it was started; honoured with --container-runtime=docker',
    ),
  }),
  lockFile: field(string, '', {
    flag: 'lock-file',
    about: 'lock file that only one kubelet may hold',
    effect: only([''], NO_LOCK),
  }),
  exitOnLockContention: field(bool, false, {
    flag: 'exit-on-lock-contention',
    about: 'exit when another kubelet requests the lock file',
    effect: only([false], NO_LOCK),
  }),
  mounterPath: field(string, '', {
    flag: 'experimental-mounter-path',
    about: 'program that mounts volumes',
    effect: only([''], 'volumes are mounted by mount(8)'),
  }),
  ignoreEvictionThreshold: field(bool, false, {
    flag: 'experimental-allocatable-ignore-eviction',
    about: 'do not subtract eviction thresholds from allocatable',
    effect: setsInCluster('node.evictionHard'),
  }),
};
