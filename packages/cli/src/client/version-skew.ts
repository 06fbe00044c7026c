import { BUILD, gatherBytes, isRecord, VERSION } from '@podwright/base';
import type { NodeInfo } from '@podwright/node-api';
import { exchange } from './http-exchange.ts';

const ANSWER_TIMEOUT_MS = 2000;
const MAX_ANSWER_BYTES = 1 << 20;

/** Describes how the node's version or build differs from this program's, with advice. Returns `undefined` if they are the same. */
export function versionSkew(node: Pick<NodeInfo, 'version' | 'build'>): string | undefined {
  if (node.version === VERSION && (node.build ?? '') === BUILD) return undefined;
  const [nodes, own] =
    node.version === VERSION
      ? [`build ${node.build ?? 'unknown'} of podwright ${VERSION}`, `build ${BUILD || 'unknown'}`]
      : [`podwright ${node.version}`, VERSION];
  return `the node runs ${nodes}, this command is ${own}: 'podwright upgrade' restarts the node`;
}

/**
 * Like `versionSkew`, but asks the node on this socket for its version. Returns `undefined` if the versions are the same or the node's
 * response cannot be read.
 */
export async function skewOfNode(socketPath: string): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const answer = await exchange(socketPath, { method: 'GET', path: '/podwright/v1/node', headers: {}, signal });
    const node: unknown = JSON.parse(
      (await gatherBytes(answer, MAX_ANSWER_BYTES, () => new Error('too long'))).toString(),
    );
    if (!isRecord(node) || typeof node.version !== 'string') return undefined;
    return versionSkew({ version: node.version, build: typeof node.build === 'string' ? node.build : undefined });
  } catch {
    return undefined;
  }
}
