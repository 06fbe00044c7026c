import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import type { FakeKubeClient } from '@podwright/kube-client/testing';

/** Serves the lists and watches of an in-memory API server on 127.0.0.1, to the extent needed by kube-proxy. Returns the URL. */
export async function serveLists(client: FakeKubeClient, resources: Resource[]): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x');
    const single = /^\/api\/v1\/nodes\/(.+)$/.exec(pathname);
    const resource = resources.find(
      ({ group, version, plural }) => pathname === `${group === '' ? '/api' : `/apis/${group}`}/${version}/${plural}`,
    );
    const send = (code: number, body: unknown) =>
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const failure = (code: number) => send(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code });
    if (single !== null)
      return void client.get(nodeResource(resources), { name: single[1]! }).then(
        (node) => send(200, typed(nodeResource(resources), node)),
        () => failure(404),
      );
    if (resource === undefined || request.method !== 'GET') return void failure(404);
    if (searchParams.has('sendInitialEvents')) return void failure(422);
    const selection = { fieldSelector: searchParams.get('fieldSelector') ?? undefined };
    if (searchParams.get('watch') === 'true' || searchParams.get('watch') === '1')
      return void streamEvents(
        client,
        resource,
        { ...selection, resourceVersion: searchParams.get('resourceVersion') ?? undefined },
        response,
      );
    void client.list(resource, selection).then(({ metadata, items }) => {
      const { group, version, kind } = resource;
      const apiVersion = group === '' ? version : `${group}/${version}`;
      send(200, { kind: `${kind}List`, apiVersion, metadata, items: items.map((item) => typed(resource, item)) });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const nodeResource = (resources: Resource[]): Resource => resources.find(({ kind }) => kind === 'Node')!;

const typed = ({ group, version, kind }: Resource, object: KubeObject): KubeObject => ({
  ...object,
  apiVersion: group === '' ? version : `${group}/${version}`,
  kind,
});

async function streamEvents(
  client: FakeKubeClient,
  resource: Resource,
  selection: { fieldSelector?: string; resourceVersion?: string },
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  const ended = new AbortController();
  response.once('close', () => ended.abort());
  for await (const { type, object } of client.watch(resource, { ...selection, timeoutSeconds: 600 }, ended.signal))
    response.write(`${JSON.stringify({ type, object: typed(resource, object as KubeObject) })}\n`);
  response.end();
}

/** Starts upstream's kube-proxy on an in-memory API server, and waits until it has created its table. */
export async function startKubeProxy(
  program: string,
  { client, resources, podCidrs }: { client: FakeKubeClient; resources: Resource[]; podCidrs: string[] },
): Promise<ChildProcess> {
  const url = await serveLists(client, resources);
  const directory = mkdtempSync(join(tmpdir(), 'podwright-kube-proxy-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const access = { name: 'x', cluster: { server: url } };
  const context = { name: 'x', context: { cluster: 'x' } };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [access],
      contexts: [context],
      'current-context': 'x',
    }),
  );
  const config = join(directory, 'config');
  writeFileSync(
    config,
    JSON.stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'nftables',
      hostnameOverride: 'here',
      clientConnection: { kubeconfig, contentType: 'application/json', acceptContentTypes: 'application/json' },
      clusterCIDR: podCidrs.join(),
      nftables: { minSyncPeriod: '10ms', syncPeriod: '30s' },
      healthzBindAddress: '127.0.0.1:10256',
      metricsBindAddress: '127.0.0.1:10249',
      conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    }),
  );
  const proxy = spawn(program, ['--config', config, '-v', '2'], {
    stdio: ['ignore', 'ignore', process.env.PODWRIGHT_TEST_LOG ? 'inherit' : 'ignore'],
  });
  process.once('exit', () => proxy.kill('SIGKILL'));
  // kube-proxy reports itself healthy before it has created any rules
  const hasRules = () => {
    const { status } = spawnSync('nft', ['list', 'table', 'ip6', 'kube-proxy']);
    return status === 0 || undefined;
  };
  await waitFor(hasRules, { intervalMs: 50, signal: AbortSignal.timeout(60_000) });
  return proxy;
}
