/** Responses to probes and hooks must not keep the kubelet busy: other pods' probes would be delayed, and the pods restarted. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { LifecycleHooks } from '../../packages/kubelet/src/kuberuntime/lifecycle-hooks.ts';
import { Prober } from '../../packages/kubelet/src/prober/prober.ts';
import { Certificates } from '../fixtures/certificates.ts';
import { type EndlessAnswer, startAnswering } from './endless-answers.fixture.ts';

const PROBES = 8;
const TIMEOUT_SECONDS = 6;
/** Maximum CPU time in ms of eight concurrent probes: a quarter of the time until their deadline, and many times what they need. */
const MAX_CPU_MS = 1500;

/**
 * The server's SETTINGS, and the header of its response to the first request: `:status: 200` (RFC 9113, section 6; RFC 7541, appendix A).
 */
const http2Head = '\0\0\0\x04\0\0\0\0\0' + '\0\0\x01\x01\x04\0\0\0\x01\x88';

const httpAnswers: Record<string, [EndlessAnswer, verdict: string]> = {
  'early hints': [{ head: '', again: 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000) }, 'failure'],
  'a body in chunks of one byte': [
    { head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', again: '1\r\nx\r\n'.repeat(5000) },
    'success',
  ],
  'a chunk with an endless extension': [
    { head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', again: '1;a=b\r\nx\r\n'.repeat(5000) },
    'success',
  ],
};
const grpcAnswers: Record<string, EndlessAnswer> = {
  'data frames of one byte': { head: http2Head, again: '\0\0\x01\0\0\0\0\0\x01x'.repeat(5000) },
  'data frames of no byte': { head: http2Head, again: '\0\0\0\0\0\0\0\0\x01'.repeat(5000) },
  pings: { head: http2Head, again: '\0\0\x08\x06\0\0\0\0\0pingpong'.repeat(3000) },
  settings: { head: http2Head, again: '\0\0\0\x04\0\0\0\0\0'.repeat(5000) },
};

const container = { name: 'c', image: 'i' };
const podIps = ['127.0.0.1'];
const commands = { runInContainer: () => Promise.reject(new Error('not asked for')) };
const prober = new Prober(commands);

/** Makes eight concurrent calls to a server that responds with `answer`; asserts that this thread's CPU time is limited. */
async function attack(answer: EndlessAnswer, call: (port: number) => Promise<unknown>): Promise<void> {
  await using server = await startAnswering(answer);
  const before = process.threadCpuUsage();
  await Promise.all(Array.from({ length: PROBES }, () => call(server.port)));
  const { user, system } = process.threadCpuUsage(before);
  const spentMs = (user + system) / 1000;
  assert.ok(spentMs < MAX_CPU_MS, `${PROBES} of them took ${spentMs} ms of CPU time`);
}

async function probe(kind: 'httpGet' | 'grpc', port: number, verdict: string, scheme?: 'HTTPS'): Promise<void> {
  const target = {
    probe: { timeoutSeconds: TIMEOUT_SECONDS, [kind]: { port, scheme } },
    container,
    containerId: 'id',
    podIps,
  };
  const answer = await prober.probe(target, new AbortController().signal);
  assert.equal(answer.verdict, verdict, answer.output);
  assert.doesNotMatch(answer.output, /deadline|timed out/);
}

for (const [what, [answer, verdict]] of Object.entries(httpAnswers)) {
  test(`HTTP probes that are answered by endless ${what} take little CPU time`, { timeout: 60_000 }, () =>
    attack(answer, (port) => probe('httpGet', port, verdict)),
  );
}

for (const [what, answer] of Object.entries(grpcAnswers)) {
  test(`gRPC probes that are answered by endless ${what} take little CPU time`, { timeout: 60_000 }, () =>
    attack(answer, (port) => probe('grpc', port, 'failure')),
  );
}

for (const [what, answer] of Object.entries(grpcAnswers)) {
  test(`HTTPS probes that are answered by endless ${what} of HTTP/2 take little CPU time`, {
    timeout: 60_000,
  }, async (context) => {
    const scratch = mkdtempSync(join(tmpdir(), 'podwright-answers-'));
    context.after(() => rmSync(scratch, { recursive: true }));
    const certificates = new Certificates(scratch);
    await certificates.makeAuthority('unknown');
    const { certificate: cert, key } = await certificates.make('server', 'unknown');
    const verdict = what === 'data frames of one byte' ? 'success' : 'failure';
    await attack({ ...answer, tls: { key, cert } }, (port) => probe('httpGet', port, verdict, 'HTTPS'));
  });
}

test('hooks answered with endless early hints use little CPU time and fail', { timeout: 60_000 }, () =>
  attack(httpAnswers['early hints']![0], async (port) => {
    const metadata = { name: 'p', namespace: 'default', uid: 'u' };
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } };
    const request = { pod, container, containerId: 'id', podIps, handler: { httpGet: { port } } };
    const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
    const hooks = new LifecycleHooks({ commands, events: { event: () => undefined } });
    await assert.rejects(hooks.run(request, signal), { code: 'unavailable' });
  }),
);
