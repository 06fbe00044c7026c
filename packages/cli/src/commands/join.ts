import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateDirectory, PodwrightError, withTimeout } from '@podwright/base';
import { kubeconfigText } from '@podwright/certificates';
import { removeUnfinished, writeFileDurable } from '@podwright/host';
import { parseGoDuration } from '@podwright/kube-api';
import { readKubeconfig } from '@podwright/kube-client';
import { checkClusterConfiguration } from '../daemon/cluster-settings.ts';
import { parseAuthorityHash } from '../join/authority-hash.ts';
import { parseBootstrapToken } from '../join/bootstrap-token.ts';
import { clusterConfiguration, leastConfiguration, refuseTakenName } from '../join/cluster-answers.ts';
import { bootstrapClient, type DiscoveredCluster, discoverCluster } from '../join/discover-cluster.ts';
import { isJoined } from '../join/joined-cluster.ts';
import { print } from '../output/terminal-text.ts';
import { type JoinedFiles, joinedFiles } from '../settings/cluster-files.ts';
import type { CommandContext, NodeConfig } from '../settings/node-config.ts';
import { readText } from '../settings/read-text.ts';

export type JoinOptions = {
  token: string;
  discoveryTokenCaCertHash?: string[];
  discoveryTokenUnsafeSkipCaVerification?: true;
  kubeletConfiguration?: string;
  timeout: string;
  dryRun?: true;
};

/** `podwright join`: writes the files that make the node join a cluster. All files are checked before any is written. */
export async function join({ settings }: CommandContext, endpoint: string, options: JoinOptions): Promise<void> {
  const config = await settings();
  const token = parseBootstrapToken(options.token);
  const hashes = (options.discoveryTokenCaCertHash ?? []).map(parseAuthorityHash);
  if (hashes.length === 0 && options.discoveryTokenUnsafeSkipCaVerification === undefined)
    throw new PodwrightError(
      'invalid_argument',
      'identify the cluster with --discovery-token-ca-cert-hash, or trust any server with --discovery-token-unsafe-skip-ca-verification',
    );
  if (config.cluster.kubeconfig !== undefined)
    throw new PodwrightError(
      'failed_precondition',
      `${config.file} already names a cluster in [cluster]; remove the table`,
    );
  if (config.api.enabled)
    throw new PodwrightError(
      'failed_precondition',
      `${config.file} gives the node a Kubernetes API of its own; remove enabled from [api]`,
    );
  const files = joinedFiles(config.root);
  const timeoutMs = timeoutOf(options.timeout);
  const cluster = await discoverCluster({ endpoint: hostAndPort(endpoint), token, hashes, timeoutMs });
  const wanted = { ...cluster, nodeName: config.node_name };
  if (await hasJoined(files, wanted)) return print(`${config.node_name} has already joined ${cluster.server}`);
  const client = bootstrapClient(cluster, token);
  try {
    using signal = withTimeout(undefined, timeoutMs, `call ${cluster.server}`);
    await refuseTakenName(client, config.node_name, signal);
    const own = options.kubeletConfiguration && readText(options.kubeletConfiguration);
    const published = own ?? (await clusterConfiguration(client, files.authorities, signal));
    const configuration = published ?? leastConfiguration(files.authorities);
    await checkClusterConfiguration(configuration, files);
    const user = { token: `${token.id}.${token.secret}` };
    const contents = [
      [files.authorities, cluster.authorities],
      [files.bootstrapKubeconfig, kubeconfigText({ server: cluster.server, tls: { ca: cluster.authorities }, user })],
      [files.kubeletConfiguration, configuration], // last: this file makes the node join
    ] as const;
    if (options.dryRun) return showFiles(contents, token.secret);
    makePrivateDirectory(dirname(files.kubeconfig));
    for (const [path, text] of contents) {
      await removeUnfinished(path); // a killed join may have left the token there
      await writeFileDurable(path, text);
    }
    print(nextSteps(config, { cluster, isPublished: published !== undefined }));
  } finally {
    client.close();
  }
}

function timeoutOf(text: string): number {
  const ms = parseGoDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new PodwrightError('invalid_argument', `--timeout ${text}: must be a duration such as 20s`);
}

function hostAndPort(endpoint: string): string {
  const bare = endpoint.replace(/^https:\/\//, '').replace(/\/$/, '');
  if (/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/.test(bare)) return bare;
  throw new PodwrightError(
    'invalid_argument',
    `${endpoint}: must be HOST:PORT of an API server, such as 192.0.2.1:6443`,
  );
}

/** Whether the node has already joined the cluster. Returns false if its certificate has expired, so that it can rejoin with a token. */
async function hasJoined(
  { kubeconfig }: JoinedFiles,
  wanted: DiscoveredCluster & { nodeName: string },
): Promise<boolean> {
  if (!existsSync(kubeconfig)) return false;
  const { server, tls } = await readKubeconfig(kubeconfig);
  return isJoined({ server, tls: await tls() }, wanted, Date.now());
}

function showFiles(contents: readonly (readonly [path: string, text: string])[], secret: string): void {
  for (const [path, text] of contents) print(`# ${path}\n${text.replaceAll(secret, '…').trimEnd()}\n`);
  print('Nothing was written.');
}

function nextSteps(
  { node_name: name, root }: NodeConfig,
  { cluster, isPublished }: { cluster: DiscoveredCluster; isPublished: boolean },
): string {
  const lines = [
    `${name} is configured to join ${cluster.server}; the files are in ${dirname(joinedFiles(root).kubeconfig)}.`,
    ...(isPublished
      ? []
      : ['The cluster publishes no kubelet-config: set clusterDNS and clusterDomain in kubelet.yaml there.']),
    'Start or restart the node:',
    '  systemctl restart podwright     (or podwright node)',
    'On the control plane, unless it approves automatically:',
    '  kubectl get csr; kubectl certificate approve NAME',
    `  kubectl get node ${name}`,
  ];
  return lines.join('\n');
}
