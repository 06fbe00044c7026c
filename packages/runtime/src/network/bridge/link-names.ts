import { createHash } from 'node:crypto';

/** Name of the interface in a pod, as Kubernetes expects it. */
export const POD_LINK = 'eth0';

/**
 * Number of hash letters in an interface name, which has at most 15 characters (IFNAMSIZ, linux/if.h). The hash includes the bridge,
 * because two nodes may use the same sandbox ids.
 */
const HASH_LETTERS = 11;

/**
 * Name of the host's end of a pod's link. Network managers ignore interfaces with names of this form (NetworkManager's
 * `85-nm-unmanaged.rules`).
 */
export const hostLinkName = (bridge: string, sandboxId: string): string => `veth${hashOf(bridge, sandboxId)}`;

/** Name of the link through which a pod's egress is redirected to limit its rate. */
export const shaperLinkName = (bridge: string, sandboxId: string): string => `ifb${hashOf(bridge, sandboxId)}`;

const hashOf = (bridge: string, sandboxId: string): string =>
  createHash('sha256').update(`${bridge}/${sandboxId}`).digest('hex').slice(0, HASH_LETTERS);

/** The `alias` of a link, which records the bridge and the sandbox it belongs to. */
export const linkAlias = (bridge: string, sandboxId: string): string => `podwright ${bridge} ${sandboxId}`;

const BRIDGE_ALIAS = 'podwright-node ';

/** The `alias` of a bridge, which records the node that created it: its state directory, truncated to the kernel's limit. */
export const bridgeAlias = (stateDir: string): string => `${BRIDGE_ALIAS}${stateDir}`.slice(0, 255);

/** Whether a bridge's alias names a node other than the one that uses `stateDir`. */
export const isOfAnotherNode = (alias: string | undefined, stateDir: string): boolean =>
  alias?.startsWith(BRIDGE_ALIAS) === true && alias !== bridgeAlias(stateDir);

/** The sandbox of a link, if it belongs to this bridge. */
export function sandboxOfAlias(bridge: string, alias: string | undefined): string | undefined {
  const start = linkAlias(bridge, '');
  return alias?.startsWith(start) ? alias.slice(start.length) : undefined;
}
