/** Starts the single-node clusters to compare: `podwright node`, and upstream's control plane, kubelet and kube-proxy on containerd. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChecked } from '@podwright/host';
import { createKubeClient, type KubeClient, NODES, readKubeconfig } from '@podwright/kube-client';
import { type Credential, kubeconfigOf } from '../tests/cluster/credential.ts';
import { RealControlPlane } from '../tests/cluster/real-control-plane.fixture.ts';
import type { Bench } from './bench.ts';
import { end, untilReady, upstreamKubelet } from './cluster-nodes.ts';
import { loadImage, PROGRAM, startContainerd, startDaemon, startPodwright, subnetOf } from './sides.ts';
import { until } from './until.ts';

/** A single-node cluster. `pids` are its daemons, without the helper processes of pods (shims and the like). */
export type WorkloadSide = { client: KubeClient; pids: number[]; stop(): Promise<void> };

const OURS = { name: 'workloads', index: 20 };
const UPSTREAM = { name: 'workloads-upstream', index: 21 };
/**
 * Service CIDRs of the two clusters. They must differ, because the clusters run on the same host, possibly next to a node with the default
 * range.
 */
const [OUR_CIDR, UPSTREAM_CIDR] = ['10.91.0.0/20', '10.90.0.0/16'];

/** Returns the part of the configuration file that enables the Kubernetes API, on a port chosen by the operating system. */
export const apiSettings = (serviceCidr: string): string =>
  `[api]\nenabled = true\nlisten = "127.0.0.1:0"\nservice_cidr = "${serviceCidr}"`;

/** Port for kube-proxy's health checks; the next port is for its metrics. kube-proxy does not accept port 0. */
const FIRST_PROXY_PORT = 11_990;

type Sides = Pick<Bench, 'scratch' | 'sides'>;

/** Starts `podwright node`, and waits until it is ready. */
export async function startOurNode({ scratch, sides }: Sides): Promise<WorkloadSide> {
  const settings = apiSettings(OUR_CIDR);
  const side = await startPodwright(scratch, { ...OURS, command: 'node', setup: 'default', settings });
  const stopNode = async () => {
    // stops the node with `podwright stop`, which unlike a signal also terminates the pods
    await runChecked(PROGRAM, ['--config', join(side.directory, 'config.toml'), 'stop']);
    await side.stop();
  };
  sides.push({ stop: stopNode });
  await loadImage(side);
  const kubeconfig = join(side.directory, 'run/admin.kubeconfig');
  await until(() => existsSync(kubeconfig) || undefined);
  const client = createKubeClient(await readKubeconfig(kubeconfig));
  const { items } = await until(() =>
    client.list(NODES, {}).then((list) => (list.items.length > 0 ? list : undefined)),
  );
  await untilReady(client, items[0]!.metadata.name!);
  const stop = async () => {
    client.close();
    await stopNode();
  };
  return { client, pids: [side.pid], stop };
}

/**
 * Starts upstream's programs and waits until the node is ready. Returns `undefined` unless environment variables give the paths of the
 * programs.
 */
export async function startUpstreamNode({ scratch, sides }: Sides): Promise<WorkloadSide | undefined> {
  const { PODWRIGHT_KUBERNETES_BIN: directory = '', PODWRIGHT_ETCD: etcd = '' } = process.env;
  if (directory === '' || etcd === '' || process.env.PODWRIGHT_BENCH_KUBELET === undefined) return undefined;
  const plane = new RealControlPlane({ directory, etcd }, { isDurable: true, serviceRange: UPSTREAM_CIDR });
  sides.push(plane);
  await plane.start();
  const admin = plane.certificate('kubernetes-admin', ['system:masters']);
  if (admin.kind !== 'certificate') throw new Error('the administrator of the control plane has no certificate');
  const tls = { ca: plane.certificateAuthority, certificate: admin.certificate, key: admin.key };
  const client = createKubeClient({ server: plane.url, tls });
  const containerd = await startContainerd(scratch, UPSTREAM);
  sides.push(containerd);
  const { name, index } = UPSTREAM;
  const write = (file: string, credential: Credential) => {
    const path = join(containerd.directory, file);
    writeFileSync(path, kubeconfigOf(plane, credential), { mode: 0o600 });
    return path;
  };
  const kubeconfig = write('kubelet.kubeconfig', plane.certificate(`system:node:${name}`, ['system:nodes']));
  const kubelet = await upstreamKubelet(containerd.directory, { name, index, kubeconfig });
  sides.push({ stop: () => end(kubelet) });
  const access = write('proxy.kubeconfig', plane.certificate('system:kube-proxy', []));
  const proxy = startKubeProxy(join(directory, 'kube-proxy'), { directory: containerd.directory, kubeconfig: access });
  const stopProxy = async () => {
    await end(proxy);
    for (const family of ['ip', 'ip6']) spawnSync('nft', ['delete', 'table', family, 'kube-proxy']);
  };
  sides.push({ stop: stopProxy });
  await untilReady(client, name);
  const stop = async () => {
    await stopProxy();
    await end(kubelet);
    await containerd.stop();
    client.close();
    await plane.stop();
  };
  return { client, pids: [...plane.pids, containerd.pid, kubelet.pid!, proxy.pid!], stop };
}

/** Starts kube-proxy in nftables mode with its default intervals. */
function startKubeProxy(
  program: string,
  { directory, kubeconfig }: { directory: string; kubeconfig: string },
): ChildProcess {
  const config = join(directory, 'proxy.json');
  const settings = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    hostnameOverride: UPSTREAM.name,
    clientConnection: { kubeconfig },
    clusterCIDR: subnetOf(UPSTREAM.index),
    healthzBindAddress: `127.0.0.1:${FIRST_PROXY_PORT}`,
    metricsBindAddress: `127.0.0.1:${FIRST_PROXY_PORT + 1}`,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
  writeFileSync(config, JSON.stringify(settings));
  return startDaemon(directory, [program, '--config', config]);
}
