/** Generates CRI configurations from a manifest, for tests. */
import { create, ImageSchema } from '@podwright/cri';
import { allContainers, type DecodedManifest, decodeManifest, type Pod } from '@podwright/kube-api';
import { wantedMounts } from '../container/container-mounts.ts';
import type { IdRange } from '../container/user-namespaces.ts';
import { containerConfig } from './container-config.ts';
import type { ContainerEnforcement } from './container-enforcement.ts';
import { fakeNode } from './dependencies.fixture.ts';
import { podDnsConfig } from './dns-config.ts';
import { namespaceOptions } from './namespace-options.ts';
import { podSandboxConfig } from './pod-sandbox-config.ts';

/** The environment of a pod whose configurations are generated: the host, kubelet options, and the image's user. */
export type World = {
  node?: ContainerEnforcement;
  seccompDefault?: boolean;
  netRawDefault?: boolean;
  users?: IdRange;
  user?: { uid?: bigint; username?: string };
  targetId?: string;
  clusterDns?: string[];
};

/** Parts to merge into the manifest: `spec` into the pod's spec, `container` into its first container, and `metadata` into its metadata. */
export type Given = { spec?: object; container?: object; metadata?: object };

export function decoded({ spec, container, metadata }: Given): DecodedManifest {
  const manifest = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop', uid: 'u1', ...metadata } },
    spec: { containers: [{ name: 'app', image: 'busybox:1', ...container }], ...spec },
  };
  return decodeManifest(JSON.stringify(manifest), { file: 'm' });
}

/** Returns the configurations of the pod's sandbox and its first container. */
export function configsOf(pod: Pod, world: World = {}) {
  const node = world.node ?? fakeNode();
  const namespaces = namespaceOptions(pod, world.users);
  const host = { servers: ['192.0.2.53'], searches: ['example.org'], options: [] };
  const { clusterDns = [] } = world;
  const settings = { clusterDns, clusterDomain: 'c.local', warnOfMissingClusterDns: false, host };
  const shared = { pod, kubeletId: 'k', namespaces };
  const sandbox = podSandboxConfig({
    ...shared,
    attempt: 1,
    dns: podDnsConfig(pod, settings).config,
    podLogsDir: '/logs',
    cgroupParent: '/kubepods/u1',
    clusterDomain: 'c.local',
    enforcement: node,
  });
  const [first] = allContainers(pod.spec);
  const mounts = wantedMounts({ pod, container: first!, environment: [], recursiveReadOnly: true });
  const { uid, username = '' } = world.user ?? {};
  const config = containerConfig({
    ...shared,
    container: first!,
    restartCount: 2,
    image: create(ImageSchema, { id: 'sha256:1', uid: uid === undefined ? undefined : { value: uid }, username }),
    prepared: { environment: [], command: [], args: [], mounts: mounts.map((one) => ({ ...one, hostPath: '/h' })) },
    targetId: world.targetId,
    node,
    seccompDefault: world.seccompDefault ?? false,
    netRawDefault: world.netRawDefault ?? true,
    seccompRoot: '/root/seccomp',
  });
  return { sandbox, container: config };
}
