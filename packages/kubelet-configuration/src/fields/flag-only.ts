import { join } from 'node:path';
import { nodeIpProblems } from './checks.ts';
import { composes, field, inCluster, NO_ENTRIES, nothing, only, sets, setsAll, setsNoOption } from './field.ts';
import { bool, choice, duration, int32, path, string, stringTable } from './field-types.ts';
import { nodeLabelProblems } from './label-checks.ts';
import { kubeletKey, otherKey, tomlPath } from './toml-key.ts';

const NO_LOCK = 'the kubelet takes no lock file';

/** Flags without a KubeletConfiguration field. The row names are Podwright's. */
export const FLAG_ONLY_FIELDS = {
  rootDir: field(path, '', {
    flag: 'root-dir',
    about: 'directory of pods and volumes; if unset, DIR/kubelet of --root DIR',
    key: otherKey('root'),
    effect: setsAll(
      sets('rootDir', (directory, before) => directory || before),
      sets('images.dockerConfigPaths', (directory, before) => (directory === '' ? before : dockerConfigsOf(directory))),
    ),
  }),
  certDirectory: field(path, '', {
    flag: 'cert-dir',
    about: "directory of the kubelet's certificates",
    effect: sets('server.tls.certDirectory', (directory) => directory || undefined),
  }),
  tokenAuthFile: field(path, '', {
    flag: 'token-auth-file',
    about: 'file of bearer tokens; upstream has no such flag',
    key: kubeletKey('server.token_file', tomlPath),
    effect: sets('server.authentication.tokenFile', (path) => path || undefined),
  }),
  hostnameOverride: field(string, '', {
    flag: 'hostname-override',
    about: "the node's name instead of the host name",
    key: otherKey('node_name'),
    effect: sets('nodeName', (name, before) => (name === '' ? before : name.trim().toLowerCase())),
  }),
  nodeIp: field(string, '', {
    flag: 'node-ip',
    about: 'IP address of the node, or one of each family: 192.0.2.1,2001:db8::1',
    check: nodeIpProblems,
    effect: sets('nodeIp'),
  }),
  nodeLabels: field(stringTable, NO_ENTRIES, {
    flag: 'node-labels',
    about: 'labels of the node',
    check: nodeLabelProblems,
    effect: sets('nodeLabels'),
  }),
  seccompDefaultFlag: field(bool, undefined, {
    flag: 'seccomp-default',
    about: 'overrides the field seccompDefault',
    key: otherKey('kubelet.seccomp_default'),
    effect: composes('seccompDefault'),
  }),
  maxDeadContainersPerContainer: field(int32, 1, {
    flag: 'maximum-dead-containers-per-container',
    about: 'maximum number of dead instances to keep of each container',
    effect: sets('containerGc.maxPerContainer', (most) => Math.max(0, most)),
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
    key: otherKey('cluster.kubeconfig'),
    effect: composes('server.authentication.reviews'),
  }),
  bootstrapKubeconfig: field(path, '', {
    flag: 'bootstrap-kubeconfig',
    about: 'kubeconfig for requesting the first client certificate; --kubeconfig is then written',
    key: otherKey('cluster.bootstrap_kubeconfig'),
    effect: setsNoOption,
  }),
  cloudProvider: field(choice('external'), '', {
    flag: 'cloud-provider',
    about: 'external if a cloud controller manager initializes the node',
    effect: inCluster(sets('node.externalCloudProvider', (provider) => provider === 'external')),
  }),
  imageCredentialProviderConfig: field(path, '', {
    flag: 'image-credential-provider-config',
    about: 'configuration file of credential providers',
    effect: composes('images.credentialProviders'),
  }),
  imageCredentialProviderBinDir: field(path, '', {
    flag: 'image-credential-provider-bin-dir',
    about: 'directory of credential provider programs',
    effect: composes('images.credentialProviders'),
  }),
  runtimeCgroups: field(string, '', {
    flag: 'runtime-cgroups',
    about: 'cgroup of the container runtime',
    effect: nothing('the runtime stays in the cgroup in which it was started; honored with --container-runtime=docker'),
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
    effect: inCluster(composes('node.evictionHard')),
  }),
};

/** Returns the Docker configuration files that the kubelet searches for registry credentials. */
const dockerConfigsOf = (rootDir: string) => [join(rootDir, 'config.json'), '/root/.docker/config.json'];
