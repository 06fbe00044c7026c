import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { createKubeClient, type KubeClient } from '@podwright/kube-client';
import { type KubeletOptions, kubeletOptions, startKubelet } from '@podwright/kubelet';
import { DEFAULT_EVICTION } from '@podwright/kubelet-configuration';
import type { Credential } from './credential.ts';

type Place = { url: string; certificateAuthority: string };

/** A kubelet on an in-memory runtime, as a node of a cluster. */
export type NodeKubelet = {
  runtime: FakeRuntime;
  /** Sets whether the pod network is ready (initially true). */
  setNetwork(isReady: boolean): void;
  /** Stops the kubelet and starts a new one for the same node. */
  restart(given?: Partial<KubeletOptions>): Promise<void>;
};

/** Starts a kubelet, which is stopped when the test ends. `credential` is the client certificate or token of the kubelet's node. */
export async function startNode(
  t: TestContext,
  { place, credential, ...given }: Partial<KubeletOptions> & { place: Place; credential: Credential },
): Promise<NodeKubelet> {
  const scratch = mkdtempSync(join(tmpdir(), 'pwk-cluster-'));
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  const network = { isReady: true };
  const clients: KubeClient[] = [];
  const client = () => {
    const made = connect(place, credential);
    clients.push(made);
    return made;
  };
  const start = (more: Partial<KubeletOptions>) =>
    startKubelet(
      kubeletOptions({
        manifestDir: join(scratch, 'manifests'),
        runtimeEndpoint: '/none',
        nodeName: 'n1',
        logger: silentLogger,
        rootDir: scratch,
        podLogsDir: join(scratch, 'logs'),
        cgroupRoot: '',
        cluster: { client: client(), heartbeatClient: client(), eventClient: client() },
        eviction: { ...DEFAULT_EVICTION, hard: {} }, // independent of the host's disk usage
        ...given,
        ...more,
      }),
      { cri: withNetwork(runtime.client, network) },
    );
  let kubelet = await start({});
  const end = async () => {
    await kubelet.close();
    for (const one of clients.splice(0)) one.close();
  };
  t.after(async () => {
    await end();
    await rm(scratch, { recursive: true, force: true });
  });
  return {
    runtime,
    setNetwork: (isReady) => {
      network.isReady = isReady;
    },
    restart: async (more = {}) => {
      await end();
      kubelet = await start(more);
    },
  };
}

function connect({ url, certificateAuthority: ca }: Place, credential: Credential): KubeClient {
  if (credential.kind === 'token') throw new Error('a node needs a certificate');
  return createKubeClient({ server: url, tls: { ca, certificate: credential.certificate, key: credential.key } });
}

function withNetwork(cri: CriClient, network: { isReady: boolean }): CriClient {
  const status: CriClient['runtime']['status'] = async (...call) => {
    const answer = await cri.runtime.status(...call);
    const condition = answer.status?.conditions.find(({ type }) => type === 'NetworkReady');
    if (condition !== undefined && !network.isReady)
      Object.assign(condition, { status: false, reason: 'NetworkPluginNotReady', message: 'no network' });
    return answer;
  };
  return { ...cri, runtime: { ...cri.runtime, status } };
}
