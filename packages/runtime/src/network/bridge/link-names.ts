import { createHash } from 'node:crypto';

/** The name of an interface in a pod, which Kubernetes expects. */
export const POD_LINK = 'eth0';

/** Longest name of an interface with IFNAMSIZ (linux/if.h): 15 letters. The bridge is in it, as ids may be the same on two nodes. */
const HASH_LETTERS = 11;

/**
 * The host's end of a pod's link. Programs that set up new network cards let names of this form alone (NetworkManager's
 * `85-nm-unmanaged.rules`).
 */
export const hostLinkName = (bridge: string, sandboxId: string): string => `veth${hashOf(bridge, sandboxId)}`;

/** The link that what comes from a pod goes through if it is limited. */
export const shaperLinkName = (bridge: string, sandboxId: string): string => `ifb${hashOf(bridge, sandboxId)}`;

const hashOf = (bridge: string, sandboxId: string): string =>
  createHash('sha256').update(`${bridge}/${sandboxId}`).digest('hex').slice(0, HASH_LETTERS);

/** What is written down at a link about whose it is (its `alias`). */
export const linkAlias = (bridge: string, sandboxId: string): string => `podwright ${bridge} ${sandboxId}`;

const BRIDGE_ALIAS = 'podwright-node ';

/** What is written down at a bridge about the node that has made it: its state directory, as far as the kernel takes it. */
export const bridgeAlias = (stateDir: string): string => `${BRIDGE_ALIAS}${stateDir}`.slice(0, 255);

/** Whether a bridge says that another node than that of `stateDir` has made it. */
export const isOfAnotherNode = (alias: string | undefined, stateDir: string): boolean =>
  alias?.startsWith(BRIDGE_ALIAS) === true && alias !== bridgeAlias(stateDir);

/** The sandbox of a link, if it is one of this bridge's. */
export function sandboxOfAlias(bridge: string, alias: string | undefined): string | undefined {
  const start = linkAlias(bridge, '');
  return alias?.startsWith(start) ? alias.slice(start.length) : undefined;
}
