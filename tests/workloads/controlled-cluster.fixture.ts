/** An API server in this process, controllers that can be restarted, and a scripted kubelet. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, startApiServer } from '@podwright/api-server';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import {
  type Controller,
  cronJobController,
  daemonSetController,
  finishedJobController,
  jobController,
  type RunningControllers,
  startControllers,
  statefulSetController,
} from '@podwright/controllers';
import type { KubeObject, Pod, Resource } from '@podwright/kube-api';
import { isApiStatus, type KubeClient, PODS } from '@podwright/kube-client';
import { ScriptedKubelet } from './scripted-kubelet.fixture.ts';

const NAMESPACE = 'default';
const CONTROLLERS: Record<string, Controller> = {
  'cron job': cronJobController,
  'daemon set': daemonSetController,
  'finished job': finishedJobController,
  job: jobController,
  'stateful set': statefulSetController,
};

const batch = (plural: string, kind: string): Resource => ({
  group: 'batch',
  version: 'v1',
  plural,
  kind,
  namespaced: true,
});
export const JOBS = batch('jobs', 'Job');
export const CRON_JOBS = batch('cronjobs', 'CronJob');
export const STATEFUL_SETS: Resource = { ...batch('statefulsets', 'StatefulSet'), group: 'apps' };
export const DAEMON_SETS: Resource = { ...batch('daemonsets', 'DaemonSet'), group: 'apps' };
export const REVISIONS: Resource = { ...batch('controllerrevisions', 'ControllerRevision'), group: 'apps' };

/** A Kubernetes object whose status the tests read. */
export type Workload = KubeObject & {
  spec: Record<string, unknown>;
  status?: Record<string, unknown> & { conditions?: { type: string; status: string }[] };
};

export class ControlledCluster {
  readonly client: KubeClient;
  readonly #directory: string;
  readonly #server: ApiServer;
  #kubelet: ScriptedKubelet | undefined;
  #controllers: RunningControllers | undefined;

  static async start(): Promise<ControlledCluster> {
    const directory = mkdtempSync(join(tmpdir(), 'pw-workloads-'));
    const server = await startApiServer({
      directory: join(directory, 'data'),
      socketPath: join(directory, 'api.sock'),
      logger: silentLogger,
    });
    const cluster = new ControlledCluster(directory, server);
    await cluster.until(() => cluster.client.get({ ...PODS, plural: 'serviceaccounts' }, cluster.place('default')));
    cluster.#kubelet = await ScriptedKubelet.start(cluster.client);
    cluster.startControllers();
    return cluster;
  }

  constructor(directory: string, server: ApiServer) {
    this.#directory = directory;
    this.#server = server;
    this.client = server.client({ username: 'admin', groups: ['system:masters', 'system:authenticated'] });
  }

  startControllers(): void {
    this.#controllers = startControllers({ client: this.client, controllers: CONTROLLERS, logger: silentLogger });
  }

  async stopControllers(): Promise<void> {
    await this.#controllers?.stop();
  }

  async stop(): Promise<void> {
    await this.stopControllers();
    await this.#kubelet?.stop();
    await this.#server.stop();
    rmSync(this.#directory, { recursive: true });
  }

  place(name: string): { namespace: string; name: string } {
    return { namespace: NAMESPACE, name };
  }

  async create(resource: Resource, name: string, spec: object): Promise<void> {
    await this.client.create(resource, { metadata: { namespace: NAMESPACE, name }, spec } as KubeObject);
  }

  async patch(resource: Resource, name: string, spec: object): Promise<void> {
    await this.client.patch(resource, this.place(name), { type: 'strategic', body: { spec } });
  }

  async list<T extends KubeObject>(resource: Resource, labelSelector?: string): Promise<T[]> {
    return (await this.client.list<T>(resource, { namespace: NAMESPACE, labelSelector })).items;
  }

  pods(labelSelector: string): Promise<Pod[]> {
    return this.list<Pod>(PODS, labelSelector);
  }

  async untilStatus(resource: Resource, name: string, wanted: Record<string, unknown>): Promise<Workload> {
    return await this.until(async () => {
      const object = await this.client.get<Workload>(resource, this.place(name));
      const isThere = Object.entries(wanted).every(([key, value]) => object.status?.[key] === value);
      return isThere ? object : undefined;
    });
  }

  /** Waits until a Job has this condition; returns the Job. */
  async untilCondition(name: string, type: string): Promise<Workload> {
    return await this.until(async () => {
      const job = await this.client.get<Workload>(JOBS, this.place(name));
      return job.status?.conditions?.some((one) => one.type === type && one.status === 'True') ? job : undefined;
    });
  }

  /** Waits until `check` returns a value. Treats an object that does not exist yet as no value. */
  async until<T>(check: () => Promise<T | undefined>): Promise<T> {
    using signal = withTimeout(undefined, 60_000, `wait for ${check}`);
    const probe = () =>
      check().catch((error: unknown) => {
        if (isApiStatus(error, 404)) return undefined;
        throw error;
      });
    return await waitFor(probe, { intervalMs: 50, signal });
  }
}

/** Returns a pod template. `command` is interpreted by the scripted kubelet. */
export function template(app: string, command: string, image = 'v1'): object {
  const containers = [{ name: 'main', image, command: [command] }];
  return { metadata: { labels: { app } }, spec: { automountServiceAccountToken: false, containers } };
}

export function jobTemplate(app: string, command: string): object {
  const { metadata, spec } = template(app, command) as { metadata: object; spec: object };
  return { metadata, spec: { ...spec, restartPolicy: 'Never' } };
}
