/** Commands for a pod's containers, on a single node: logs, exec, attach, cp, port-forward, restart. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { type FixtureEntry, tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace, withApi } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;

const container = (name: string, script: string, rest = '') =>
  `  - {name: ${name}, image: ${exampleImage}, command: [sh, -c, ${JSON.stringify(script)}]${rest}}\n`;
const pod = (metadata: string, spec: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {${metadata}}\nspec:\n  terminationGracePeriodSeconds: 1\n${spec}---\n`;

/** Three pods: a file server with a second container, a shell with a TTY, and a pod in another namespace that is never restarted. */
const PODS = [
  pod(
    'name: web, labels: {app: web}',
    `  initContainers:\n${container('prepare', 'echo prepared')}  containers:\n${container(
      'server',
      'echo one; echo two; mkdir /www; echo hello > /www/index.html; exec httpd -f -p 80 -h /www',
      ', ports: [{name: http, containerPort: 80}]',
    )}${container('side', `echo side; ${forever}`)}`,
  ),
  pod('name: shell, labels: {app: web}', `  containers:\n${container('main', 'exec sh', ', tty: true, stdin: true')}`),
  pod(
    'name: duo, namespace: team-a, annotations: {kubectl.kubernetes.io/default-container: second}',
    `  restartPolicy: Never\n  containers:\n${container('first', forever)}${container('second', `echo second; cat; ${forever}`, ', stdin: true')}`,
  ),
];

before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.114.100.0/24');
  await place.loadImage();
  await place.ok('run', '--detach', place.file('pods.yaml', PODS.join('')));
});
after(async () => {
  await place.remove();
  bundle.remove();
});

/** Runs a command and returns its exit code, standard output and standard error. */
async function callWith(...args: string[]): Promise<[number | null, string, string]> {
  const { code, out, err } = await place.call(...args);
  return [code, out, err];
}

const DEFAULTED = 'Defaulted container "server" out of: server, side, prepare (init)\n';

/** Starts a command on a new terminal; the same shell runs `rest` afterwards. */
function onTerminal(args: string[], rest = '', term = 'xterm-kitty'): StartedProgram {
  const command = `export TERM=${term}; ${place.command(...args).join(' ')}; ${rest}`;
  return place.startProgram('script', '-qfec', command, '/dev/null');
}

test('logs shows the named, annotated or first container, and reports if it used a default', async () => {
  assert.deepEqual(await callWith('logs', 'web'), [0, 'one\ntwo\n', DEFAULTED]);
  assert.deepEqual(await callWith('logs', 'pod/web', 'side'), [0, 'side\n', '']);
  assert.deepEqual(await callWith('logs', 'web', '-c', 'prepare'), [0, 'prepared\n', '']);
  assert.deepEqual(await callWith('logs', 'duo', '-n', 'team-a'), [0, 'second\n', '']);
  assert.deepEqual(await callWith('logs', 'web', 'server', '--tail', '1'), [0, 'two\n', '']);
  assert.deepEqual(await callWith('logs', 'web', 'server', '--limit-bytes', '5'), [0, 'one\nt', '']);
  assert.deepEqual(await callWith('logs', 'web', 'server', '--since-time', '2999-01-01T00:00:00Z'), [0, '', '']);
  const everything = '[pod/web/prepare] prepared\n[pod/web/server] one\n[pod/web/server] two\n[pod/web/side] side\n';
  assert.deepEqual(await callWith('logs', 'web', '--all-containers', '--prefix'), [0, everything, '']);
  const [code, out] = await callWith('logs', '-l', 'app=web', '--prefix', '--tail', '1');
  assert.equal(code, 0);
  assert.match(out, /^\[pod\/web\/server\] two$/m);
  assert.match(await place.ok('logs', 'web', 'side', '--timestamps'), /^\d{4}-\d\d-\d\dT\S+ side\n$/);
});

test('unavailable logs are an error with the reason and a hint', async () => {
  const check = async (args: string, expected: RegExp) => {
    const [code, , err] = await callWith('logs', ...args.split(' '));
    assert.equal(code, 1, args);
    assert.match(err, expected);
    assert.doesNotMatch(err, /[0-9a-f]{64}|ENOENT/);
  };
  await check('duo', /there is no pod duo in the namespace default; duo is in team-a: add -n team-a\n$/);
  await check('wbe', /there is no pod default\/wbe; did you mean "web"\?/);
  await check('web none', /pod web has no container none; it has server, side, prepare \(init\)/);
  await check('web -c a --all-containers', /either --all-containers or the container a/);
  await check('web -l app=web', /either a pod by its name or pods by their labels/);
  await check('-f -l app=web --all-containers --max-log-requests 2', /raise it with --max-log-requests 4/);
  await check('web server -p', /container server of pod \S*web\S* has not been restarted/);
  const nowhere = place.startProgram(process.execPath, bundle.program, '--state', place.path('none'), 'logs', 'web');
  assert.match(
    (await nowhere.ended()).err,
    /^podwright: no node is running \(nothing answers on \S+\); start one with .*'\n$/,
  );
});

test('exec accepts a command without --, passes on exit codes, and returns 126 and 127 like a shell', async () => {
  assert.deepEqual(await callWith('exec', 'web', '-c', 'side', 'echo', '-c', 'x', '-n'), [0, '-c x -n\n', '']);
  assert.deepEqual(await callWith('exec', 'web', 'ls', '-a', '/www'), [0, '.\n..\nindex.html\n', DEFAULTED]);
  assert.deepEqual(await callWith('exec', 'pod/web', '-c', 'side', '--', 'sh', '-c', 'exit 7'), [7, '', '']);
  const missing = await place.call('exec', 'web', '-c', 'side', 'nope', '--help');
  assert.equal(missing.code, 127);
  assert.match(missing.err, /nope.*(?:not found|[Nn]o such file)/);
  assert.doesNotMatch(missing.err, /[0-9a-f]{64}/);
  const denied = await place.call('exec', 'web', '-c', 'side', '/etc/hosts');
  assert.equal(denied.code, 126, denied.err);
  assert.match(denied.err, /[Pp]ermission denied|not permitted/);
  const bare = await place.call('exec', 'web');
  assert.match(bare.err, /the command is missing/);
});

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

test('exec -it passes on a well-known TERM, otherwise xterm, and restores the terminal', async () => {
  const run = async (term: string, command: string, rest = '') => {
    const terminal = onTerminal(['exec', '-it', 'web', '-c', 'side', '--', 'sh', '-c', `'${command}'`], rest, term);
    return (await terminal.ended()).out;
  };
  assert.match(await run('xterm-kitty', 'echo is $TERM'), /is xterm\r/);
  assert.match(await run('dumb', 'echo is $TERM'), /is dumb\r/);
  assert.match(await run('dumb', 'TERM=; nope', 'stty -a | grep -o " -\\?icanon"; nope'), / icanon/);
  const hungUp = onTerminal(['exec', '-it', 'web', '-c', 'side', '--', 'sh'], 'stty -a | grep -o " -\\?icanon"');
  await hungUp.until(/# /);
  const [shell] = childrenOf(hungUp.child.pid!);
  const [ours] = childrenOf(shell!);
  process.kill(ours!, 'SIGHUP');
  assert.match((await hungUp.ended()).out, /[^-]icanon/);
  const plain = await place.call('exec', 'web', '-c', 'side', '--', 'sh', '-c', 'echo is $TERM');
  assert.equal(plain.out, 'is\n');
  const terminal = onTerminal(['exec', '-it', 'web', '-c', 'side', '--', 'nope'], 'stty -a | grep -o " -\\?icanon"');
  const { out } = await terminal.ended();
  assert.match(out, /not found|[Nn]o such file/);
  assert.match(out, /\n? icanon/);
});

test('attach -it connects to the container’s shell, Ctrl-P Ctrl-Q detaches, and the terminal is restored', async () => {
  const terminal = onTerminal(['attach', '-it', 'shell'], 'echo "left $?"; stty -a | grep -o " -\\?icanon"');
  await terminal.until(/Ctrl-P Ctrl-Q detaches/);
  terminal.type('kept=4; echo $((kept + 1))0\r');
  await terminal.until(/^50\r/m);
  terminal.type('sh -c "echo run""ning; sleep 60"\r');
  await terminal.until(/^running\r$/m);
  terminal.type('\x03'); // ends the command in the container, not podwright
  terminal.type('echo $((kept + 2))0\r');
  await terminal.until(/^60\r$/m);
  terminal.type('\x10\x11');
  await terminal.until(/left 0/);
  await terminal.until(/ icanon/);
  await terminal.ended();
  const again = onTerminal(['attach', '-it', 'shell']);
  await again.until(/Ctrl-P/);
  again.type('echo $((kept + 3))0\r');
  await again.until(/^70\r$/m);
  again.type('\x04'); // ends the shell and so the container
  assert.equal((await again.ended()).code, 0);
});

test('attach reads from a pipe and fails for an unknown container', async () => {
  const attached = place.start('attach', '-i', '-n', 'team-a', 'duo');
  attached.child.stdin!.write('from outside\n');
  await attached.until(/^from outside$/m);
  attached.child.kill('SIGINT');
  assert.equal((await attached.ended()).signal, 'SIGINT');
  const [, , err] = await callWith('attach', '-it', 'web', '-c', 'none');
  assert.match(err, /pod web has no container none/);
});

test('debug adds a container that sees its target’s processes, attaches to it, and keeps it for inspection', async () => {
  const script = 'read line; echo $line; ps | grep -c "[h]ttpd"; exit 3';
  const image = `--image=${exampleImage}`;
  const joined = place.start('debug', 'web', '-i', image, '-c', 'look', '--target', 'server', '--', 'sh', '-c', script);
  joined.child.stdin!.write('from outside\n');
  const { out } = await joined.ended();
  assert.equal(out, 'from outside\n1\n');
  assert.equal(await place.ok('logs', 'web', 'look'), 'from outside\n1\n');
  assert.match(await place.ok('describe', 'web'), /Ephemeral Containers:\n {2}look:[\s\S]*Exit Code: +3/);
  const [code, , err] = await callWith('debug', 'web', image, '-c', 'lost', '--target', 'none');
  assert.equal(code, 1);
  const refused = withApi
    ? /targetContainerName: Not found: "none"/
    : /targetContainerName: the pod has no container "none"; it has prepare, server, side/;
  assert.match(err, refused);
});

test('cp copies files and directories in both directions', async () => {
  const from = place.path('input', 'tree');
  mkdirSync(`${from}/deep`, { recursive: true });
  writeFileSync(`${from}/deep/file`, 'x'.repeat(3_000_000));
  writeFileSync(`${from}/run.sh`, '#!/bin/sh\necho ran\n', { mode: 0o755 });
  const side = (...args: string[]) => place.ok('cp', '-c', 'side', ...args);
  await side(from, 'web:/copy');
  assert.equal(await place.ok('exec', 'web', '-c', 'side', '/copy/run.sh'), 'ran\n');
  await side(`${from}/run.sh`, 'default/web:/copy/deep'); // an existing directory
  const to = place.path('input', 'back');
  await side('web:/copy', to);
  assert.deepEqual(readdirSync(to).sort(), ['deep', 'run.sh']);
  assert.equal(readFileSync(`${to}/deep/file`, 'utf8').length, 3_000_000);
  assert.equal(statSync(`${to}/deep/run.sh`).mode & 0o777, 0o755);
  await side('pod/web:copy/run.sh', place.path('input', 'one'));
  assert.equal(statSync(place.path('input', 'one')).mode & 0o777, 0o755);
  assert.match((await callWith('cp', 'web:/none', to))[2], /tar.*none.*[Nn]o such file/);
  assert.match((await callWith('cp', '-c', 'side', `${from}/none`, 'web:/x'))[2], /copy \S+none to web:\/x: /);
  assert.match((await callWith('cp', from, to))[2], /in a pod; one must be POD:PATH/);
});

test('cp writes only requested files, even with a malicious tar in the container', async () => {
  const side = (...args: string[]) => place.ok('exec', 'web', '-c', 'side', '--', ...args);
  await side(
    'sh',
    '-c',
    "cp -P /bin/tar /bin/tar.kept; rm /bin/tar; printf '#!/bin/sh\\ncat /evil.tar\\n' > /bin/tar; chmod 755 /bin/tar",
  );
  const secret = place.file('secret', 'untouched');
  const to = place.path('input', 'into');
  const attack = async (entries: FixtureEntry[]) => {
    const archive = tarArchive([{ name: './data/', flag: '5', mode: 0o755 }, ...entries]);
    const put = place.start('exec', '-i', 'web', '-c', 'side', '--', 'sh', '-c', 'cat > /evil.tar');
    put.child.stdin!.end(archive);
    assert.equal((await put.ended()).code, 0);
    return callWith('cp', '-c', 'side', 'web:/data', to);
  };
  for (const name of ['../secret', './data/../../secret', secret, '/tmp/podwright-evil']) {
    const [code, , err] = await attack([{ name, body: 'evil' }]);
    assert.equal(code, 1, err);
    assert.match(err, /which was not requested/);
  }
  const [code, , err] = await attack([
    { name: './data/out', flag: '2', link: place.path('input') },
    { name: './data/\x1b[31mred', flag: '2', link: '/etc' },
    { name: './data/disk', flag: '4', device: [8, 0] },
    { name: './data/suid', body: 'x', mode: 0o6755 },
    { name: './data/out/secret', body: 'kept below' },
  ]);
  assert.equal(code, 0, err);
  assert.match(err, /: \^\[\[31mred is a symbolic link to \/etc: skipped/);
  assert.match(err, /disk is a device: skipped/);
  assert.equal(statSync(`${to}/suid`).mode & 0o7777, 0o755);
  assert.equal(readFileSync(`${to}/out/secret`, 'utf8'), 'kept below');
  const [huge, , hugeError] = await attack([{ name: './data/huge', pax: { size: String(2 ** 52) } }]);
  assert.equal(huge, 1);
  assert.match(hugeError, /huge has 4503599627370496 bytes, but \S+ has only/);
  assert.equal(readFileSync(secret, 'utf8'), 'untouched');
  assert.equal(existsSync('/tmp/podwright-evil'), false);
  await side('rm', '/bin/tar');
  const [, , without] = await callWith('cp', '-c', 'side', 'web:/data', to);
  assert.match(without, /container side of pod web has no tar, which cp needs; .* -- cat PATH'/);
  await side('mv', '/bin/tar.kept', '/bin/tar');
});

async function request(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /index.html HTTP/1.0\r\n\r\n');
  return text(socket);
}

test('port-forward forwards several ports until Ctrl-C, even after a connection reset and a container restart', async () => {
  const forward = place.start('port-forward', 'pod/web', ':http', ':81');
  const port = Number((await forward.until(/^Forwarding from 127\.0\.0\.1:(\d+) -> 80$/m))[1]);
  const closed = Number((await forward.until(/^Forwarding from 127\.0\.0\.1:(\d+) -> 81$/m))[1]);
  assert.match(await request(port), /hello/);
  const cut = connect(port, '127.0.0.1');
  await new Promise((resolve) => cut.once('connect', resolve));
  cut.write('GET');
  cut.resetAndDestroy();
  assert.match(await request(port), /hello/);
  assert.equal(await request(closed).catch(() => ''), '');
  await forward.until(/port 81 of pod web: no process listens there/);
  const [, out] = await callWith('restart', 'web', '-c', 'server');
  assert.match(out, /^container server of pod web runs again, restarted once in all\n$/);
  await place.until(async () => (await request(port).catch(() => '')).includes('hello'));
  const taken = await place.call('port-forward', 'web', `${port}:80`);
  assert.match(taken.err, /the port is in use; 'podwright port-forward web :80' picks a free one/);
  forward.child.kill('SIGINT');
  assert.equal((await forward.ended()).code, 0);
});

test('restart starts the containers again, increments their count, emits an event, and refuses pods that do not restart', async () => {
  const before = (await place.pods()).find(({ metadata }) => metadata.name === 'web')!;
  const [code, out, err] = await callWith('restart', 'web');
  assert.equal(code, 0, err);
  assert.match(out, /^container server of pod web runs again, restarted twice|restarted 2 times in all$/m);
  assert.match(out, /^container side of pod web runs again, restarted once in all$/m);
  const now = (await place.pods()).find(({ metadata }) => metadata.name === 'web')!;
  assert.equal(now.metadata.uid, before.metadata.uid);
  assert.equal(now.status!.podIP, before.status!.podIP);
  assert.match(await place.ok('events'), /Restart of container side was requested, will be restarted/);
  const [refused, , why] = await callWith('restart', 'duo', '-n', 'team-a');
  assert.equal(refused, 1);
  assert.match(why, /restartPolicy is Never, so a stopped container would not start again/);
  assert.match((await callWith('restart', 'web', '-c', 'prepare'))[2], /init container, which runs once/);
});

test('several logs are followed at once, and port-forward ends with its pod', async () => {
  const follow = place.start('logs', '-f', '-l', 'app=web', '--all-containers', '--prefix');
  await follow.until(/^\[pod\/web\/server\] two$/m);
  const forward = place.start('port-forward', 'web', ':80');
  await forward.until(/^Forwarding/m);
  await place.ok('delete', 'web', 'shell');
  assert.equal((await follow.ended()).code, 0);
  const { code, err } = await forward.ended();
  assert.equal(code, 1);
  assert.match(err, /port-forward: pod web was deleted/);
  await place.ok('delete', '-n', 'team-a', 'duo');
});
