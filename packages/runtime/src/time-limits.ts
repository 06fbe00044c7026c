/** How long the runtime waits for what, in milliseconds. Tasks and shims have their own beside them. */

/** Starting or stopping a sandbox in all: the kubelet's deadline for RunPodSandbox (4 minutes). */
export const SANDBOX_WORK_TIMEOUT_MS = 240_000;
/** A sandbox that takes longer to start waits for something else than a processor, and holds up no others. */
export const SANDBOX_START_PATIENCE_MS = 250;
/** Sandboxes are made ahead when the runtime has done nothing for so long. */
export const SANDBOX_REFILL_PAUSE_MS = 200;

/** For how long one call has RCU grace periods expedited: one that takes longer waits for something else. */
export const EXPEDITE_LIMIT_MS = 2000;

/** Taking down a network that no record knows, or that failed half-way. */
export const NETWORK_TEAR_DOWN_TIMEOUT_MS = 60_000;
/** What CNI plugins take to answer STATUS. */
export const NETWORK_STATUS_TIMEOUT_MS = 20_000;
/** A program of the packet filter, or ip(8). */
export const NETWORK_PROGRAM_TIMEOUT_MS = 20_000;
/** Rules can be lost behind our back, by `nft flush ruleset` or a reload of a firewall: they are looked at so often. */
export const NETWORK_RECHECK_MS = 60_000;

/** Loading the module of a plugin of others, which may have much to load. */
export const PLUGIN_LOAD_TIMEOUT_MS = 60_000;
/** Starting a plugin of others: its instance may have much to recover. */
export const PLUGIN_INIT_TIMEOUT_MS = 300_000;

/**
 * How long work may still go on when the runtime is closed, and then how long it may be rolled back; the next start undoes
 * or finishes what is cut off.
 */
export const CLOSE_GRACE_MS = 5000;

/** How long a monitor may take to write to a log file anew. */
export const REOPEN_LOG_TIMEOUT_MS = 5000;
/** CheckpointContainer without a timeout of its own: much memory takes minutes to write. */
export const CHECKPOINT_TIMEOUT_MS = 600_000;
/** How often a netlink request is made whose answers were lost. */
export const NETLINK_ATTEMPTS = 5;
/** How long a bridge may take until it forwards for a new link. */
export const PORT_FORWARDS_TIMEOUT_MS = 500;
/** How soon it is looked first whether the link of a pod that was taken down has gone with its namespace; then ever less often. */
export const LINK_END_POLL_MS = 10;
/** How long somebody may keep such a namespace until the link is removed. */
export const LINK_END_TIMEOUT_MS = 10_000;
/** How long a network that is closed waits for links that are ending. */
export const LINKS_END_GRACE_MS = 1000;
