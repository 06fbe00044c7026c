/** Manifests: directories, multiple files, objects handled only in a cluster, and missing references. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.240.0/24');
});
after(async () => {
  await place.remove();
  await bundle.remove();
});

const service = 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}\n';
const configMap = (name: string, data: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: "${data}"}\n${more}`;

const podWith = (name: string, spec: string) =>
  podManifest(name, forever).replace('spec:\n', `spec:\n${spec.replaceAll(/^/gm, '  ')}\n`);

test('check needs no node, reports problems with file, line and field, and returns 1 only for problems', async () => {
  const fine = place.file('fine.yaml', `${podManifest('fine', forever)}---\n${service}`);
  const good = await place.call('check', fine);
  assert.equal(good.code, 0, good.out + good.err);
  assert.equal(good.out, 'images: localhost/podwright/busybox:1\nchecked 1 Pod and 1 Service: no problems\n');
  const typo = place.file('typo.yaml', podWith('typo', 'hostNetwrok: true'));
  const lacks = place.file(
    'lacks.yaml',
    `# first\n---\n${podWith('lacks', 'runtimeClassName: fast\nnodeName: elsewhere')}`,
  );
  const found = await place.call('check', fine, lacks, typo, '-o', 'json');
  assert.equal(found.code, 1);
  const { findings } = JSON.parse(found.out) as {
    findings: { severity: string; file: string; line: number; field: string; message: string }[];
  };
  assert.deepEqual(
    findings.map(({ severity, file, line, field }) => `${severity} ${file.split('/').pop()}:${line} ${field}`),
    [
      'problem lacks.yaml:7 spec.runtimeClassName',
      'note lacks.yaml:8 spec.nodeName',
      'problem typo.yaml:5 spec.hostNetwrok',
    ],
  );
  assert.deepEqual(place.leftovers(), []);
});

test('a node accepts directories and URLs, reports skipped objects and ignored fields, and changes nothing in a dry run', async () => {
  const daemon = await place.startDaemon();
  try {
    await place.loadImage();
    mkdirSync(place.path('input/dir/below'), { recursive: true });
    writeFileSync(place.path('input/dir/pod.yaml'), podWith('web', 'schedulerName: mine\nhostNetwork: no'));
    writeFileSync(place.path('input/dir/service.yml'), service);
    writeFileSync(
      place.path('input/dir/below/page.json'),
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'page' } }),
    );
    const directory = place.path('input/dir');

    const dry = await place.call('apply', '-f', directory, '-R', '--dry-run');
    assert.equal(dry.code, 0, dry.err);
    assert.match(dry.out, /^configmap default\/page created \(dry run\)\npod default\/web created \(dry run\)\n$/);
    assert.match(dry.err, /service\.yml:1:1: Service web is left out/);
    assert.match(dry.err, /note: .*pod\.yaml:5:18: spec\.schedulerName: "mine" is ignored/);
    assert.deepEqual(await place.pods(), []);

    const { out, err, code } = await place.call('apply', '-f', directory, '-R');
    assert.equal(code, 0, err);
    assert.match(out, /pod default\/web created/);
    assert.match(err, /warning: .*pod\.yaml:5:18: spec\.schedulerName: "mine" is ignored/);
    assert.match((await place.call('run', '--dry-run', directory)).out, /pod default\/web unchanged \(dry run\)/);
    const strict = await place.call('apply', directory, '--strict');
    assert.equal(strict.code, 1);
    assert.match(strict.err, /service\.yml:2:7: kind: Service cannot be used/);

    const server = createServer((_request, response) => response.end(configMap('far', '1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/far.yaml`;
      assert.match(await place.ok('apply', url), /configmap default\/far created/);
    } finally {
      server.close();
    }

    const lacking = place.file(
      'lacking.yaml',
      podWith('lacking', 'nodeSelector: {disk: ssd}\nruntimeClassName: fast').replace(exampleImage, 'localhost/none:1'),
    );
    const refused = await place.call('run', '--dry-run', lacking);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /problem: .*lacking\.yaml:5:17: spec\.nodeSelector: the node will refuse the pod/);
    assert.match(
      refused.err,
      /problem: .*spec\.runtimeClassName: RuntimeClass fast is not in these files or on the node/,
    );
    assert.match(refused.err, /(note|problem): .*localhost\/none:1 is not on this host/);

    assert.match((await place.call('check', lacking)).out, /^images: localhost\/none:1 \(not on this host yet\)$/m);

    const frozen = place.file('frozen.yaml', configMap('frozen', '1', 'immutable: true\n'));
    await place.ok('apply', frozen);
    const changed = await place.call('apply', place.file('frozen.yaml', configMap('frozen', '2', 'immutable: true\n')));
    assert.equal(changed.code, 1);
    assert.match(changed.err, /ConfigMap default\/frozen: data: Forbidden: field is immutable when `immutable` is set/);

    writeFileSync(
      place.path('root/manifests/broken.yaml'),
      `${podManifest('broken', forever)}  restartPolicy: Sometimes\n`,
    );
    await place.until(async () => /broken\.yaml:\d+:\d+: spec\.restartPolicy/.test((await place.call('ps')).err));
    rmSync(place.path('root/manifests/broken.yaml'));
    await place.until(async () => (await place.call('ps')).err === '');

    await place.ok('delete', '-f', directory, '-R', '--force');
    assert.deepEqual(await place.pods(), []);
  } finally {
    daemon.child.kill('SIGTERM');
    await daemon.ended();
  }
});
