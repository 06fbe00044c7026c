/** Runs an API server in this process, a hollow node whose pods have no containers, and Podwright's controllers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, startApiServer } from '@podwright/api-server';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { type RunningControllers, startControllers } from '@podwright/controllers';
import type { KubeObject, Pod, Resource } from '@podwright/kube-api';
import { EVENTS, type KubeClient, PODS } from '@podwright/kube-client';
import { CONTROLLERS } from './controllers.fixture.ts';
import { FakeKubelet } from './fake-kubelet.fixture.ts';

const ADMIN = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
const NAMESPACES: Resource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };

export class WorkloadPlace {
  readonly client: KubeClient;
  readonly #directory: string;
  readonly #server: ApiServer;
  readonly #kubelet: FakeKubelet;
  #controllers: RunningControllers | undefined;

  static async start(): Promise<WorkloadPlace> {
    const directory = mkdtempSync(join(tmpdir(), 'pw-workloads-'));
    const socketPath = join(directory, 'api.sock');
    const server = await startApiServer({ directory: join(directory, 'data'), socketPath, logger: silentLogger });
    const client = server.client(ADMIN);
    return new WorkloadPlace({ directory, server, client, kubelet: await FakeKubelet.start(client) });
  }

  constructor(parts: { directory: string; server: ApiServer; client: KubeClient; kubelet: FakeKubelet }) {
    this.client = parts.client;
    this.#directory = parts.directory;
    this.#server = parts.server;
    this.#kubelet = parts.kubelet;
  }

  /** Starts the controllers with a client, replacing controllers that are already running. */
  async control(client: KubeClient = this.client): Promise<void> {
    await this.#controllers?.stop();
    this.#controllers = startControllers({
      client,
      eventClient: this.client,
      controllers: CONTROLLERS,
      logger: silentLogger,
    });
  }

  async stop(): Promise<void> {
    await this.#controllers?.stop();
    await this.#kubelet.stop();
    await this.#server.stop();
    rmSync(this.#directory, { recursive: true });
  }

  async namespace(name: string): Promise<string> {
    await this.client.create(NAMESPACES, { metadata: { name } });
    return name;
  }

  /** Waits until `check` returns a value other than false or undefined. */
  async until<T>(check: () => T | false | undefined | Promise<T | false | undefined>): Promise<T> {
    using signal = withTimeout(undefined, 30_000, `wait for ${check}`);
    return await waitFor(async () => (await check()) || undefined, { intervalMs: 20, signal });
  }

  async list<T extends KubeObject>(resource: Resource, namespace: string): Promise<T[]> {
    return (await this.client.list<T>(resource, { namespace })).items;
  }

  async pods(namespace: string): Promise<Pod[]> {
    return await this.list<Pod>(PODS, namespace);
  }

  async events(namespace: string, reason: string): Promise<string[]> {
    const events = await this.list<KubeObject & { reason: string; message: string }>(EVENTS, namespace);
    return events.filter((one) => one.reason === reason).map(({ message }) => message);
  }
}
