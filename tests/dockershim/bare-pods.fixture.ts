/**
 * Pods on a Docker Engine in the form a dockershim creates them, but without a dockershim, to test parts that do not create pods
 * themselves.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { type CriClient, connectCri, createCriServer } from '@podwright/cri';
import { discoverCgroups } from '@podwright/host';
import { StreamingServer } from '@podwright/streaming';
import { createPortDialer, loadSystem } from '@podwright/system';
import { connectEngine, type Engine } from '../../packages/dockershim/src/engine/engine.ts';
import type { HostConfig } from '../../packages/dockershim/src/engine/engine-types.ts';
import { imageHandlers } from '../../packages/dockershim/src/images/image-handlers.ts';
import {
  CONTAINER_TYPE,
  dockerLabels,
  SANDBOX_ID_LABEL,
  SANDBOX_TYPE,
  TYPE_LABEL,
} from '../../packages/dockershim/src/labels/labels.ts';
import { formatName } from '../../packages/dockershim/src/labels/names.ts';
import type { DockershimOptions } from '../../packages/dockershim/src/options.ts';
import { statisticsHandlers } from '../../packages/dockershim/src/statistics/statistics-handlers.ts';
import { streamHandlers } from '../../packages/dockershim/src/streams/stream-handlers.ts';
import { busyboxImage, type DockerEngine, startDockerEngine } from './docker-engine.fixture.ts';

/** The dockershim options used by the stream and statistics handlers. */
export const bareOptions = {
  sandboxImage: 'registry.k8s.io/pause:3.10',
  pullProgressDeadlineMs: 60_000,
} as DockershimOptions;

export type BareContainer = { stdin?: boolean; stdinOnce?: boolean; tty?: boolean; host?: HostConfig };

/** A Docker Engine with pods, and a CRI server with the stream and statistics handlers. */
export class BarePods implements AsyncDisposable {
  readonly docker: DockerEngine;
  readonly engine: Engine;
  readonly streaming = new StreamingServer({ address: '127.0.0.1', port: 0, logger: silentLogger });
  cri!: CriClient;
  #closeServer: () => Promise<void> = async () => undefined;

  private constructor(docker: DockerEngine, engine: Engine) {
    this.docker = docker;
    this.engine = engine;
  }

  static async start(): Promise<BarePods> {
    const docker = await startDockerEngine();
    const pods = new BarePods(docker, await connectEngine(docker.socket));
    await pods.streaming.listen();
    const dial = createPortDialer({ system: loadSystem(), logger: silentLogger });
    const runtime = {
      version: async () => ({
        version: '0.1.0',
        runtimeName: 'docker',
        runtimeVersion: '20.10.24',
        runtimeApiVersion: 'v1',
      }),
      ...streamHandlers({ engine: pods.engine, server: pods.streaming, dial }),
      ...statisticsHandlers({ engine: pods.engine, logger: silentLogger, cgroups: await discoverCgroups() }),
    };
    const socket = join(docker.scratch, 'cri.sock');
    const server = await createCriServer({
      socket,
      handlers: { runtime, image: imageHandlers({ engine: pods.engine, options: bareOptions }) },
      logger: silentLogger,
    });
    pods.cri = await connectCri({ runtimeEndpoint: server.endpoint, logger: silentLogger });
    pods.#closeServer = () => server.close(0);
    return pods;
  }

  /** Starts a sandbox container; by default, it has its own network namespace. */
  async sandbox(host: HostConfig = {}): Promise<string> {
    const name = { name: 'POD', podName: 'pod', namespace: 'default', uid: randomUUID(), attempt: 0 };
    const labels = dockerLabels({ labels: {}, annotations: {} }, { [TYPE_LABEL]: SANDBOX_TYPE });
    const command = { Image: busyboxImage, Cmd: ['sleep', '1000000'], Labels: labels };
    return await this.#start(formatName(name), { ...command, HostConfig: { NetworkMode: 'none', ...host } });
  }

  async container(sandboxId: string, script: string, options: BareContainer = {}): Promise<string> {
    const own = { [TYPE_LABEL]: CONTAINER_TYPE, [SANDBOX_ID_LABEL]: sandboxId };
    const labels = dockerLabels({ labels: { app: 'bare' }, annotations: {} }, own);
    const name = formatName({ name: 'main', podName: 'pod', namespace: 'default', uid: randomUUID(), attempt: 0 });
    const { stdin = false, stdinOnce = false, tty = false, host } = options;
    return await this.#start(name, {
      ...{ Image: busyboxImage, Cmd: ['sh', '-c', script], Labels: labels },
      ...{ OpenStdin: stdin, StdinOnce: stdinOnce, Tty: tty },
      HostConfig: { NetworkMode: `container:${sandboxId}`, ...host },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cri.close();
    await this.#closeServer();
    await this.streaming.close();
    this.engine.close();
    await this.docker.stop();
  }

  async #start(name: string, spec: Parameters<Engine['containers']['create']>[1]): Promise<string> {
    const id = await this.engine.containers.create(name, spec);
    await this.engine.containers.start(id);
    return id;
  }
}
