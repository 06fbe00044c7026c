import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { configOfText } from '../settings/node-config.ts';
import { dockerFindings } from './doctor-docker.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podwright-doctor-'));
const socket = join(scratch, 'docker.sock');
const info = { ServerVersion: '20.10.24', LoggingDriver: 'json-file', CgroupDriver: 'cgroupfs' };
const server = createServer(({ url }, response) =>
  response.end(JSON.stringify(url?.endsWith('/info') ? info : { Version: '20.10.24', ApiVersion: '1.41' })),
);
before(() => once(server.listen(socket), 'listening'));
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(scratch, { recursive: true });
});

/** Checks a Docker Engine with these `[dockershim]` settings. Returns the level, message and fix of the finding. */
async function found(what: string, settings: string): Promise<string[]> {
  const text = `runtime = "docker"\n[dockershim]\ndocker_endpoint = "${socket}"\n${settings}`;
  const findings = await dockerFindings(configOfText(text, { file: undefined, flags: {} }));
  const { level, message, fix } = findings.find((one) => one.what === what)!;
  return [level, message, ...(fix === undefined ? [] : [fix])];
}

test("the Engine's cgroup driver is compared with the configured one", async () => {
  const ok = ['ok', `20.10.24 on ${socket}, cgroup driver cgroupfs`];
  assert.deepEqual(await found('Docker Engine', ''), ok);
  assert.deepEqual(await found('Docker Engine', 'cgroup_driver = "cgroupfs"'), ok);
  const [level, message, ...more] = await found('Docker Engine', 'cgroup_driver = "systemd"');
  assert.deepEqual([level, more], ['missing', []]);
  assert.match(message!, /^use cgroup driver "systemd": the Docker Engine's is "cgroupfs"; leave cgroup_driver out/);
});

test('an unusable network is reported as missing, with the reason', async () => {
  const confDir = join(scratch, 'net.d');
  const cni = `network_plugin = "cni"\ncni_conf_dir = "${confDir}"\ncni_bin_dirs = ["${scratch}"]`;
  assert.deepEqual(await found('network', ''), ['ok', "Docker's own bridge"]);
  const [level, message, fix] = await found('network', cni);
  assert.deepEqual([level, message], ['missing', `no network configuration in ${confDir} can be used`]);
  assert.match(fix!, /^put a configuration there .*network_plugin = "none"/);
  mkdirSync(confDir);
  const list = { cniVersion: '1.0.0', name: 'pods', plugins: [{ type: 'absent' }] };
  writeFileSync(join(confDir, '10.conflist'), JSON.stringify(list));
  assert.match((await found('network', cni)).join(), /^missing,.*10\.conflist: CNI plugins not found: "absent"/);
  writeFileSync(join(scratch, 'absent'), '#!/bin/sh\n', { mode: 0o755 });
  assert.deepEqual(await found('network', cni), ['ok', `by CNI plugins: pods in ${confDir}`]);
  rmSync(join(confDir, '10.conflist'));
  writeFileSync(join(confDir, '10.conflist.template'), '{}');
  assert.match((await found('network', cni)).join(), /^note,.*,a kubelet that knows the pods' subnet writes 10\./);
});
