/**
 * Feeds unusual HTTP responses to all code that reads responses from external servers: those accepted by Go's client, and therefore by
 * upstream's kubelet and containerd, must be accepted here too. Add new readers to `readers`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { fetchManifest } from '../../packages/cli/src/manifests/manifest-url.ts';
import { sendOverHttp } from '../../packages/cri/src/otlp/send-over-http.ts';
import { HttpClient } from '../../packages/images/src/registry/http-client.ts';
import { LifecycleHooks } from '../../packages/kubelet/src/kuberuntime/lifecycle-hooks.ts';
import { Prober } from '../../packages/kubelet/src/prober/prober.ts';
import { ManifestUrl } from '../../packages/pod-config/src/manifest-url.ts';
import { readableAnswers, serveOddly, unreadableAnswers } from '../fixtures/odd-http-answers.ts';

const BOUND_MS = 10_000;
const container = { name: 'c', image: 'i' };
const podIps = ['127.0.0.1'];
const commands = { runInContainer: () => Promise.reject(new Error('not asked for')) };

/**
 * `read` reads a response and returns whether it counts as success (of a probe, for example). Rejects if the response cannot be read.
 * `left` lists responses that are readable for Go's client but that this reader rejects.
 */
type Reader = { read: (port: number) => Promise<boolean | undefined>; left?: string[] };

const statusOf = (error: unknown) => /status(?:code:| |)\s*(\d+)|answered (\d+)/.exec(String(error));
/** Maps an error that reports an unsuccessful HTTP status to false, since the response was readable. */
const successOf = (reading: Promise<unknown>) =>
  reading.then(
    () => true,
    (error: unknown) => {
      if (statusOf(error) === null) throw error;
      return false;
    },
  );

async function probe(port: number): Promise<boolean> {
  const target = {
    probe: { timeoutSeconds: BOUND_MS / 1000, httpGet: { port } },
    container,
    containerId: 'id',
    podIps,
  };
  const { verdict, output } = await new Prober(commands).probe(target, AbortSignal.timeout(BOUND_MS));
  if (verdict === 'error' || (verdict === 'failure' && statusOf(output) === null)) throw new Error(output);
  return verdict !== 'failure';
}

async function hook(port: number): Promise<undefined> {
  const metadata = { name: 'p', namespace: 'default', uid: 'u' };
  const pod = { apiVersion: 'v1' as const, kind: 'Pod' as const, metadata, spec: { containers: [container] } };
  const hooks = new LifecycleHooks({ commands, events: { event: () => undefined } });
  const request = { pod, container, containerId: 'id', podIps, handler: { httpGet: { port } } };
  await hooks.run(request, AbortSignal.timeout(BOUND_MS));
}

async function manifestUrl(port: number): Promise<void> {
  const problems: string[] = [];
  const warn = (fields: object) => void problems.push((fields as { error: string }).error);
  const url = `http://127.0.0.1:${port}/`;
  const options = {
    url,
    headers: {},
    logger: { ...silentLogger, warn },
    periodMs: BOUND_MS,
    onChange: () => undefined,
  };
  const stop = new AbortController();
  await new ManifestUrl(options).start(stop.signal);
  stop.abort();
  const unread = problems.find((problem) => problem.includes('get the manifest'));
  if (unread !== undefined) throw new Error(unread);
}

async function registry(port: number): Promise<undefined> {
  const http = new HttpClient({ stallTimeoutMs: BOUND_MS, documentTimeoutMs: BOUND_MS, environment: {} });
  const tls = { ca: [], clientCertificates: [], skipVerify: false };
  const request = { method: 'GET' as const, url: `http://127.0.0.1:${port}/`, headers: {}, tls };
  try {
    const answer = await http.send({ ...request, signal: AbortSignal.timeout(BOUND_MS) });
    await answer.document(1 << 20, 'read');
  } finally {
    http.close();
  }
}

const collector = (port: number) =>
  sendOverHttp(new URL(`http://127.0.0.1:${port}/`), {
    spans: [],
    resource: {},
    signal: AbortSignal.timeout(BOUND_MS),
  });

/** Responses that are unreadable if the client has requested gzip; Go's client rejects them as well. */
const LEFT_BY_GZIP = ['invalid gzip'];
/** Responses that Node's parser rejects even in lenient mode; see `docs/differences/images.md`. */
const LEFT_BY_NODE = [
  'spaces before the status',
  'the length twice',
  'the length twice, once with spaces',
  'a space in the name of a field',
  'a space before a colon',
  'switching protocols',
];

const readers: Record<string, Reader> = {
  'a probe': { read: probe },
  'a hook': { read: hook },
  "the kubelet's manifest URL": { read: (port) => successOf(manifestUrl(port)), left: LEFT_BY_GZIP },
  'the manifest URL of a command': {
    read: (port) => successOf(fetchManifest(`http://127.0.0.1:${port}/`)),
    left: LEFT_BY_GZIP,
  },
  'a registry or token server': { read: registry, left: LEFT_BY_NODE },
  'a collector of traces': { read: (port) => successOf(collector(port)), left: LEFT_BY_NODE },
};

for (const [reader, { read, left = [] }] of Object.entries(readers)) {
  test(`${reader} reads what Go's client reads`, async () => {
    const refused: string[] = [];
    for (const { name, raw, status } of readableAnswers) {
      await using server = await serveOddly(raw);
      const success = await read(server.port).catch((error: Error) => {
        refused.push(name);
        return left.includes(name) ? undefined : assert.fail(`${name}: ${error.message}`);
      });
      const isSuccess = status >= 200 && (status < 300 || (reader === 'a probe' && status < 400));
      assert.ok(success === undefined || success === isSuccess, `${name}: ${success}`);
    }
    assert.deepEqual(refused, left);
  });
}

for (const reader of ['a probe', 'a hook', "the kubelet's manifest URL", 'the manifest URL of a command']) {
  test(`${reader} refuses what Go's client refuses`, async () => {
    for (const { name, raw } of unreadableAnswers) {
      await using server = await serveOddly(raw);
      const isOnlyBody =
        reader === 'a hook' &&
        /^HTTP\/1\.1 200 OK\r\n(Transfer-Encoding: chunked|Content-Length: 10)\r\n\r\n/.test(raw);
      if (!isOnlyBody) await assert.rejects(readers[reader]!.read(server.port), name);
    }
  });
}

test('the response of a server that responds before the request and closes is read', async () => {
  await using server = await serveOddly('HTTP/1.1 200 OK\n\nok', { early: true });
  assert.equal(await probe(server.port), true);
});
