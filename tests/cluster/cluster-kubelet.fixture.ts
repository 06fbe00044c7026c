/** A kubelet on Podwright's runtime, registered as `node` in a cluster. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createLogger, waitFor, withTimeout } from '@podwright/base';
import { discoverCgroups, removeCgroup } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { createKubeClient, type KubeClient } from '@podwright/kube-client';
import { type Kubelet, type KubeletOptions, kubeletOptions, startKubelet } from '@podwright/kubelet';
import { DEFAULT_EVICTION } from '@podwright/kubelet-configuration';
import { type SuiteRuntime, startOurRuntime } from '../kubelet/suite-runtime.fixture.ts';
import type { ApiObject, Cluster } from './cluster.fixture.ts';

const NODE = 'node';
const PATIENCE_MS = 60_000;
const AMOUNTS = { cpu: '2', memory: '4Gi', pods: '110' };

export class ClusterKubelet {
  readonly #directory: string;
  runtime!: SuiteRuntime;
  readonly client: KubeClient;
  readonly options: KubeletOptions;
  handle!: Kubelet;

  constructor({ url, certificateAuthority, nodeCredential }: Pick<Cluster, 'url' | 'certificateAuthority'> & Given) {
    if (nodeCredential.kind !== 'certificate') throw new Error('a node needs a certificate');
    const { certificate, key } = nodeCredential;
    this.client = createKubeClient({ server: url, tls: { ca: certificateAuthority, certificate, key } });
    const directory = mkdtempSync(join(tmpdir(), 'pwk-node-'));
    this.#directory = directory;
    this.options = kubeletOptions({
      nodeName: NODE,
      runtimeEndpoint: '/none', // replaced in start()
      manifestDir: join(directory, 'manifests'),
      rootDir: join(directory, 'kubelet'),
      podLogsDir: join(directory, 'logs'),
      cgroupRoot: `/${basename(directory)}`,
      logger: createLogger({ level: 'error' }),
      cluster: { client: this.client, heartbeatClient: this.client, eventClient: this.client },
      eviction: { ...DEFAULT_EVICTION, hard: {} }, // independent of the host's disk usage
    });
  }

  async start(): Promise<void> {
    this.runtime = await startOurRuntime('node');
    this.options.runtimeEndpoint = this.runtime.endpoint;
    mkdirSync(this.options.manifestDir, { recursive: true });
    this.handle = await startKubelet(this.options);
    await this.handle.sourcesReady;
  }

  async restart(): Promise<void> {
    await this.handle.close();
    this.handle = await startKubelet(this.options);
  }

  async apply(file: string, manifest: string): Promise<void> {
    await writeFile(join(this.options.manifestDir, `.${file}`), manifest);
    await rename(join(this.options.manifestDir, `.${file}`), join(this.options.manifestDir, file));
  }

  remove(file: string): Promise<void> {
    return rm(join(this.options.manifestDir, file));
  }

  async until(what: string, holds: (pods: Pod[]) => boolean): Promise<void> {
    using signal = withTimeout(undefined, PATIENCE_MS, `wait until ${what}`);
    await waitFor(() => holds(this.handle.pods()) || undefined, { intervalMs: 5, signal });
  }

  async end(): Promise<void> {
    await this.handle.close();
    this.client.close();
    await this.runtime.stop();
    await removeCgroup(await discoverCgroups(), this.options.cgroupRoot);
    await rm(this.#directory, { recursive: true });
  }

  /** Returns a pod of the test image, bound to the node, that runs a shell script. */
  pod(
    name: string,
    { script = 'trap "exit 0" TERM; while :; do sleep 0.05; done', ...spec }: PodGiven = {},
  ): ApiObject {
    const container = { name: 'main', image: this.runtime.image, command: ['sh', '-c', script] };
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: {
        nodeName: NODE,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 5,
        containers: [container],
        ...spec,
      },
    };
  }
}

type Given = { nodeCredential: ReturnType<Cluster['nodeCredential']> };
type PodGiven = { script?: string } & Record<string, unknown>;

/** The Node object created by a self-registering kubelet. */
export const nodeObject: ApiObject = {
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } },
  status: { capacity: AMOUNTS, allocatable: AMOUNTS },
};
