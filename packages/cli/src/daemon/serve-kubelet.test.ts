import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Registry, silentLogger, startGraph } from '@podwright/base';
import { createCriServer } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { assertNothingLeft, failingAfter, openResources } from '../../../base/src/start-graph.fixture.ts';
import { freePort } from '../../../kubelet-server/src/served-api.fixture.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { parseConfig } from '../settings/parse-config.ts';
import { STANDALONE_NODE_DEFAULTS } from './kubelet-options.ts';
import { type ServedGraph, servedGraph } from './serve-kubelet.ts';

/** A node for one test: a CRI server on a socket, and the components of a kubelet that uses it. */
async function newNode(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-serve-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [root, state] = [join(directory, 'root'), join(directory, 'state')];
  for (const path of [root, state]) mkdirSync(path);
  const socket = join(directory, 'cri.sock');
  const server = await createCriServer({ socket, handlers: new FakeRuntime().handlers, logger: silentLogger });
  t.after(() => server.close());
  const settings = `log_level = "error"\nmanifests = "${directory}/manifests"\npod_logs = "${directory}/logs"`;
  const config = { ...parseConfig(settings, 'c.toml', { root, state }), apiSocket: join(state, 'node.sock') };
  const ports = { port: await freePort(), healthzPort: await freePort() };
  const place = {
    ...{ runtimeEndpoint: `unix://${socket}`, criApiVersion: 'v1' as const, metrics: new Registry(), cgroupRoot: '' },
    defaults: { ...STANDALONE_NODE_DEFAULTS, ports },
  };
  const graph = servedGraph(config as NodeConfig, place, { onStop: () => undefined, logger: silentLogger });
  return { graph, root, state };
}

const PARTS: (keyof ServedGraph)[] = ['cluster', 'options', 'kubelet', 'kubeletApi', 'ending', 'localApi'];

for (const name of PARTS) {
  test(`if the part ${name} of a served kubelet fails, nothing of it is left`, async (t) => {
    const { graph, root, state } = await newNode(t);
    assert.deepEqual(Object.keys(graph), PARTS);
    const before = openResources();
    const started = startGraph(failingAfter(graph, name), (failures) => assert.deepEqual(failures, []));
    await assert.rejects(started, { message: `${name} fails` });
    for (const directory of [root, state]) await assertNothingLeft(directory, before);
  });
}
