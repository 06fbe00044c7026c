import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { clusterFiles, joinedFiles } from '../settings/cluster-files.ts';
import { configOfText } from '../settings/node-config.ts';
import { clusterSettings } from './cluster-settings.ts';
import { kubeletOptionsOf, UPSTREAM_DEFAULTS } from './kubelet-options.ts';

const root = mkdtempSync(join(tmpdir(), 'podwright-cluster-'));
after(() => rmSync(root, { recursive: true }));
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

const configOf = (text: string) => configOfText(`root = "${root}"\n${text}`, { file: undefined, flags: {} });

async function optionsOf(text: string, configuration: string) {
  const config = configOf(text);
  const file = join(root, 'kubelet.yaml');
  writeFileSync(file, HEAD + configuration);
  const files = { kubeconfig: '/k', kubeletConfiguration: file };
  const { configure, configuration: whole } = await clusterSettings(config, files);
  const node = {
    runtimeEndpoint: '/own',
    criApiVersion: 'v1' as const,
    cgroupRoot: '/own',
    defaults: UPSTREAM_DEFAULTS,
  };
  return { whole, options: configure(kubeletOptionsOf(config, node)) };
}

test('a node uses the cluster’s configuration except for paths and endpoints', async () => {
  const { options, whole } = await optionsOf(
    '[kubelet]\nmax_pods = 7\ncluster_domain = "ours"\n',
    `containerRuntimeEndpoint: /theirs
staticPodPath: /theirs
podLogsDir: /theirs
cgroupRoot: /theirs
cgroupDriver: systemd
kubeletCgroups: /theirs
clusterDomain: theirs
`,
  );
  assert.deepEqual(
    [
      options.runtimeEndpoint,
      options.manifestDir,
      options.podLogsDir,
      options.cgroupRoot,
      options.cgroupDriverFallback,
    ],
    ['/own', join(root, 'manifests'), '/var/log/pods', '/own', 'cgroupfs'],
  );
  assert.deepEqual([options.clusterDomain, options.maxPods, whole.kubeconfig], ['theirs', 7, '/k']);
});

test('callers are reviewed by the API server, and the API uses upstream’s ports', async () => {
  const { options } = await optionsOf('', '');
  const { authentication, port, healthzPort } = options.server;
  assert.deepEqual([port, healthzPort, authentication.anonymous], [10_250, 10_248, false]);
  assert.deepEqual(authentication.reviews, {
    tokens: { keptMs: 120_000 },
    access: { allowedMs: 300_000, deniedMs: 30_000 },
  });
});

test('an invalid field is reported with its file and line', async () => {
  const wrong = /kubelet\.yaml:3: maxPods: /;
  await assert.rejects(optionsOf('', 'maxPods: many\n'), wrong);
  await assert.rejects(
    optionsOf('', 'enableSystemLogQuery: true\n'),
    /kubelet\.yaml:3: enableSystemLogQuery = true: is refused/,
  );
});

test('the configured cluster is used, or else the joined one', () => {
  assert.equal(clusterFiles(configOf('')), undefined);
  assert.throws(
    () => configOf('[cluster]\nbootstrap_kubeconfig = "/b"\n'),
    /:3: cluster\.bootstrap_kubeconfig = "\/b": needs the kubeconfig of a cluster: add --kubeconfig PATH, or /,
  );
  assert.throws(
    () => configOfText('', { file: undefined, flags: { kubeletConfiguration: '/kc.yaml' } }),
    /^PodwrightError: read --kubelet-configuration: cluster\.kubelet_configuration = "\/kc\.yaml": needs the kubeconfig/,
  );
  const named = { kubeconfig: '/k', bootstrapKubeconfig: undefined, kubeletConfiguration: undefined };
  assert.deepEqual(clusterFiles(configOf('[cluster]\nkubeconfig = "/k"\n')), named);
  const joined = joinedFiles(root);
  mkdirSync(join(root, 'cluster'));
  for (const path of [joined.kubeletConfiguration, joined.bootstrapKubeconfig]) writeFileSync(path, '');
  const { authorities: _, ...files } = joined;
  assert.deepEqual(clusterFiles(configOf('')), files);
  rmSync(joined.bootstrapKubeconfig);
  assert.deepEqual(clusterFiles(configOf('')), { ...files, bootstrapKubeconfig: undefined });
  assert.deepEqual(clusterFiles(configOf('[cluster]\nkubeconfig = "/k"\n')), named);
});
