import { createHash } from 'node:crypto';

/** Name of a pod's network interface, as Kubernetes expects it. */
export const POD_LINK = 'eth0';

/**
 * Number of hash letters in an interface name, which is limited to 15 characters (IFNAMSIZ, linux/if.h). The bridge name is hashed as well,
 * because two Podwright nodes on the same host can have sandboxes with the same IDs.
 */
const HASH_LETTERS = 11;

/**
 * Name of the host end of a pod's veth pair. Network managers ignore interfaces with such names (NetworkManager's `85-nm-unmanaged.rules`).
 */
export const hostLinkName = (bridge: string, sandboxId: string): string => `veth${hashOf(bridge, sandboxId)}`;

/** Name of the ifb device to which a pod's egress is redirected for rate limiting. */
export const shaperLinkName = (bridge: string, sandboxId: string): string => `ifb${hashOf(bridge, sandboxId)}`;

const hashOf = (bridge: string, sandboxId: string): string =>
  createHash('sha256').update(`${bridge}/${sandboxId}`).digest('hex').slice(0, HASH_LETTERS);

/** A link's `alias`, which identifies the bridge and the sandbox it belongs to. */
export const linkAlias = (bridge: string, sandboxId: string): string => `podwright ${bridge} ${sandboxId}`;

const BRIDGE_ALIAS = 'podwright-node ';

/** A bridge's `alias`: the state directory of the Podwright node that created it, truncated to the kernel's limit. */
export const bridgeAlias = (stateDir: string): string => `${BRIDGE_ALIAS}${stateDir}`.slice(0, 255);

/** Whether a bridge's alias names a state directory other than `stateDir`, so that the bridge belongs to another Podwright node. */
export const isOfAnotherNode = (alias: string | undefined, stateDir: string): boolean =>
  alias?.startsWith(BRIDGE_ALIAS) === true && alias !== bridgeAlias(stateDir);

/** Returns the sandbox ID of a link if the link belongs to this bridge. */
export function sandboxOfAlias(bridge: string, alias: string | undefined): string | undefined {
  const start = linkAlias(bridge, '');
  return alias?.startsWith(start) ? alias.slice(start.length) : undefined;
}
