/** Checks where the address on which a server listens appears: in its certificate and in kubeconfigs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { silentLogger } from '@podwright/base';
import { startApiServer } from './start-api-server.ts';

const hosts = { '127.0.0.1': '127.0.0.1', '127.0.0.2': '127.0.0.2', '::1': '[::1]', '0.0.0.0': '127.0.0.1' };

for (const [host, inUrl] of Object.entries(hosts))
  test(`a client verifies a server that listens on ${host} by the URL of its kubeconfig`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'api-listen-'));
    const listen = { host, port: 0 };
    const socketPath = join(directory, 'api.sock');
    const server = await startApiServer({ directory, socketPath, listen, logger: silentLogger });
    try {
      const { port, caCertificate: ca } = server;
      const [, url] = /server: (\S+)/.exec(server.kubeconfig({ username: 'a', groups: [] })) ?? [];
      assert.equal(url, `https://${inUrl}:${port}`);
      const client = connect({ host: new URL(url).hostname.replace(/[[\]]/g, ''), port: port!, ca });
      await once(client, 'secureConnect'); // or the error of a certificate for other names
      const { subjectaltname = '' } = client.getPeerCertificate();
      client.destroy();
      assert.match(subjectaltname, /IP Address:10\.96\.0\.1\b/, 'the cluster IP of the Service');
      assert.ok(isIP(host) === 6 || host === '0.0.0.0' || subjectaltname.includes(`IP Address:${host}`));
    } finally {
      await server.stop();
      rmSync(directory, { recursive: true });
    }
  });
