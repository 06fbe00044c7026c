/** Pods from manifests on a Docker Engine: Podwright's kubelet, the dockershim, and the CNI bridge plugin. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runChecked } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import type { KubeletOptions } from '@podwright/kubelet';
import { readContainerLog } from '../../packages/kubelet/src/logs/container-logs.ts';
import type { LogQuery } from '../../packages/kubelet/src/logs/log-reader.ts';
import { type RealKubelet, startRealKubelet } from '../kubelet/real-kubelet.fixture.ts';
import { busyboxImage, type DockerEngine, startDockerEngine } from './docker-engine.fixture.ts';
import { type Dockershim, openDockershim } from './dockershim.fixture.ts';

const BRIDGE = 'pwdockpods0';
const SUBNET = '10.234.0.0/24';

/** A node on an Engine: a dockershim with CNI, and a kubelet in the same process. */
type DockerNode = { docker: DockerEngine; dockershim: Dockershim; kubelet: RealKubelet };

async function startNode(flags: string[], given: Partial<KubeletOptions> = {}): Promise<DockerNode> {
  const docker = await startDockerEngine({ flags });
  const dockershim = await openDockershim(docker.socket, (options) => {
    const { confDir } = options.network;
    mkdirSync(confDir);
    const ipam = { type: 'host-local', subnet: SUBNET, dataDir: join(confDir, 'addresses') };
    const plugins = [{ type: 'bridge', bridge: BRIDGE, isGateway: true, ipam }];
    writeFileSync(join(confDir, '10.conflist'), JSON.stringify({ cniVersion: '0.4.0', name: 'pods', plugins }));
    return { ...options, network: { ...options.network, plugin: 'cni' } };
  });
  const { endpoint, legacyLogs } = dockershim.handle;
  const place = { endpoint, bridge: BRIDGE, scratch: dockershim.scratch };
  return { docker, dockershim, kubelet: await startRealKubelet(place, { legacyLogs, ...given }) };
}

async function stopNode({ docker, dockershim, kubelet }: DockerNode): Promise<void> {
  await kubelet.close();
  await dockershim[Symbol.asyncDispose]();
  await docker.stop();
}

async function logOf(
  { kubelet }: DockerNode,
  pod: Pod,
  query: LogQuery & { previous?: boolean } = {},
): Promise<string> {
  const place = kubelet.handle.containerLog(pod, { container: '', previous: query.previous ?? false });
  const until = { ended: AbortSignal.abort(), signal: AbortSignal.timeout(30_000) };
  const chunks: Buffer[] = [];
  for await (const chunk of readContainerLog(place, query, until)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const stateOf = ({ status }: Pod) => status?.containerStatuses?.[0];

const manifest = (name: string, script: string, more = '') => `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: c
      image: ${busyboxImage}
      command: [sh, -c, '${script}']
${more}`;

let node: DockerNode;
before(async () => {
  node = await startNode([]);
});
after(async () => {
  await stopNode(node);
  await runChecked('ip', ['link', 'delete', BRIDGE]).catch(() => undefined);
});

test('a pod is probed, logged, restarted and removed', async () => {
  const { kubelet, dockershim } = node;
  const script =
    'echo try of $HOSTNAME; touch /tmp/index.html; httpd -p 8080 -h /tmp; trap exit TERM; sleep 1000 & wait';
  const probes = `
      readinessProbe: { httpGet: { path: /, port: 8080 }, periodSeconds: 1 }
      livenessProbe: { exec: { command: [sh, -c, "test ! -e /tmp/dead"] }, periodSeconds: 1, failureThreshold: 1 }`;
  await kubelet.apply('web.yaml', manifest('web', script, probes));
  const ready = await kubelet.pod('web', (pod) => stateOf(pod)?.ready === true);
  assert.match(ready.status!.podIP!, /^10\.234\.0\./);
  assert.match(stateOf(ready)!.containerID!, /^docker:\/\/[0-9a-f]{64}$/);
  assert.equal(await logOf(node, ready), 'try of web\n');
  const containerId = stateOf(ready)!.containerID!.slice('docker://'.length);
  const { stdout } = await dockershim.cri.runtime.execSync({
    containerId,
    cmd: ['cat', '/etc/hostname', '/etc/resolv.conf'],
    timeout: 10n,
  });
  assert.match(Buffer.from(stdout).toString(), /^web\n(.|\n)*^nameserver /m);
  const { status } = await dockershim.cri.runtime.containerStatus({ containerId });
  assert.ok(!status!.mounts.some(({ containerPath }) => containerPath === '/etc/resolv.conf'));
  await dockershim.cri.runtime.execSync({ containerId, cmd: ['touch', '/tmp/dead'], timeout: 10n });
  const again = await kubelet.pod('web', (pod) => stateOf(pod)?.restartCount === 1 && stateOf(pod)!.ready);
  assert.equal(await logOf(node, again, { previous: true }), 'try of web\n');
  assert.match(await logOf(node, again, { timestamps: true, tailLines: 1 }), /^\d{4}-.*Z try of web\n$/);
  await dockershim.restart();
  await kubelet.remove('web.yaml');
  await kubelet.until(
    'the pod is removed',
    async () => (await dockershim.cri.runtime.listPodSandbox({})).items.length === 0,
  );
});

test('logs of a different driver are read through the Engine, including for termination messages', async () => {
  const local = await startNode(['--log-driver=local']);
  try {
    const fallback = '      terminationMessagePolicy: FallbackToLogsOnError\n  restartPolicy: Never';
    await local.kubelet.apply(
      'job.yaml',
      manifest('job', 'echo out; sleep 0.1; echo no such thing >&2; exit 3', fallback),
    );
    const failed = await local.kubelet.pod('job', ({ status }) => status?.phase === 'Failed');
    assert.equal(stateOf(failed)?.state.terminated?.message, 'out\nno such thing\n');
    assert.equal(await logOf(local, failed), 'out\nno such thing\n');
    assert.equal(await logOf(local, failed, { tailLines: 1 }), 'no such thing\n');
    assert.equal(await logOf(local, failed, { stream: 'stdout' }), 'out\n');
    assert.match(await logOf(local, failed, { timestamps: true, limitBytes: 34 }), /^\d{4}-\S*Z out$/);
    assert.equal(await logOf(local, failed, { sinceMs: Date.now() + 60_000 }), '');
  } finally {
    await stopNode(local);
  }
});
