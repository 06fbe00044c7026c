import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  create,
  DNSConfigSchema,
  ImageSchema,
  MountPropagation,
  NamespaceMode,
  Protocol,
  SecurityProfile_ProfileType,
  Signal,
} from '@podwright/cri';
import type { Container, Pod, PodSpec } from '@podwright/kube-api';
import { podHostname } from '../container/pod-hostname.ts';
import type { ContainerGrants } from '../container/prepared-container.ts';
import { containerConfig } from './container-config.ts';
import { fakeNode } from './dependencies.fixture.ts';
import { decodeContainerInfo, decodePodIdentity } from './labels.ts';
import { namespaceOptions } from './namespace-options.ts';
import { podSandboxConfig } from './pod-sandbox-config.ts';
import { nonRootViolation } from './security-context.ts';

const app: Container = { name: 'app', image: 'busybox:1' };

function podOf(spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  const meta = { name: 'web', namespace: 'shop', uid: 'u1', ...metadata };
  return { apiVersion: 'v1', kind: 'Pod', metadata: meta, spec: { containers: [app], ...spec } };
}

function sandboxOf(pod: Pod) {
  const dns = create(DNSConfigSchema, {});
  return podSandboxConfig({
    pod,
    attempt: 2,
    dns,
    podLogsDir: '/logs',
    cgroupParent: '/p',
    clusterDomain: 'c.local',
    kubeletId: 'k',
    namespaces: namespaceOptions(pod, undefined),
    enforcement: fakeNode(),
  });
}

function containerOf(
  pod: Pod,
  container: Container,
  user: { uid?: bigint; username?: string } = {},
  grants?: ContainerGrants,
) {
  const { uid, username = '' } = user;
  const image = create(ImageSchema, { id: 'sha256:1', uid: uid === undefined ? undefined : { value: uid }, username });
  const mounts = [
    {
      name: 'data',
      hostPath: '/h',
      containerPath: '/c',
      readonly: true,
      recursiveReadOnly: false,
      propagation: 'Bidirectional' as const,
      relabel: true,
    },
  ];
  const prepared = { environment: [{ name: 'A', value: 'ü' }], command: ['sh'], args: ['-c', 'x'], mounts, grants };
  const namespaces = namespaceOptions(pod, undefined);
  const rest = {
    node: fakeNode(),
    namespaces,
    seccompDefault: false,
    netRawDefault: true,
    seccompRoot: '/seccomp',
    kubeletId: 'k',
  };
  return containerConfig({ pod, container, restartCount: 3, image, prepared, ...rest });
}

test('a sandbox has its pod’s identity, log directory, ports and cgroup', () => {
  const ports = [{ containerPort: 80, hostPort: 8080, protocol: 'UDP' as const, hostIP: '127.0.0.1' }];
  const pod = podOf({ containers: [{ ...app, ports }] }, { labels: { app: 'x' }, annotations: { note: 'y' } });
  const config = sandboxOf(pod);
  assert.equal(config.metadata!.attempt, 2);
  assert.equal(config.logDirectory, '/logs/shop_web_u1');
  assert.equal(config.hostname, 'web');
  assert.equal(config.linux!.cgroupParent, '/p');
  assert.equal(config.labels.app, 'x');
  assert.deepEqual(decodePodIdentity(config.labels), { name: 'web', namespace: 'shop', uid: 'u1' });
  assert.deepEqual(config.annotations, { note: 'y' });
  const [port] = config.portMappings;
  assert.deepEqual([port!.containerPort, port!.hostPort, port!.hostIp], [80, 8080, '127.0.0.1']);
  assert.equal(port!.protocol, Protocol.UDP);
});

test('a pod in the host network namespace has no host name of its own', () => {
  const ports = [{ containerPort: 80 }];
  const config = sandboxOf(podOf({ hostNetwork: true, hostPID: true, hostIPC: true, containers: [{ ...app, ports }] }));
  const { network, pid, ipc } = config.linux!.securityContext!.namespaceOptions!;
  assert.deepEqual([network, pid, ipc], [NamespaceMode.NODE, NamespaceMode.NODE, NamespaceMode.NODE]);
  assert.equal(config.hostname, '');
});

test('containers have their own PID namespace unless the pod shares one', () => {
  const pidOf = (spec: Partial<PodSpec>) => sandboxOf(podOf(spec)).linux!.securityContext!.namespaceOptions!.pid;
  assert.equal(pidOf({}), NamespaceMode.CONTAINER);
  assert.equal(pidOf({ shareProcessNamespace: true }), NamespaceMode.POD);
});

test('the host name is a single DNS label, or the FQDN on request', () => {
  assert.equal(podHostname(podOf({}, { name: `${'a'.repeat(62)}.b` }), 'c.local'), 'a'.repeat(62));
  assert.equal(podHostname(podOf({ hostname: 'db' }), 'c.local'), 'db');
  const full = podOf({ subdomain: 'sub', setHostnameAsFQDN: true });
  assert.equal(podHostname(full, 'c.local'), 'web.sub.shop.svc.c.local');
  assert.equal(podHostname(podOf({ hostnameOverride: 'db.example.org', subdomain: 's' }), 'c.local'), 'db.example.org');
  const long = podOf({ subdomain: 'sub', setHostnameAsFQDN: true }, { name: 'w'.repeat(43) });
  assert.equal(podHostname(long, 'c.local').length, 64);
  assert.throws(() => podHostname(podOf(long.spec, { name: 'w'.repeat(44) }), 'c.local'), {
    message: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${'w'.repeat(44)}.sub.shop.svc.c.local is too long (64 characters is the max, 65 characters requested)`,
  });
});

test('container labels and annotations can be decoded', () => {
  const preStop = { exec: { command: ['stop'] } };
  const container: Container = { ...app, lifecycle: { preStop }, terminationMessagePath: '/dev/end' };
  const config = containerOf(podOf({ terminationGracePeriodSeconds: 7 }), container);
  const info = decodeContainerInfo(config.labels, config.annotations)!;
  assert.deepEqual(info.pod, { name: 'web', namespace: 'shop', uid: 'u1' });
  assert.equal(info.containerName, 'app');
  assert.equal(info.restartCount, 3);
  assert.equal(info.terminationMessagePath, '/dev/end');
  assert.equal(info.terminationGracePeriodSeconds, 7);
  assert.deepEqual(info.preStop, preStop);
  assert.equal(decodeContainerInfo({ app: 'foreign' }, {}), undefined);
});

test('a device plugin cannot overwrite the kubelet’s own container annotations', () => {
  const forged = {
    'podwright.dev/listed-in': '{"list":"initContainers","position":0}',
    'io.kubernetes.container.preStopHandler': '{"exec":{"command":["forged"]}}',
    'io.kubernetes.pod.deletionGracePeriod': '1',
  };
  const others = { environment: [], mounts: [], devices: [], cdiDevices: [], cpus: '', memoryNodes: '' };
  const grants = { ...others, hasOwnCpus: false, annotations: { ...forged, 'vendor.example/gpu': '0' } };
  const { labels, annotations } = containerOf(podOf(), app, {}, grants);
  const { listed, preStop, terminationGracePeriodSeconds } = decodeContainerInfo(labels, annotations)!;
  assert.deepEqual([listed, preStop, terminationGracePeriodSeconds], [undefined, undefined, undefined]);
  assert.equal(annotations['vendor.example/gpu'], '0');
});

test('a container gets its command, environment, mounts and log file', () => {
  const config = containerOf(podOf(), { ...app, tty: true, stdin: true, workingDir: '/w' });
  assert.deepEqual([config.command, config.args], [['sh'], ['-c', 'x']]);
  assert.equal(Buffer.from(config.envs[0]!.value).toString(), 'ü');
  assert.equal(config.logPath, 'app/3.log');
  assert.equal(config.image!.image, 'sha256:1');
  assert.equal(config.image!.userSpecifiedImage, 'busybox:1');
  assert.deepEqual([config.tty, config.stdin, config.stdinOnce, config.workingDir], [true, true, false, '/w']);
  assert.equal(config.mounts[0]!.propagation, MountPropagation.PROPAGATION_BIDIRECTIONAL);
  assert.equal(config.mounts[0]!.readonly, true);
});

test('a container’s security context overrides that of its pod', () => {
  const pod = podOf({
    securityContext: {
      runAsUser: 1,
      runAsGroup: 2,
      fsGroup: 3,
      supplementalGroups: [4, 3],
      seccompProfile: { type: 'RuntimeDefault' },
    },
  });
  const shared = containerOf(pod, app).linux!.securityContext!;
  assert.deepEqual([shared.runAsUser!.value, shared.runAsGroup!.value], [1n, 2n]);
  assert.deepEqual(shared.supplementalGroups, [3n, 4n]);
  assert.equal(shared.seccomp!.profileType, SecurityProfile_ProfileType.RuntimeDefault);
  const own = containerOf(pod, {
    ...app,
    securityContext: {
      runAsUser: 9,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
      seccompProfile: { type: 'Localhost', localhostProfile: 'p.json' },
    },
  }).linux!.securityContext!;
  assert.equal(own.runAsUser!.value, 9n);
  assert.deepEqual([own.noNewPrivs, own.readonlyRootfs, own.privileged], [true, true, false]);
  assert.deepEqual(own.capabilities!.dropCapabilities, ['ALL']);
  assert.equal(own.seccomp!.localhostRef, '/seccomp/p.json');
  assert.ok(own.maskedPaths.includes('/proc/kcore'));
});

test('the image’s user is passed on if the pod does not specify one', () => {
  assert.equal(containerOf(podOf(), app, { uid: 5n }).linux!.securityContext!.runAsUser!.value, 5n);
  assert.equal(containerOf(podOf(), app, { username: 'web' }).linux!.securityContext!.runAsUsername, 'web');
});

test('the container’s stop signal is passed on', () => {
  assert.equal(containerOf(podOf(), { ...app, lifecycle: { stopSignal: 'SIGUSR1' } }).stopSignal, Signal.SIGUSR1);
  assert.equal(
    containerOf(podOf(), { ...app, lifecycle: { stopSignal: 'SIGRTMIN+1' } }).stopSignal,
    Signal.SIGRTMINPLUS1,
  );
  assert.equal(
    containerOf(podOf(), { ...app, lifecycle: { stopSignal: 'SIGRTMAX-1' } }).stopSignal,
    Signal.SIGRTMAXMINUS1,
  );
  assert.equal(containerOf(podOf(), app).stopSignal, Signal.RUNTIME_DEFAULT);
});

test('runAsNonRoot rejects root and user names that could be root', () => {
  const pod = podOf({ securityContext: { runAsNonRoot: true } });
  const check = (securityContext: Container['securityContext'], user: { uid?: bigint; username: string }) =>
    nonRootViolation(pod, { ...app, securityContext }, { uid: undefined, ...user })?.reason;
  assert.equal(check({}, { uid: 0n, username: '' }), 'CreateContainerConfigError');
  assert.equal(check({}, { username: '' }), 'CreateContainerConfigError');
  assert.equal(check({}, { username: 'web' }), 'CreateContainerConfigError');
  assert.equal(check({}, { uid: 7n, username: '' }), undefined);
  assert.equal(check({}, { uid: 2n ** 31n, username: '' }), 'CreateContainerConfigError');
  assert.equal(check({ runAsUser: 0 }, { uid: 7n, username: '' }), 'CreateContainerConfigError');
  assert.equal(check({ runAsUser: 7 }, { username: 'web' }), undefined);
  assert.equal(check({ runAsNonRoot: false }, { uid: 0n, username: '' }), undefined);
});
