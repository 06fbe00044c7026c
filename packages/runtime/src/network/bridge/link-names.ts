import { createHash } from 'node:crypto';

/** Name of a pod's network interface, as Kubernetes expects it. */
export const POD_LINK = 'eth0';

/**
 * Number of hash letters in an interface name, which can be at most 15 characters long (IFNAMSIZ, linux/if.h). The hash includes the
 * bridge, because two nodes may use the same sandbox IDs.
 */
const HASH_LETTERS = 11;

/**
 * Name of the host end of a pod's veth pair. Network managers ignore interfaces with names of this form (NetworkManager's
 * `85-nm-unmanaged.rules`).
 */
export const hostLinkName = (bridge: string, sandboxId: string): string => `veth${hashOf(bridge, sandboxId)}`;

/** Name of the ifb device to which a pod's egress is redirected to limit its rate. */
export const shaperLinkName = (bridge: string, sandboxId: string): string => `ifb${hashOf(bridge, sandboxId)}`;

const hashOf = (bridge: string, sandboxId: string): string =>
  createHash('sha256').update(`${bridge}/${sandboxId}`).digest('hex').slice(0, HASH_LETTERS);

/** A link's `alias`, which records the bridge and the sandbox that the link belongs to. */
export const linkAlias = (bridge: string, sandboxId: string): string => `podwright ${bridge} ${sandboxId}`;

const BRIDGE_ALIAS = 'podwright-node ';

/** A bridge's `alias`, which records the node that created it by its state directory, truncated to the kernel's limit. */
export const bridgeAlias = (stateDir: string): string => `${BRIDGE_ALIAS}${stateDir}`.slice(0, 255);

/** Whether a bridge's alias names a different node than the one that uses `stateDir`. */
export const isOfAnotherNode = (alias: string | undefined, stateDir: string): boolean =>
  alias?.startsWith(BRIDGE_ALIAS) === true && alias !== bridgeAlias(stateDir);

/** Returns the ID of a link's sandbox if the link belongs to this bridge. */
export function sandboxOfAlias(bridge: string, alias: string | undefined): string | undefined {
  const start = linkAlias(bridge, '');
  return alias?.startsWith(start) ? alias.slice(start.length) : undefined;
}
