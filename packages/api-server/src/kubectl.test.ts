/** Tests of kubectl with a server that has API documents but no objects. They run only if PODWRIGHT_KUBECTL is the path of a kubectl. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ApiPaths, Health, isServedByDefault } from '@podwright/api-documents';
import { ApiError, internalError } from '@podwright/api-machinery';
import { Schema } from '@podwright/kube-schema';

const program = process.env.PODWRIGHT_KUBECTL;
const run = promisify(execFile);
const schema = await Schema.load();

async function respond(paths: ApiPaths, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url!, 'http://api');
  const header = (name: string) => String(request.headers[name] ?? '');
  try {
    const found = await paths.respond({ method: request.method!, path: pathname, query: searchParams, header });
    response.writeHead(found.status, found.headers).end(found.body);
  } catch (error) {
    const { status } = error instanceof ApiError ? error : internalError(String(error));
    response.writeHead(status.code, { 'content-type': 'application/json' }).end(JSON.stringify(status));
  }
}

if (program !== undefined)
  describe('kubectl', () => {
    const health = new Health({ livez: [], readyz: [], healthz: [] }, () => undefined);
    const serverAddress = '127.0.0.1:6443';
    const paths = new ApiPaths({
      schema,
      resources: schema.resources.filter(isServedByDefault),
      serverAddress,
      health,
    });
    const server = createServer((request, response) => void respond(paths, request, response));
    let home = '';
    before(async () => {
      home = await mkdtemp(join(tmpdir(), 'kubectl-'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    after(async () => {
      server.closeAllConnections();
      server.close();
      await rm(home, { recursive: true });
    });

    async function kubectl(...args: string[]): Promise<string> {
      const { port } = server.address() as AddressInfo;
      const cache = join(home, 'cache');
      const all = [`--server=http://127.0.0.1:${port}`, `--cache-dir=${cache}`, ...args];
      const { stdout, stderr } = await run(program!, all, { env: { HOME: home, PATH: process.env.PATH } });
      assert.doesNotMatch(stderr, /error|unable/i);
      return stdout;
    }

    it('lists resources and versions', async () => {
      const names = (await kubectl('api-resources', '--no-headers', '-o', 'name')).trim().split('\n');
      assert.ok(names.includes('deployments.apps') && names.includes('pods') && names.length > 60);
      assert.match(await kubectl('api-resources', '--categories=all', '--no-headers'), /^pods +po +v1 +true +Pod$/m);
      assert.match(await kubectl('api-versions'), /^apps\/v1$/m);
      assert.match(await kubectl('version'), /^Server Version: .*\bv1\.36\./m);
    });

    it('explains kinds and fields', async () => {
      const field = await kubectl('explain', 'deploy.spec.template.spec.containers.image');
      assert.match(field, /GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: image <string>/);
      assert.match(field, /The image to run/);
      const tree = await kubectl('explain', 'pod.spec', '--recursive');
      assert.match(tree, / {2}containers\t<\[\]Container> -required-\n/);
      const autoscaler = await kubectl('explain', 'hpa.spec.metrics');
      assert.match(autoscaler, /VERSION: +v2\n[\s\S]*FIELD: metrics <\[\]MetricSpec>/);
    });

    it('reads the protobuf form of OpenAPI v2', async () => {
      const pod = await kubectl('explain', 'pod.spec.restartPolicy', '--output=plaintext-openapiv2');
      assert.match(pod, /FIELD: +restartPolicy <string>[\s\S]*Always, OnFailure or Never/);
    });
  });
