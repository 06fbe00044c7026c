import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TraceWork } from '@podwright/base';
import { errorCode, errorMessage, waitFor } from '@podwright/base';
import { CniClient, type CniDeadlines } from './cni-client.ts';
import { answers, FakePlugins, failsOn } from './fake-plugin.fixture.ts';
import { type NetworkList, parseNetworkList } from './network-list.ts';
import { pluginFailureOf } from './plugin-error.ts';

const attachment = {
  containerId: 'box',
  ifName: 'eth0',
  netnsPath: '/proc/self/ns/net',
  args: [['K8S_POD_NAME', 'web']] as [string, string][],
  capabilityArgs: { portMappings: [{ hostPort: 80 }] },
};
const bounded = () => AbortSignal.timeout(10_000);

function listOf(types: string[], more: object = { cniVersion: '1.0.0' }): NetworkList {
  const plugins = types.map((type) => ({ type, capabilities: { portMappings: true } }));
  return parseNetworkList(JSON.stringify({ name: 'net', plugins, ...more }));
}

function clientOf(fakes: FakePlugins, deadlines?: Partial<CniDeadlines>): CniClient {
  return new CniClient({ directories: [fakes.directory], cacheDirectory: fakes.cacheDirectory, deadlines });
}

test('ADD passes each result to the next plugin, and DEL runs in reverse with the result and configuration of ADD', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', answers('10.0.0.1/24'));
  await fakes.install('second', answers('10.0.0.2/24'));
  const added = await clientOf(fakes).add(listOf(['first', 'second']), attachment, bounded());
  assert.equal(added.ips[0]?.address, '10.0.0.2');
  const prevResult = { cniVersion: '1.0.0', ips: [{ address: '10.0.0.1/24' }] };
  assert.deepEqual((await fakes.request('ADD', 'second')).prevResult, prevResult);

  // as from a different process: a new client, a different configuration, and no parameters except the attachment's key
  const bare = { ...attachment, args: [], capabilityArgs: {}, netnsPath: '' };
  await clientOf(fakes).del(bare, listOf(['other']), bounded());
  assert.deepEqual(await fakes.journal(), ['ADD first', 'ADD second', 'DEL second', 'DEL first']);
  assert.deepEqual((await fakes.request('DEL', 'first')).prevResult, {
    cniVersion: '1.0.0',
    ips: [{ address: '10.0.0.2/24' }],
  });
  assert.deepEqual(
    await fakes.environment('DEL', 'first'),
    await fakes.environment('ADD', 'first').then((lines) => lines.map((line) => line.replace('=ADD', '=DEL'))),
  );
  assert.deepEqual(await readdir(fakes.cacheDirectory), []);
});

test('each plugin run is traced with its command and name', async () => {
  await using fakes = await FakePlugins.create();
  for (const name of ['first', 'second']) await fakes.install(name, answers('10.0.0.1/24'));
  const traced: string[] = [];
  const trace: TraceWork = (name, work) => {
    traced.push(name);
    return work();
  };
  const client = new CniClient({ directories: [fakes.directory], cacheDirectory: fakes.cacheDirectory, trace });
  await client.add(listOf(['first', 'second']), attachment, bounded());
  assert.deepEqual(traced, ['CNI ADD first', 'CNI ADD second']);
});

test('a repeated DEL runs the plugins of the given configuration, or none without one', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', answers('10.0.0.1/24'));
  const client = clientOf(fakes);
  await client.del(attachment, undefined, bounded());
  await client.del({ ...attachment, netnsPath: '/nonexistent' }, listOf(['first']), bounded());
  assert.deepEqual(await fakes.journal(), ['DEL first']);
  assert.ok((await fakes.environment('DEL', 'first')).includes('CNI_NETNS='));
});

test('if a later plugin fails, DEL runs for the whole list, and the error has the plugin’s message', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', answers('10.0.0.1/24'));
  await fakes.install('second', failsOn('ADD', ''));
  await fakes.install('third', answers('10.0.0.3/24'));
  const client = clientOf(fakes);
  const error = await client.add(listOf(['first', 'second', 'third']), attachment, bounded()).catch((e) => e);
  assert.deepEqual(pluginFailureOf(error), {
    plugin: 'second',
    command: 'ADD',
    cniCode: 11,
    msg: 'try later',
    details: 'the pool is busy',
  });
  assert.equal(errorCode(error), 'unavailable');
  assert.deepEqual(await fakes.journal(), ['ADD first', 'ADD second', 'DEL third', 'DEL second', 'DEL first']);
  assert.deepEqual(await client.attachments(), []);
});

test('a failed DEL retains the record, and a later DEL uses it', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', failsOn('DEL', '10.0.0.1/24'));
  const client = clientOf(fakes);
  await client.add(listOf(['first']), attachment, bounded());
  await assert.rejects(client.del(attachment, undefined, bounded()), /remove box from the network net: plugin first/);
  assert.deepEqual(await client.attachments(), [{ containerId: 'box', ifName: 'eth0' }]);
  await fakes.install('first', answers('10.0.0.1/24'));
  await client.del(attachment, undefined, bounded());
  assert.deepEqual(await client.attachments(), []);
});

test('an ADD after an interrupted one runs DEL first', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', failsOn('DEL', 'nonsense'));
  const client = clientOf(fakes);
  await assert.rejects(client.add(listOf(['first']), attachment, bounded()), /and then CNI DEL: plugin first/);
  await fakes.install('first', answers('10.0.0.1/24'));
  await client.add(listOf(['first']), attachment, bounded());
  assert.deepEqual(await fakes.journal(), ['ADD first', 'DEL first', 'DEL first', 'DEL first', 'ADD first']);
});

test('a DEL that fails on the partial state of a failed ADD is retried immediately', async () => {
  await using fakes = await FakePlugins.create();
  const mark = join(fakes.directory, 'tried');
  const failsOnce = `[ "$CNI_COMMAND" = DEL ] && ! [ -e ${mark} ] && { touch ${mark}; exit 1; }`;
  await fakes.install('first', `${failsOnce}\n${failsOn('ADD', '')}`);
  const client = clientOf(fakes);
  await assert.rejects(client.add(listOf(['first']), attachment, bounded()), /try later/);
  assert.deepEqual(await client.attachments(), []);
});

test('DEL waits for a plugin that outlived the runtime, and kills it after a timeout', async () => {
  for (const [seconds, ends] of [
    ['0.2', true],
    ['60', false],
  ]) {
    await using fakes = await FakePlugins.create();
    const slow = `sleep ${seconds}; echo "done $CNI_COMMAND" >> ${fakes.directory}/journal`;
    await fakes.install('slow', `[ "$CNI_COMMAND" = ADD ] && { ${slow}; }\n${answers('10.0.0.1/24')}`);
    const orphaned = clientOf(fakes).add(listOf(['slow']), { ...attachment, containerId: 'stray' }, bounded());
    orphaned.catch(() => undefined);
    const started = async () => ((await fakes.journal()).length > 0 ? true : undefined);
    await waitFor(started, { intervalMs: 5, signal: bounded() });
    const nextLife = clientOf(fakes, { strayMs: 400 });
    await nextLife.del({ ...attachment, containerId: 'stray' }, undefined, bounded());
    const expected = ends ? ['ADD slow', 'done ADD', 'DEL slow'] : ['ADD slow', 'DEL slow'];
    assert.deepEqual((await fakes.journal()).slice(0, 3), [...expected, 'DEL slow'].slice(0, 3));
    await orphaned.catch(() => undefined);
  }
});

test('a hanging plugin is killed with its children at the deadline, then DEL runs', async () => {
  await using fakes = await FakePlugins.create();
  const pidFile = join(fakes.directory, 'child.pid');
  await fakes.install('slow', `[ "$CNI_COMMAND" = ADD ] && { sleep 60 & echo $! > ${pidFile}; wait; }; exit 0`);
  const client = clientOf(fakes, { addMs: 200 });
  const error = await client.add(listOf(['slow']), attachment, bounded()).catch((e) => e);
  assert.equal(errorCode(error), 'deadline_exceeded');
  assert.match(errorMessage(error), /plugin slow on ADD: no answer within 200 ms/);
  assert.deepEqual(await fakes.journal(), ['ADD slow', 'DEL slow']);
  await checkExited(pidFile);
});

test('an abort kills the plugin and runs DEL with a separate deadline', async () => {
  await using fakes = await FakePlugins.create();
  const pidFile = join(fakes.directory, 'child.pid');
  await fakes.install('slow', `[ "$CNI_COMMAND" = ADD ] && { sleep 60 & echo $! > ${pidFile}; wait; }; exit 0`);
  const caller = new AbortController();
  const adding = clientOf(fakes).add(listOf(['slow']), attachment, caller.signal);
  adding.catch(() => undefined);
  await waitFor(async () => ((await readPid(pidFile)) ? true : undefined), { intervalMs: 5, signal: bounded() });
  caller.abort();
  assert.equal(errorCode(await adding.catch((e) => e)), 'cancelled');
  assert.deepEqual(await fakes.journal(), ['ADD slow', 'DEL slow']);
  await checkExited(pidFile);
});

test('garbled, empty or excessive plugin output is an error that quotes it', async () => {
  const table: [string, RegExp][] = [
    ['echo hello', /the result is not JSON/],
    ['true', /the result is not JSON/],
    ['echo oops >&2; exit 3', /exit code 3: oops/],
    ['kill -9 $$', /killed by SIGKILL/],
    ['head -c 2000000 /dev/zero; exec sleep 60', /more than 1048576 bytes/],
  ];
  for (const [body, reason] of table) {
    await using fakes = await FakePlugins.create();
    await fakes.install('bad', `[ "$CNI_COMMAND" = DEL ] && exit 0\n${body}`);
    await assert.rejects(clientOf(fakes).add(listOf(['bad']), attachment, bounded()), reason);
    assert.deepEqual(await fakes.journal(), ['ADD bad', 'DEL bad']);
  }
});

test('no plugin runs if one is missing, and the error lists the directories searched and how to install it', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', answers('10.0.0.1/24'));
  const error = await clientOf(fakes)
    .add(listOf(['first', 'bridge']), attachment, bounded())
    .catch((e) => e);
  assert.equal(errorCode(error), 'failed_precondition');
  assert.match(
    errorMessage(error),
    new RegExp(`"bridge" \\(searched: ${fakes.directory}\\).*containernetworking-plugins`),
  );
  assert.deepEqual(await fakes.journal(), []);
});

test('the highest version supported by all plugins is used if the configuration allows several', async () => {
  await using fakes = await FakePlugins.create();
  const speaks = (versions: string) =>
    `[ "$CNI_COMMAND" = VERSION ] && echo '{"supportedVersions":${versions}}'\n${answers('10.0.0.1/24')}`;
  await fakes.install('new', speaks('["0.4.0","1.0.0","1.1.0"]'));
  await fakes.install('old', speaks('["0.3.1","0.4.0","1.0.0"]'));
  const client = clientOf(fakes);
  const list = listOf(['new', 'old'], { cniVersions: ['0.4.0', '1.0.0', '1.1.0'] });
  await client.add(list, attachment, bounded());
  assert.equal((await fakes.request('ADD', 'new')).cniVersion, '1.0.0');
});

test('CHECK requires a finished ADD, and is skipped if disabled by the configuration', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', failsOn('CHECK', '10.0.0.1/24'));
  const client = clientOf(fakes);
  assert.equal(errorCode(await client.check(attachment, bounded()).catch((e) => e)), 'not_found');
  await client.add(listOf(['first']), attachment, bounded());
  await assert.rejects(client.check(attachment, bounded()), /try later/);
  await client.del(attachment, undefined, bounded());
  await client.add(listOf(['first'], { cniVersion: '1.0.0', disableCheck: true }), attachment, bounded());
  await client.check(attachment, bounded());
});

test('GC deletes stale attachments, passes the valid ones to the plugins, and continues on errors', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', failsOn('GC', '10.0.0.1/24'));
  await fakes.install('second', answers('10.0.0.1/24'));
  const client = clientOf(fakes);
  const list = listOf(['first', 'second'], { cniVersion: '1.1.0' });
  await client.add(list, attachment, bounded());
  await client.add(list, { ...attachment, containerId: 'stale' }, bounded());
  await assert.rejects(client.collectGarbage(list, [attachment], bounded()), /CNI GC of net: plugin first/);
  assert.deepEqual(await client.attachments(), [{ containerId: 'box', ifName: 'eth0' }]);
  assert.deepEqual((await fakes.request('GC', 'second'))['cni.dev/valid-attachments'], [
    { containerID: 'box', ifname: 'eth0' },
  ]);
  await client.collectGarbage({ ...list, disableGC: true }, [], bounded());
  assert.equal((await client.attachments()).length, 1);
});

test('STATUS runs for plugins that support it', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', failsOn('STATUS', '10.0.0.1/24'));
  await clientOf(fakes).status(listOf(['first']), bounded());
  await assert.rejects(clientOf(fakes).status(listOf(['first'], { cniVersion: '1.1.0' }), bounded()), /try later/);
});

test('a corrupt record is listed, and DEL uses the given configuration', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('first', answers('10.0.0.1/24'));
  const client = clientOf(fakes);
  await client.add(listOf(['first']), attachment, bounded());
  await writeFile(join(fakes.cacheDirectory, 'box@eth0.json'), '');
  assert.equal((await client.attachments()).length, 1);
  assert.equal(errorCode(await client.del(attachment, undefined, bounded()).catch((e) => e)), 'data_loss');
  await client.del(attachment, listOf(['first']), bounded());
  assert.equal((await client.attachments()).length, 0);
});

test('IDs that could escape the cache directory are rejected', async () => {
  await using fakes = await FakePlugins.create();
  for (const bad of [
    { containerId: '../box' },
    { ifName: 'a/b' },
    { args: [['K8S_POD_NAME', 'a;b']] as [string, string][] },
  ]) {
    const adding = clientOf(fakes).add(listOf(['first']), { ...attachment, ...bad }, bounded());
    assert.equal(errorCode(await adding.catch((e) => e)), 'invalid_argument');
  }
});

async function readPid(path: string): Promise<number> {
  return Number(await readFile(path, 'utf8').catch(() => ''));
}

/** Waits until the process has exited; a zombie that init has not reaped counts as exited. */
async function checkExited(pidFile: string): Promise<void> {
  const pid = await readPid(pidFile);
  assert.ok(pid > 1);
  const probe = async () => {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
    return status.includes(') Z') ? true : undefined;
  };
  await waitFor(probe, { intervalMs: 5, signal: bounded() });
}

test('a caller aborted during another call for its container returns immediately, without starting anything', async () => {
  await using fakes = await FakePlugins.create();
  await fakes.install('slow', `while [ ! -e ${fakes.directory}/go ]; do sleep 0.02; done; ${answers('10.0.0.1/24')}`);
  const client = clientOf(fakes);
  const adding = client.add(listOf(['slow']), attachment, bounded());
  const begun = async () => (await fakes.journal()).length === 1 || undefined;
  await waitFor(begun, { intervalMs: 5, signal: bounded() });
  const leaving = new AbortController();
  const removal = client.del(attachment, undefined, leaving.signal);
  leaving.abort(new Error('left'));
  await assert.rejects(removal, /left/); // while the ADD still runs
  await writeFile(join(fakes.directory, 'go'), '');
  await adding;
  assert.deepEqual(await fakes.journal(), ['ADD slow']);
});
