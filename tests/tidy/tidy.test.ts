/**
 * Checks the layout of the tree: which packages import each other, restrictions on imports between rooms, file sizes, and files that do not
 * belong in the tree.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from '../../packages/cli/src/program.ts';
import { imports, isExample, read, shipped, sources, tracked } from './source-tree.ts';

/** The packages (or individual export paths) that each package may import. There are no import cycles between packages. */
const ARROWS: Record<string, string[]> = {
  base: [],
  host: ['base'],
  testing: ['base', 'host'],
  'kube-api': ['base'],
  'kube-schema': ['base', 'kube-api'],
  'kube-kinds': ['base', 'kube-api', 'kube-schema'],
  system: ['base', 'host'],
  metadata: ['base', 'host'],
  grpc: ['base', 'host'],
  cri: ['base', 'host', 'grpc'],
  'cri-proxy': ['base', 'grpc', 'cri'],
  cni: ['base', 'host'],
  streaming: ['base'],
  images: ['base', 'host', 'metadata', 'system'],
  upgrade: ['base', 'host', 'images/tar', 'system'],
  ttrpc: ['base', 'host'],
  nri: ['base', 'host', 'ttrpc'],
  oci: ['base', 'host', 'images', 'system'],
  shim: ['base', 'host', 'system', 'ttrpc'],
  'kube-client': ['base', 'host', 'kube-api'],
  'kube-verbs': ['base', 'kube-api'],
  runtime: ['base', 'host', 'system', 'metadata', 'grpc', 'cri', 'cni', 'streaming', 'images', 'nri', 'oci', 'shim'],
  certificates: ['base', 'host', 'kube-api', 'kube-client'],
  controllers: ['base', 'kube-api', 'kube-client'],
  dns: ['base', 'host', 'kube-api', 'kube-client'],
  proxy: ['base', 'host', 'system', 'kube-api', 'kube-client'],
  'kube-view': ['base', 'kube-api'],
  dashboard: ['base', 'kube-api', 'kube-client', 'kube-view', 'streaming'],
  scheduling: ['base', 'kube-api', 'kube-client'],
  'api-machinery': ['base', 'host', 'kube-schema', 'kube-kinds'],
  'api-documents': ['base', 'kube-schema', 'api-machinery'],
  cel: ['base', 'kube-api', 'kube-kinds'],
  'admission-policies': ['base', 'api-machinery', 'cel', 'kube-kinds', 'kube-schema'],
  'admission-webhooks': ['base', 'admission-policies', 'api-machinery', 'kube-kinds', 'kube-schema'],
  'custom-resources': ['base', 'cel', 'kube-kinds', 'kube-schema'],
  'api-tables': ['custom-resources', 'kube-api', 'kube-kinds', 'kube-schema'],
  'flow-control': ['base', 'kube-kinds'],
  'api-server': [
    'base',
    'host',
    'certificates/der',
    'certificates/x509',
    'streaming',
    'kube-api',
    'kube-client',
    'kube-schema',
    'kube-kinds',
    'api-machinery',
    'api-documents',
    'admission-policies',
    'admission-webhooks',
    'custom-resources',
    'api-tables',
    'flow-control',
  ],
  placement: ['base', 'host', 'grpc', 'kube-api', 'kube-client'],
  'kubelet-configuration': ['base', 'cri', 'kube-api', 'placement'],
  'pod-config': ['base', 'host', 'kube-api'],
  volumes: ['base', 'host', 'system/mountinfo', 'grpc', 'kube-api', 'kube-client', 'placement'],
  kubelet: [
    'base',
    'host',
    'system/mountinfo',
    'system/open-files',
    'grpc',
    'cri',
    'kube-api',
    'kube-client',
    'kubelet-configuration',
    'placement',
    'pod-config',
    'volumes',
  ],
  'kubelet-server': [
    'base',
    'host',
    'grpc',
    'cri',
    'kube-api',
    'kube-client',
    'certificates',
    'streaming',
    'kubelet-configuration',
    'kubelet',
  ],
  'node-api': ['base', 'host', 'kube-api', 'streaming', 'pod-config', 'kubelet', 'kubelet-server'],
  dockershim: ['base', 'host', 'system', 'grpc', 'cri', 'cni', 'streaming'],
  copy: ['base', 'images/tar'],
  cli: [
    'base',
    'copy',
    'api-server',
    'controllers',
    'dashboard',
    'dns',
    'proxy',
    'scheduling',
    'host',
    'metadata',
    'system',
    'grpc',
    'cri',
    'cri-proxy',
    'cni',
    'streaming',
    'images/tar',
    'runtime',
    'kube-api',
    'kube-client',
    'kube-view',
    'kube-verbs',
    'certificates',
    'kubelet-configuration',
    'kubelet',
    'kubelet-server',
    'node-api',
    'dockershim',
    'upgrade',
  ],
};

function violations(paths: string[], check: (path: string, target: string) => boolean): string[] {
  return paths.flatMap((path) =>
    imports(path)
      .filter((target) => check(path, target))
      .map((target) => `${path} imports ${target}`),
  );
}

test('packages import only the packages in the table', () => {
  const wrong = violations(shipped, (path, target) => {
    const owner = path.split('/')[1]!;
    const crosses = /^packages\/([^/]+)\//.exec(target);
    if (crosses !== null && crosses[1] !== owner) return true;
    const [named, name] = /^@podwright\/([^/]+).*/.exec(target) ?? [];
    const allowed = ARROWS[owner] ?? [];
    return name !== undefined && !allowed.includes(name) && !allowed.includes(named!.slice('@podwright/'.length));
  });
  assert.deepEqual(wrong, []);
});

test('ARCHITECTURE.md has a row for each package, with its permitted imports', () => {
  const [, section = ''] = read('ARCHITECTURE.md').split('\n## Packages\n');
  const rows = section.split('\n## ')[0]!.matchAll(/^- `([^`]+)`: .*?(?:\. Imports: (.+))?$/gm);
  const list = [...rows].map(([, name, targets]) => [name!, targets?.split(', ').sort() ?? []]);
  const omitted = ['base', 'host', 'kube-api'];
  const listed = (targets: string[]) => targets.filter((target) => !omitted.includes(target)).sort();
  const arrows = Object.entries(ARROWS).map(([name, targets]) => [name, listed(targets)]);
  assert.deepEqual(Object.fromEntries(list), Object.fromEntries(arrows));
});

/** Mutable variables of modules; each is unique to a process or thread by nature. */
const MODULE_STATE = [
  'packages/base/src/chain-limits.ts: limitChains', // OpenSSL is linked into the process, and base cannot load koffi
  'packages/base/src/host-lookup.ts: nodeLookups', // the three queues share the one thread pool of the process
  'packages/base/src/host-lookup.ts: probeLookups',
  'packages/base/src/host-lookup.ts: registryLookups',
  'packages/host/src/files/trash.ts: pending', // counts the trees of all trash directories of the process
  'packages/images/src/unpack/unpack-worker.ts: arrival', // a worker thread unpacks one layer at a time
  'packages/system/src/server-mounts.ts: serverMounts', // a silent server must occupy one program of the process at most
];

test('modules have no mutable state except for the listed variables', () => {
  const found = shipped.flatMap((path) =>
    [
      ...read(path).matchAll(
        /^(?:export )?(?:let|var) (\w+)|^(?:export )?const (\w+)[^=]* = new (?:(?:Weak)?(?:Map|Set)|KeyedLock|Limiter|HostLookup|ServerMounts)(?:<.*>)?\(\);$/gm,
      ),
    ].map((match) => `${path}: ${match[1] ?? match[2]}`),
  );
  assert.deepEqual(found.sort(), MODULE_STATE);
});

test('runtime modules outside the CRI layer do not use CRI types', () => {
  const rooms = shipped.filter((path) =>
    /^packages\/runtime\/src\/(?!cri\/|builtins\.ts|runtime\.ts|runtime-parts\.ts)/.test(path),
  );
  assert.deepEqual(
    violations(
      rooms,
      (_path, target) => target.startsWith('@podwright/cri') || target.startsWith('packages/runtime/src/cri/'),
    ),
    [],
  );
});

test('files stay small: none over 500 lines, 95 % under 350', () => {
  const lengths = shipped.map((path) => ({ path, lines: read(path).split('\n').length }));
  assert.deepEqual(
    lengths.filter(({ lines }) => lines > 500),
    [],
  );
  const sorted = lengths.map(({ lines }) => lines).sort((a, b) => a - b);
  assert.ok(
    (sorted[Math.floor(sorted.length * 0.95)] ?? 0) <= 350,
    'the 95th percentile of file lengths is over 350 lines',
  );
});

/** The largest packages, in lines of code without comments; these numbers may only fall. */
const LARGE_PACKAGES: Record<string, number> = { kubelet: 21_991 };
const MAX_PACKAGE_LINES = 15_000;

test('no package has more than 15,000 lines of code, except for the listed ones, which may only shrink', () => {
  const lines: Record<string, number> = {};
  for (const path of shipped.filter((path) => !path.endsWith('.fixture.ts'))) {
    const name = path.split('/')[1]!;
    lines[name] =
      (lines[name] ?? 0) +
      read(path)
        .split('\n')
        .filter((line) => !/^\s*(?:$|\/\/|\/\*\*|\*)/.test(line)).length;
  }
  const tooLarge = Object.entries(lines).filter(([name, count]) => count > (LARGE_PACKAGES[name] ?? MAX_PACKAGE_LINES));
  assert.deepEqual(tooLarge, []);
});

test('directories are nested at most two levels under a package’s src', () => {
  const deep = shipped.filter((path) => path.split('/').length > 6);
  assert.deepEqual(deep, []);
});

test('file modes on the host are taken from base/modes.ts', () => {
  const ours = shipped.filter((path) => path !== 'packages/base/src/modes.ts' && !path.includes('.fixture.'));
  const wrong = ours.flatMap((path) => {
    const text = read(path);
    // masks of mode bits and flags of open(2) are not modes of new files
    const literals = [...text.matchAll(/(?<!& |max\(|const MAX_FILE_MODE = )\b0o[0-7]{3,4}\b(?! *[|;])/g)];
    const directories = [...text.matchAll(/\bmkdir(?:Sync)?\((?!.*(?:mode\b|_DIRECTORY\b))/g)];
    return [...literals, ...directories].map((match) => `${path}: ${text.slice(match.index, match.index + 60)}`);
  });
  assert.deepEqual(wrong, []);
});

test('no test is skipped, focused or todo, and no comment is a TODO', () => {
  const self = 'tests/tidy/tidy.test.ts';
  const wrong = sources
    .filter((path) => path !== self)
    .filter((path) =>
      /\b(?:it|test|describe)\.(?:skip|only|todo)\(|\bskip: true|\b(?:TODO|FIXME|XXX)\b/.test(read(path)),
    );
  assert.deepEqual(wrong, []);
});

test('directories are named after their contents', () => {
  const vague = tracked.filter((path) => /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\.ts|\/)/.test(path));
  assert.deepEqual(vague, []);
});

test('docs/security.md names exactly the attacks of tests/security', () => {
  const document = read('docs/security.md');
  const attacks = tracked.flatMap((path) => /^tests\/security\/(.+)\.test\.ts$/.exec(path)?.[1] ?? []);
  const named = [...document.matchAll(/^\| .* \| (`.*`) *\|$/gm)].flatMap((row) =>
    [...row[1]!.matchAll(/`([a-z-]+)`/g)].map((match) => match[1]!),
  );
  assert.deepEqual([...new Set(named)].sort(), attacks.sort());
});

test('the files named in docs/flow-*.md exist', () => {
  const flows = tracked.filter((path) => /^docs\/flow-.*\.md$/.test(path));
  assert.ok(flows.length >= 3);
  for (const flow of flows) {
    const named = [...read(flow).matchAll(/`(packages\/[^`]+)`/g)].map((match) => match[1]!);
    assert.ok(named.length >= 15, `${flow} names ${named.length} files`);
    const missing = named.filter((path) => !tracked.includes(path));
    assert.deepEqual(missing, [], flow);
  }
});

test('ARCHITECTURE.md is a map of at most 12 KB', () => {
  assert.ok(Buffer.byteLength(read('ARCHITECTURE.md')) <= 12 << 10);
});

test('the files and directories named in ARCHITECTURE.md, the decisions and docs/performance.md exist', () => {
  const documents = tracked.filter((path) => /^(?:ARCHITECTURE|docs\/performance|docs\/decisions\/.*)\.md$/.test(path));
  const isThere = (path: string) => tracked.some((file) => file === path || file.startsWith(`${path}/`));
  const missing = documents.flatMap((document) =>
    [...read(document).matchAll(/`((?:packages|tests|scripts|bench)\/[\w./-]*\w)`/g)]
      .filter((match) => !isThere(match[1]!))
      .map((match) => `${document}: ${match[1]}`),
  );
  assert.deepEqual(missing, []);
});

test('the index of decisions lists every decision with its number and title', () => {
  const index = read('docs/decisions/README.md');
  const pages = tracked.filter((path) => /^docs\/decisions\/\d/.test(path)).sort();
  const expected = pages.map((path) => {
    const [, number, title] = /^# (\d{3}): (.+)\n/.exec(read(path)) ?? [];
    return `- [${number}](${path.slice('docs/decisions/'.length)}) ${title}`;
  });
  assert.deepEqual(
    index.split('\n').filter((line) => line.startsWith('- ')),
    expected,
  );
  assert.deepEqual(
    pages.map((path) => Number(path.slice('docs/decisions/'.length).slice(0, 3))),
    pages.map((_, index) => index + 1),
  );
});

/** Returns the commands of `podwright`, including subcommands such as `runtime plugins`. */
function commands({ withHidden = true } = {}): string[] {
  const program = createProgram(() => undefined);
  const named = program.commands.filter((command) => !command.name().startsWith('_'));
  const shown = withHidden ? named : program.createHelp().visibleCommands(program);
  return shown.flatMap((command) => [
    command.name(),
    ...command.commands.map((below) => `${command.name()} ${below.name()}`),
  ]);
}

test('podwright commands named in messages and documents exist', () => {
  const known = commands();
  assert.ok(known.includes('run') && known.includes('runtime plugins'));
  const texts = [
    ...shipped,
    ...tracked.filter((path) => /\.(?:md|yaml|service)$/.test(path) || path.startsWith('contrib/')),
  ];
  const wrong = texts.flatMap((path) =>
    [...read(path).matchAll(/['`\\]podwright ((?:--?[\w-]+(?: [/.\w-]+)? )*)([a-z][a-z-]*)/g)]
      .filter((match) => !known.includes(match[2]!))
      .map((match) => `${path}: ${match[0].slice(1)}`),
  );
  assert.deepEqual(wrong, []);
});

test('the first help page lists exactly the existing commands', () => {
  const page = /const HELP = `([^`]*)`/s.exec(read('packages/cli/src/program.ts'))![1]!;
  const lists = [...page.matchAll(/^(?:Pods|Objects|Workloads|In pods|Images|Daemons|Clusters|Host): +(.+)$/gm)].map(
    (match) => match[1]!.replace(/\(.*?\)/g, ''),
  );
  const named = lists.flatMap((list) => list.split(',').map((name) => name.trim()));
  // `rollout` and `create` list their subcommands in their own help
  const shown = commands({ withHidden: false }).filter((name) => !/^(?:rollout|create) /.test(name));
  assert.deepEqual(named.sort(), shown.sort());
});

test('a package’s README quotes its examples verbatim', () => {
  const examples = tracked.filter(isExample);
  assert.notDeepEqual(examples, []);
  const unlike = examples.filter((path) => {
    const readme = `${path.split('/examples/')[0]}/README.md`;
    return !tracked.includes(readme) || !read(readme).includes(`\`\`\`ts\n${read(path)}\`\`\`\n`);
  });
  assert.deepEqual(unlike, []);
});
