import { BUILD, COMMIT, errorCode, VERSION } from '@podwright/base';
import { KUBELET_FORMAT } from '@podwright/kubelet';
import { LOCAL_API_VERSION } from '@podwright/node-api';
import { RUNTIME_FORMAT } from '@podwright/runtime';
import { NodeClient } from '../client/node-client.ts';
import { versionSkew } from '../client/version-skew.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { loadLibraries } from './load-libraries.ts';

/** `trial`: also load the native libraries, so that installers can try out a program before installing it. */
export type VersionOptions = { output: OutputFormat; trial?: boolean };

/** Number of commit hash digits to show; enough to find the commit. */
const COMMIT_DIGITS = 12;

/** `podwright version`. Succeeds even if no node is running. */
export async function version({ config }: CommandContext, options: VersionOptions): Promise<void> {
  if (options.trial) await loadLibraries();
  const node = await new NodeClient(config.apiSocket).node().catch((error: unknown) => {
    if (errorCode(error) === 'unavailable' || errorCode(error) === 'permission_denied') return undefined;
    throw error;
  });
  const value = {
    client: VERSION,
    commit: COMMIT,
    build: BUILD,
    localApiVersion: LOCAL_API_VERSION,
    recordFormats: { runtime: RUNTIME_FORMAT, kubelet: KUBELET_FORMAT },
    node: node?.version,
    nodeCommit: node?.commit,
    nodeBuild: node?.build,
    nodeLocalApiVersion: node?.localApiVersion,
    runtime: node?.runtime,
    nodejs: process.version,
  };
  const skew = node && versionSkew(node);
  const rows = [
    ['podwright', withBuild(VERSION, { commit: COMMIT, build: BUILD })],
    ['node', node === undefined ? 'not running' : withBuild(node.version, node)],
    [
      'runtime',
      node === undefined ? '-' : `${node.runtime.name} ${node.runtime.version}, CRI ${node.runtime.apiVersion}`,
    ],
    ['Node.js', process.version],
  ];
  const table = () => [renderTable(['PART', 'VERSION'], rows), ...(skew === undefined ? [] : [skew])].join('\n');
  await printAs(options.output, value, table);
}

function withBuild(version: string, { commit = '', build = '' }: { commit?: string; build?: string }): string {
  const parts = [commit && `commit ${commit.slice(0, COMMIT_DIGITS)}`, build && `build ${build}`];
  return [version, ...parts.filter((part) => part !== '')].join(', ');
}
