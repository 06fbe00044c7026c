import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagHelp, flagValues, parseCommandLine } from './command-line.ts';

const OWN = [
  { name: 'help', letter: 'h', about: 'this help' },
  { name: 'config-dir', value: 'path', about: 'drop-ins' },
];

function check(line: string, expected: Record<string, unknown>): void {
  const { given } = parseCommandLine(
    line.split(' ').filter((word) => word !== ''),
    OWN,
  );
  assert.deepEqual(Object.fromEntries([...given].map(([name, { value }]) => [name, value])), expected, line);
}

function refuse(line: string, message: string): void {
  assert.throws(() => parseCommandLine(line.split(' '), OWN), { code: 'invalid_argument', message }, line);
}

test('flags have upstream’s syntax', () => {
  check('', {});
  check('--port=1 --max-pods 2', { port: 1, maxPods: 2 });
  check('--max_pods=3 --node_ip ::1', { maxPods: 3, nodeIp: '::1' });
  check('--enable-server --cpu-cfs-quota=false --fail-swap-on=0', {
    enableServer: true,
    cpuCFSQuota: false,
    failSwapOn: false,
  });
  check('-v4', { 'logging.verbosity': 4 });
  check('-v=2 --v=3', { 'logging.verbosity': 3 });
  check('--sync-frequency=1h0m0s', { syncFrequency: 3_600_000 });
});

test('a repeated flag extends its list or map', () => {
  check('--cluster-dns=10.0.0.1,10.0.0.2 --cluster-dns 10.0.0.3', { clusterDNS: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] });
  check('--node-labels=a=1,b=2 --node-labels=b=3', { nodeLabels: { a: '1', b: '3' } });
  check('--eviction-hard=memory.available<0%', { evictionHard: { 'memory.available': '0%' } });
  check('--feature-gates=NodeSwap=true,MemoryQoS=f', { featureGates: { NodeSwap: true, MemoryQoS: false } });
  check('--manifest-url-header=a:hello,b:again --manifest-url-header=b:you', {
    staticPodURLHeader: { a: ['hello'], b: ['again', 'you'] },
  });
});

test('errors name the flag', () => {
  refuse('--portt=1', '--portt: unknown flag; did you mean "--port"?');
  refuse('--shards=3', '--shards: unknown flag');
  refuse('-x', '-x: unknown flag');
  refuse('--port=x', '--port: must be an integer, got "x"');
  refuse('--port', '--port: needs a value');
  refuse('--enable-server=maybe', '--enable-server: must be true or false, got "maybe"');
  refuse('--sync-frequency=3', '--sync-frequency: must be a duration such as 300ms, 10s or 2h45m, got "3"');
  refuse('--address=here', '--address: must be an IP address, got "here"');
  refuse('--enable-server false', 'the kubelet has no command "false"');
  refuse('--feature-gates=A=maybe', '--feature-gates: must be true or false, got "maybe"');
});

test("the program's own flags are returned separately", () => {
  const { own } = parseCommandLine(['--config-dir', '/d', '-h'], OWN);
  assert.deepEqual(
    [...own],
    [
      ['config-dir', '/d'],
      ['help', ''],
    ],
  );
});

test('the help has a line for each flag, with its effect', () => {
  const lines = flagHelp(OWN).split('\n');
  assert.equal(lines.filter((line) => / --[a-z]/.test(line)).length, lines.length);
  assert.match(flagHelp(OWN), /^ {6}--max-pods int +maximum number of pods \(default: 110\)$/m);
  assert.match(
    flagHelp(OWN),
    /^ {6}--kubeconfig path +kubeconfig of the API server; without it the kubelet runs standalone$/m,
  );
  assert.match(flagHelp(OWN), /^ {2}-v, --v int /m);
});

test('the values of all flags are listed, without secrets', () => {
  const args = [
    '--manifest-url-header=authorization:secret',
    '--node-labels=a=b,c=d',
    '--sync-frequency=90s',
    '--x=/y',
  ];
  const values = flagValues(parseCommandLine(args, [{ name: 'x', value: 'path', about: '' }]));
  const { x, port, 'manifest-url-header': header, 'node-labels': labels, 'sync-frequency': frequency } = values;
  assert.deepEqual(
    [x, port, header, labels, frequency, values['cluster-dns'], values['seccomp-default']],
    ['/y', '10250', 'authorization=<masked>', 'a=b,c=d', '1m30s', '[]', ''],
  );
});
