import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import * as tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { MAX_API_MANIFEST_BYTES } from '@podwright/kube-api';
import { fetchManifest } from '../../packages/cli/src/manifests/manifest-url.ts';
import { Certificates } from '../fixtures/certificates.ts';

async function listen(context: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

const serve = (context: TestContext, answer: RequestListener) => listen(context, createServer(answer));

test('a manifest is fetched, even through redirects', async (context) => {
  const port = await serve(context, ({ url }, response) => {
    if (url === '/a') response.writeHead(302, { location: '/b' }).end('elsewhere');
    else response.end(`text of ${url}`);
  });
  assert.equal(Buffer.from(await fetchManifest(`http://127.0.0.1:${port}/a`)).toString(), 'text of /b');
});

test('server errors are reported, and oversized responses are cut off', async (context) => {
  const port = await serve(context, ({ url }, response) => {
    if (url === '/round') response.writeHead(301, { location: '/round' }).end();
    else if (url === '/file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    else if (url === '/large') response.end(Buffer.alloc(MAX_API_MANIFEST_BYTES + 1));
    else if (url === '/bomb')
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(MAX_API_MANIFEST_BYTES * 8)));
    else if (url === '/cut') response.writeHead(200, { 'content-length': 100 }).write('a', () => response.destroy());
    else response.writeHead(404).end('<html>');
  });
  const url = `http://127.0.0.1:${port}`;
  const table: [string, string, RegExp][] = [
    [`${url}/round`, 'unavailable', /more than 10 redirects$/],
    [`${url}/file`, 'invalid_argument', /"file:\/\/\/etc\/passwd" is not an http or https URL/],
    [`${url}/large`, 'resource_exhausted', /larger than 8 MiB/],
    [`${url}/bomb`, 'resource_exhausted', /larger than 8 MiB/],
    [`${url}/cut`, 'unavailable', /get http.*\/cut: \S/],
    [`${url}/none`, 'unavailable', /\/none: status 404 Not Found$/],
    ['http://user:secret@127.0.0.1/', 'invalid_argument', /^get 127\.0\.0\.1: a URL must have no user and password/],
    [
      'http://user:secret@[bad/x',
      'invalid_argument',
      /^get http:\/\/\[bad\/x: "http:\/\/\[bad\/x" is not an http or https URL$/,
    ],
    ['https://[', 'invalid_argument', /not an http or https URL/],
    ['http://no-such-host.invalid/', 'unavailable', /there is no such host$/],
  ];
  for (const [from, code, message] of table) await assert.rejects(fetchManifest(from), { code, message }, from);
});

test('a server with an untrusted certificate is refused, and so is a redirect to http', async (context) => {
  const directory = mkdtempSync('/tmp/manifest-url-');
  context.after(() => rmSync(directory, { recursive: true }));
  const certificates = new Certificates(directory);
  await certificates.makeAuthority('authority');
  const { key, certificate: cert } = await certificates.make('server', 'authority');
  const plain = await serve(context, (_request, response) => response.end('plain'));
  const port = await listen(
    context,
    createTlsServer({ key, cert }, ({ url }, response) => {
      if (url === '/down') response.writeHead(302, { location: `http://127.0.0.1:${plain}/` }).end();
      else response.end('safe');
    }),
  );
  const url = `https://127.0.0.1:${port}`;
  await assert.rejects(fetchManifest(url), { code: 'unavailable', message: /certificate/ });
  const before = tls.getCACertificates('default');
  context.after(() => tls.setDefaultCACertificates(before));
  tls.setDefaultCACertificates([...before, certificates.read('authority.crt').toString()]);
  assert.equal(Buffer.from(await fetchManifest(url)).toString(), 'safe');
  await assert.rejects(fetchManifest(`${url}/down`), {
    code: 'unavailable',
    message: /it redirects from https to the unprotected http:/,
  });
});
