import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './parse-config.ts';

const refused: [string, string, RegExp][] = [
  ['broken TOML', 'root = \n', /^read c\.toml:1:\d+: /],
  [
    'an unknown key',
    'root = "/x"\nrooot = "/x"\n',
    /^read c\.toml:2: rooot = "\/x": there is no such key; did you mean "root"\?$/,
  ],
  ['an unknown table', '[zzz]\na = 1\n', /^read c\.toml:1: zzz: there is no such key; there are root, state, /],
  [
    'an unknown key in a table of names',
    '[runtime.handlers.x]\ntask = "oci"\nprogramm = ""\n',
    /c\.toml:3: runtime\.handlers\.x\.programm = "": there is no such key; did you mean "program"\?$/,
  ],
  ['a wrong type', '[kubelet]\nmax_pods = "many"\n', /c\.toml:2: kubelet\.max_pods = "many": must be a whole number$/],
  ['a fraction', '[kubelet]\nmax_pods = 1.5\n', /max_pods = 1\.5: must be a whole number$/],
  ['a value out of range', '[runtime]\nstreaming_port = 70000\n', /c\.toml:2: .*70000: must be at most 65535$/],
  ['a word that is none of the allowed ones', 'log_level = "loud"', /"loud": must be one of debug, info, warn, error$/],
  ['a value where a table must be', 'network = 3', /c\.toml:1: network = 3: must be a table$/],
  ['an empty list', '[network]\ncni_bin_dirs = []', /cni_bin_dirs = \[\]: must not be empty$/],
  [
    'a wrong element',
    '[network]\ncni_bin_dirs = [\n"/x",\n7]',
    /c\.toml:2: network\.cni_bin_dirs\.1 = 7: must be a string$/,
  ],
  ['a bad handler name', '[runtime.handlers."A_b"]', /c\.toml:1: runtime\.handlers\.A_b: the name must be lower case/],
  [
    'an unknown task runtime',
    '[runtime.handlers.x]\ntask = "ocy"',
    /c\.toml:2: runtime\.handlers\.x\.task = "ocy": is none of oci.*; did you mean "oci"\?$/,
  ],
  [
    'an unknown sandbox controller',
    '[runtime.handlers.x]\nsandbox = "y"',
    /c\.toml:2: .*sandbox = "y": is none of pinned/,
  ],
  [
    'an unknown snapshotter',
    '[runtime]\nsnapshotter = "overlay"',
    /is none of auto, overlayfs, native.*mean "overlayfs"/,
  ],
  [
    'an unknown default',
    '[runtime]\ndefault_handler = "cruun"',
    /c\.toml:2: .*is none of crun, runc; did you mean "crun"/,
  ],
  [
    'a pause image that is not used',
    '[runtime.handlers.x]\npause_image = "pause:3"',
    /c\.toml:2: .*pause_image = "pause:3": is used with sandbox = "pause" alone$/,
  ],
  [
    'a certificate without its key',
    '[runtime]\nstreaming_cert = "/x"',
    /runtime\.streaming_key: is needed with streaming_cert$/,
  ],
  [
    'a header field that is not a list',
    '[kubelet]\nstatic_pod_url_header = { Authorization = "Bearer s3cret" }',
    /^read c\.toml:2: kubelet\.static_pod_url_header\.Authorization: must be a list$/,
  ],
  [
    'a header field that cannot be sent',
    '[kubelet]\nstatic_pod_url_header = { Authorization = ["Bearer s3cret\\u0000"] }',
    /^read c\.toml:2: kubelet\.static_pod_url_header\.Authorization\.0: has characters that a header field may not have$/,
  ],
  [
    'the name of a header field that cannot be sent',
    '[kubelet.static_pod_url_header]\n"X Token" = ["s3cret"]',
    /^read c\.toml:2: kubelet\.static_pod_url_header\."X Token": the name is not a valid name of a header field$/,
  ],
  [
    'a password in a URL',
    '[kubelet]\nstatic_pod_url = "https://me:s3cret@config.example/"',
    /^read c\.toml:2: kubelet\.static_pod_url: must have no user and password in it; static_pod_url_header can have them$/,
  ],
  [
    'a URL of another kind with a password',
    '[kubelet]\nstatic_pod_url = "ftp://me:s3cret@config.example/"',
    /^read c\.toml:2: kubelet\.static_pod_url: must be an http or https URL$/,
  ],
  ['an unknown cgroup driver', '[runtime]\ncgroup_driver = "sytemd"', /runtime\.cgroup_driver = "sytemd"/],
  ['a plugin without a package', '[runtime.plugins.x]', /c\.toml:1: runtime\.plugins\.x\.package: is needed$/],
  [
    'a plugin with a taken name',
    '[runtime.plugins.native]\npackage = "x"',
    /plugins\.native: is the name of a built-in plugin/,
  ],
  [
    'TCP without certificates',
    '[runtime.tcp]\nport = 1',
    /c\.toml:1: runtime\.tcp\.cert: is needed.*\n.*tcp\.key: .*\n.*client_ca: /,
  ],
  ['TCP without a port', '[runtime.tcp]', /runtime\.tcp\.port: is needed/],
  [
    'plain TCP on all addresses',
    '[runtime.tcp]\nport = 1\naddress = "0.0.0.0"\ninsecure = true',
    /c\.toml:4: runtime\.tcp\.insecure = true: is for a loopback address only/,
  ],
  [
    'plain TCP with certificates',
    '[runtime.tcp]\nport = 1\ncert = "/x"\ninsecure = true',
    /c\.toml:4: .*excludes certificates/,
  ],
  [
    'an address of the API that is off',
    '[api]\nlisten = "6443"',
    /c\.toml:2: api\.listen = "6443": needs enabled = true in the same table$/,
  ],
  [
    'an audit log of the API that is off',
    '[api]\naudit_log = "/x"',
    /c\.toml:2: api\.audit_log = "\/x": needs enabled = true in the same table$/,
  ],
  [
    'an unknown durability of the API',
    '[api]\nenabled = true\ndurability = "disk"',
    /c\.toml:3: api\.durability = "disk": .*process.*power/,
  ],
  [
    'an audit policy without a log',
    '[api]\nenabled = true\naudit_policy = "/x"',
    /c\.toml:3: api\.audit_policy = "\/x": needs audit_log in the same table$/,
  ],
  [
    'two ranges of one IP family',
    '[api]\nservice_cidr = "10.0.0.0/16,10.1.0.0/16"',
    /or one of each: 10\.96\.0\.0\/12,/,
  ],
  ['a range that is too large', '[api]\nservice_cidr = "fd00::/64"', /an IPv6 range of 108 to 120 bits/],
  ['an address of the API that is a name', '[api]\nenabled = true\nlisten = "localhost:6443"', /must be a port/],
  ['an address that is a name', '[runtime]\nstreaming_address = "localhost"', /must be an IPv4 or IPv6 address$/],
  [
    'metrics at a name',
    'metrics_address = "localhost:9464"',
    /c\.toml:1: metrics_address = "localhost:9464": must be a port/,
  ],
  [
    'metrics at a port for all',
    'metrics_address = ":9464"',
    /must be a port for loopback, or an IP address and a port/,
  ],
  ['metrics at IPv6 without brackets', 'metrics_address = "::1:9464"', /must be a port/],
  ['metrics at too high a port', 'metrics_address = "65536"', /must be a port/],
  ['metrics without a port', 'metrics_address = "127.0.0.1"', /must be a port/],
  ['metrics at a number', 'metrics_address = 9464', /metrics_address = 9464: must be a string/],
];
for (const [what, text, message] of refused) {
  test(`${what} is refused with its line and a hint`, () => {
    assert.throws(() => parseConfig(text, 'c.toml'), { code: 'invalid_argument', message });
  });
}

test('an invalid flag is named as written on the command line', () => {
  const message = /^read --log-level: log_level = "loud": must be one of/;
  assert.throws(() => parseConfig('root = "/x"', 'c.toml', { logLevel: 'loud' }), { message });
});

test('runtime = "docker" selects a Docker Engine and refuses settings of the built-in runtime', () => {
  const { container_runtime: runtime, dockershim } = parseConfig(
    'runtime = "docker"\n[dockershim]\ndocker_endpoint = "unix:///d.sock"',
    'c.toml',
    { networkPlugin: 'cni', cniBinDir: '/a,/b', networkPluginMtu: '1400' },
  );
  assert.deepEqual([runtime, dockershim.docker_endpoint, dockershim.mtu], ['docker', '/d.sock', 1400]);
  assert.deepEqual([dockershim.network_plugin, dockershim.cni_bin_dirs], ['cni', ['/a', '/b']]);
  const refuse = (text: string, message: RegExp, flags = {}) =>
    assert.throws(() => parseConfig(text, 'c.toml', flags), { code: 'invalid_argument', message });
  refuse('runtime = "dockr"', /c\.toml:1: runtime = "dockr": must be a table, or "docker"/);
  refuse(
    'runtime = "docker"\n[network]\nbridge = "b0"',
    /c\.toml:3: network\.bridge = "b0": applies only to the built-in runtime/,
  );
  refuse('runtime = "docker"', /^read --ready-sandboxes: .*the built-in runtime/, { readySandboxes: '1' });
  refuse(
    '[dockershim]\nhairpin_mode = "on"',
    /c\.toml:2: dockershim\.hairpin_mode = "on": must be one of hairpin-veth/,
  );
  refuse('', /^read --docker-endpoint: .*must be unix:\/\//, { dockerEndpoint: 'tcp://h:1' });
  refuse('[dockershim]\nimage_pull_progress_deadline = "0s"', /must be longer than 0/);
});

test('flags override the file', () => {
  const text = 'root = "/x"\n[network]\nbridge = "one"\nsubnet = "10.1.0.0/16"';
  const { root, network } = parseConfig(text, 'c.toml', { root: '/y', bridge: 'two' });
  assert.deepEqual([root, network.bridge, network.subnet], ['/y', 'two', '10.1.0.0/16']);
});

test('numeric flags are parsed or rejected', () => {
  assert.equal(parseConfig('', 'c.toml', { readySandboxes: '0' }).runtime.ready_sandboxes, 0);
  const message = /^read --ready-sandboxes: runtime\.ready_sandboxes = "-1": must be a whole number/;
  assert.throws(() => parseConfig('', 'c.toml', { readySandboxes: '-1' }), { message });
});

test('fast paths are used unless disabled by the file or the flag, and the flag wins', () => {
  const check = (text: string, fastPaths: string | undefined, expected: boolean) =>
    assert.equal(parseConfig(text, 'c.toml', fastPaths === undefined ? {} : { fastPaths }).fast_paths, expected);
  check('', undefined, true);
  check('fast_paths = false', undefined, false);
  check('', 'false', false);
  check('fast_paths = false', 'true', true);
  const message = /^read --fast-paths: fast_paths = "off": must be true or false/;
  assert.throws(() => parseConfig('', 'c.toml', { fastPaths: 'off' }), { message });
});

test('metrics are served on loopback if only a port is set, and nowhere by default', () => {
  const check = (given: string, expected: object) =>
    assert.deepEqual(parseConfig(`metrics_address = "${given}"`, 'c.toml').metrics_address, expected);
  check('9464', { host: '127.0.0.1', port: 9464 });
  check('0.0.0.0:0', { host: '0.0.0.0', port: 0 });
  check('[2001:db8::1]:65535', { host: '2001:db8::1', port: 65_535 });
  assert.equal(parseConfig('', 'c.toml').metrics_address, undefined);
  assert.equal(parseConfig('', 'c.toml', { metricsAddress: '1' }).metrics_address?.port, 1);
});

test('an empty file is a valid configuration', () => {
  const { runtime, network } = parseConfig('', 'c.toml');
  assert.deepEqual(runtime.handlers, {});
  assert.equal(runtime.tcp, undefined);
  assert.equal(network.bridge, 'podwright0');
});

test('handlers and plugins are parsed with their defaults', () => {
  const text = `[runtime]
default_handler = "slow"
snapshotter = "reflink"
[runtime.handlers.slow]
program = "/opt/runc"
[runtime.handlers.odd]
sandbox = "vm"
[runtime.plugins.vm]
package = "./vm.js"
[runtime.plugins.reflink]
package = "reflink"
settings = { deep = { list = [1, "two"] } }
[runtime.tcp]
address = "::1"
port = 0
insecure = true
`;
  const { runtime } = parseConfig(text, 'c.toml');
  assert.deepEqual(runtime.handlers, {
    slow: { task: 'oci', program: '/opt/runc', sandbox: 'pinned' },
    odd: { task: 'oci', program: '', sandbox: 'vm' },
  });
  assert.equal(JSON.stringify(runtime.plugins.reflink?.settings), '{"deep":{"list":[1,"two"]}}');
});

test('only the first problems are reported', () => {
  const text = Array.from({ length: 100 }, (_, index) => `key${index} = 1`).join('\n');
  assert.throws(
    () => parseConfig(text, 'c.toml'),
    ({ message }: Error) => message.split('\n').length === 10,
  );
});

test('service_cidr is one range, or one per IP family', () => {
  for (const range of ['10.96.0.0/12', 'fd00:96::/112', '10.96.0.0/16,fd00:96::/108', 'fd00:96::/120,10.96.0.0/24'])
    assert.equal(parseConfig(`[api]\nservice_cidr = "${range}"`, 'c.toml').api.service_cidr, range);
});
