import { isIP } from 'node:net';
import type { Node } from '../api/node.ts';

/**
 * The host's addresses that pods show: the first internal one of the node object, or external one where there is none, and the
 * first of the other family. `undefined` while the object has none.
 */
export function nodeHostIps(node: Node | undefined): string[] | undefined {
  const { addresses } = node?.status ?? {};
  const listed = Array.isArray(addresses) ? addresses : []; // whatever an API server says, pods go on
  const of = (wanted: string) => listed.flatMap((one) => (one?.type === wanted ? [one.address] : []));
  const [first, ...others] = [...of('InternalIP'), ...of('ExternalIP')].filter((address) => isIP(address) !== 0);
  if (first === undefined) return undefined;
  const second = others.find((address) => isIP(address) !== isIP(first));
  return second === undefined ? [first] : [first, second];
}
