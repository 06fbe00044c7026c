import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { type Logger, type Registry as MetricsRegistry, Registry, silentLogger } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import { type FakeKubelet, startFakeKubelet } from '@podwright/kubelet/testing';
import { type KubeletServerOptions, kubeletServerOptions } from '@podwright/kubelet-configuration';
import { type ServedKubeletApi, type ServeKubeletApiInput, serveKubeletApi } from './serve-kubelet-api.ts';

export type Answer = { status: number; body: string; headers: Record<string, unknown> };
export type Ask = {
  method?: string;
  headers?: Record<string, string>;
  cert?: string | Buffer;
  key?: string | Buffer;
  maxVersion?: 'TLSv1.2' | 'TLSv1.3';
};

/** A fake kubelet that serves its API, for a single test. */
export type TestApi = {
  fake: FakeKubelet;
  registry: MetricsRegistry;
  served: ServedKubeletApi;
  port: number;
  directory: string;
  ask: (path: string, ask?: Ask) => Promise<Answer>;
};

/** Returns a port that is currently free. Another process may take it. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Serves the API of a fake kubelet. Anonymous requests are allowed unless `authentication` disables them. */
export async function serveApi(
  t: TestContext,
  given: Partial<KubeletServerOptions> & { manifest?: string; logger?: Logger; reviewer?: KubeClient } & Pick<
      ServeKubeletApiInput,
      'onListening' | 'peerUser'
    > = {},
): Promise<TestApi> {
  const { manifest, logger = silentLogger, reviewer, onListening, peerUser, ...options } = given;
  const directory = mkdtempSync(join(tmpdir(), 'pwk-api-'));
  const registry = new Registry();
  const fake = await startFakeKubelet({
    manifest,
    metrics: registry,
    manifestUrlHeaders: { authorization: ['Basic secret'] },
    server: kubeletServerOptions({
      address: '127.0.0.1',
      port: await freePort(),
      healthzPort: 0,
      authentication: { anonymous: true },
      ...options,
    }),
  });
  let served: ServedKubeletApi | undefined;
  t.after(async () => {
    await served?.close();
    await fake.close();
    await rm(directory, { recursive: true, force: true });
  });
  served = await serveKubeletApi({
    kubelet: fake.handle,
    registry,
    flags: { v: '2', config: '/x' },
    systemLogDirectory: join(directory, 'log'),
    reviewer,
    logger,
    onListening,
    peerUser,
  });
  const port = served.addresses.api?.port ?? 0;
  const ask = (path: string, { method = 'GET', ...rest }: Ask = {}) => call({ port, path, method, ...rest });
  return { fake, registry, served, port, directory, ask };
}

async function call({ port, path, method, ...rest }: Ask & { port: number; path: string }): Promise<Answer> {
  const outgoing = request({ host: '127.0.0.1', port, path, method, rejectUnauthorized: false, agent: false, ...rest });
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  const { statusCode, headers } = response;
  return { status: statusCode, body: await text(response), headers };
}
