/** Checks which modules commands load, since every loaded module slows down startup. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { DAEMON_FLAGS } from '../../packages/cli/src/daemon/daemon-flags.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';

/** Modules loaded by running the bundle: our sources, third-party packages, and Node.js built-ins. */
type Loaded = { sources: string[]; packages: string[]; builtins: string[] };

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

const REPORT_BUILTINS =
  "data:text/javascript,process.on('exit',()=>process.stderr.write('\\nloaded '+process.moduleLoadList+'\\n'))";

async function load(directory: string, args: string[]): Promise<Loaded & { out: string }> {
  const coverage = mkdtempSync(join(directory, 'coverage-'));
  const command = [process.execPath, '--import', REPORT_BUILTINS, bundle.program, ...args];
  const { code, out, err } = await new StartedProgram(command, { env: { NODE_V8_COVERAGE: coverage } }).ended();
  assert.equal(code, 0, err);
  const [file] = globSync(join(coverage, '*.json'));
  const { result } = JSON.parse(readFileSync(file!, 'utf8')) as { result: { url: string }[] };
  const scripts = result.flatMap(({ url }) => (url.startsWith('file://') ? [new URL(url).pathname] : []));
  const loaded = scripts.flatMap((script) => {
    const { sources } = JSON.parse(readFileSync(`${script}.map`, 'utf8')) as { sources: string[] };
    return sources.map((source) => resolve(script, '..', source));
  });
  const packages = loaded.flatMap((path) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const sources = loaded.flatMap((path) => /\/(packages\/.*)/.exec(path)?.[1] ?? []);
  const builtins = [...(/^loaded (.*)$/m.exec(err)?.[1] ?? '').matchAll(/NativeModule ([^,]+)/g)].map(
    (match) => match[1]!,
  );
  return { out, sources, packages: [...new Set(packages)], builtins };
}

/** Returns all sources that are loaded whenever a source is, through the static imports of its chunk. */
function sourcesWith(source: string): string[] {
  const directory = join(bundle.program, '..');
  const sourcesOf = (script: string) =>
    (JSON.parse(readFileSync(join(directory, `${script}.map`), 'utf8')) as { sources: string[] }).sources;
  const scripts = globSync('*.js', { cwd: directory });
  const loaded = new Set(scripts.filter((script) => sourcesOf(script).some((path) => path.endsWith(source))));
  assert.equal(loaded.size, 1, source);
  for (const script of loaded) {
    const text = readFileSync(join(directory, script), 'utf8');
    for (const [, name] of text.matchAll(/(?:from|import)"\.\/(chunk-\w+\.js)"/g)) loaded.add(name!);
  }
  return [...loaded].flatMap(sourcesOf);
}

test('a standalone node does not load modules for clusters, Docker or tracing', () => {
  for (const daemon of ['cli/src/daemon/node.ts', 'cli/src/daemon/kubelet-command.ts']) {
    const sources = sourcesWith(daemon);
    assert.ok(sources.some((path) => path.includes('kubelet/src/kuberuntime/')));
    const others =
      /\/(?:dashboard|dockershim|kube-client)\/src\/|kubelet\/src\/(?:api-objects|api-pods|dra)\/|\/@opentelemetry\//;
    assert.deepEqual(
      sources.filter((path) => others.test(path)),
      [],
      daemon,
    );
  }
});

test('a runtime without NRI plugins does not load NRI messages', () => {
  for (const daemon of ['cli/src/daemon/node.ts', 'cli/src/daemon/runtime.ts']) {
    const sources = sourcesWith(daemon);
    assert.ok(sources.some((path) => path.endsWith('nri/src/adaptation.ts')));
    const others = /\/(?:nri\/src\/(?:gen|merge|plugin-connection|stub)|ttrpc\/src)/;
    assert.deepEqual(
      sources.filter((path) => others.test(path)),
      [],
      daemon,
    );
  }
});

test('an API server without expression rules, policies or webhooks does not load the expression evaluator', () => {
  for (const part of ['api-server/src/start-api-server.ts', 'custom-resources/src/custom-strategy.ts']) {
    const sources = sourcesWith(part);
    const others =
      /\/(?:admission-(?:policies|webhooks)\/src\/(?!plugins|checked-strategy|webhook-resources)|cel\/src\/(?:checking|evaluation|functions|syntax)|custom-resources\/src\/rules\/rule-tree)/;
    assert.deepEqual(
      sources.filter((path) => others.test(path)),
      [],
      part,
    );
  }
});

test('commands with fast paths use the compile cache, which a daemon would keep in memory', async () => {
  const reporter =
    "data:text/javascript,import{getCompileCacheDir}from'node:module';process.on('exit',()=>console.error('compiled',getCompileCacheDir()))";
  const compiled = async (flags: string[] = [], settings: string[] = []) => {
    const command = [process.execPath, ...flags, '--import', reporter, bundle.program, ...settings, 'node', '--help'];
    const { code, err } = await new StartedProgram(command, { env: { NODE_COMPILE_CACHE: '' } }).ended();
    assert.equal(code, 0, err);
    return /^compiled (.*)$/m.exec(err)?.[1];
  };
  assert.match((await compiled()) ?? '', /\/dist\/cache\//);
  assert.equal(await compiled(DAEMON_FLAGS), 'undefined');
  assert.equal(await compiled([], ['--fast-paths', 'false']), 'undefined');
});

test('commands load only what they need', async (t) => {
  const directory = mkdtempSync('/tmp/loaded-');
  const state = join(directory, 'state');
  const metadata = { name: 'web', namespace: 'default', uid: 'u' };
  const pods = { items: [{ kind: 'Pod', metadata, spec: { containers: [] } }] };
  const runtime = { name: 'podwright', version: '1', apiVersion: 'v1', endpoint: 'unix:///none' };
  const info = { name: 'here', version: '1', pid: process.pid, runtime };
  const answers: Record<string, object> = {
    '/api/v1/pods': pods,
    '/podwright/v1/apply': { objects: [], findings: [] },
  };
  const node = createServer((request, response) =>
    response.end(JSON.stringify(answers[request.url!.split('?')[0]!] ?? info)),
  ).listen(`${directory}/node.sock`);
  await once(node, 'listening');
  t.after(() => {
    node.close();
    rmSync(directory, { recursive: true });
  });

  const version = await load(directory, ['--version']);
  assert.match(version.out, /^\d+\.\d+\.\d+\n$/);
  assert.deepEqual(version.sources.sort(), [
    'packages/base/src/version.ts',
    'packages/cli/src/settings/fast-start.ts',
    'packages/cli/src/settings/node-paths.ts',
    'packages/cli/src/start.ts',
    'packages/cli/src/version-call.ts',
  ]);
  assert.deepEqual(version.packages, []);

  const ps = await load(directory, ['--root', state, '--state', directory, 'ps']);
  assert.match(ps.out, /^default +web +0\/0 +Pending/m);
  assert.deepEqual(ps.packages, ['commander']);
  const others = ps.sources.filter((path) => !/^packages\/(?:base|cli)\/src\//.test(path));
  assert.deepEqual(others.sort(), [
    'packages/host/src/network/socket-path.ts',
    'packages/kube-api/src/objects/api-path.ts',
    'packages/kube-api/src/objects/conditions.ts',
    'packages/kube-api/src/objects/event.ts',
    'packages/kube-api/src/pods/pod-summary.ts',
  ]);
  const settings = ps.sources.filter((path) => path.startsWith('packages/cli/src/settings/'));
  assert.deepEqual(settings.map((path) => path.split('/').at(-1)).sort(), [
    'command-context.ts',
    'config-flags.ts',
    'fast-start.ts',
    'node-paths.ts',
    'read-text.ts',
  ]);
  // Node.js modules that importing node:http and node:fs would load, although a request to a node does not need them
  const late = ['internal/deps/undici/undici', 'internal/fs/streams', 'tls', 'fs/promises', 'http', 'readline'];
  assert.deepEqual(
    late.filter((name) => ps.builtins.includes(name)),
    [],
  );
  assert.ok(ps.builtins.includes('net'));

  // Node.js modules that are needed only for URLs and for starting a node
  const manifest = join(directory, 'pod.yaml');
  writeFileSync(
    manifest,
    '{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}',
  );
  const run = await load(directory, ['--root', state, '--state', directory, 'run', '--dry-run', manifest]);
  const costly = [...late, 'crypto', 'child_process'];
  assert.deepEqual(
    costly.filter((name) => run.builtins.includes(name)),
    [],
  );
  assert.deepEqual(run.packages.sort(), ['commander', 'yaml']);

  // a client reads its node's paths from the configuration without loading the schema
  const config = join(directory, 'config.toml');
  writeFileSync(config, `root = ${JSON.stringify(state)}\nstate = ${JSON.stringify(directory)}\n`);
  const configured = await load(directory, ['--config', config, 'ps']);
  assert.match(configured.out, /^default +web/m);
  assert.deepEqual(configured.packages.sort(), ['commander', 'smol-toml']);

  rmSync(config);
  const wrong = new StartedProgram([process.execPath, bundle.program, '--config', config, 'ps']);
  assert.match((await wrong.ended()).err, /^podwright: read .*config\.toml: no such file/);
});
