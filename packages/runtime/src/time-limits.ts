/** Time limits of the runtime, in milliseconds. The limits of tasks and shims are next to their code. */

/** Limit for starting or stopping a sandbox as a whole: the kubelet's deadline for RunPodSandbox (4 minutes). */
export const SANDBOX_WORK_TIMEOUT_MS = 240_000;
/** A sandbox start that takes longer than this is not waiting for a processor, so the next start proceeds without waiting for it. */
export const SANDBOX_START_PATIENCE_MS = 250;
/** Once the runtime has been idle for this long, it creates sandboxes in advance. */
export const SANDBOX_REFILL_PAUSE_MS = 200;

/** Maximum time for which one call keeps RCU grace periods expedited. A longer call is waiting for something else. */
export const EXPEDITE_LIMIT_MS = 2000;

/** Limit for tearing down a network that has no record, or whose set-up failed half-way. */
export const NETWORK_TEAR_DOWN_TIMEOUT_MS = 60_000;
/** Limit for a CNI plugin's reply to STATUS. */
export const NETWORK_STATUS_TIMEOUT_MS = 20_000;
/** Limit for one run of a packet filter program or ip(8). */
export const NETWORK_PROGRAM_TIMEOUT_MS = 20_000;
/** Interval of the check for missing rules: `nft flush ruleset` or a firewall reload removes them without notification. */
export const NETWORK_RECHECK_MS = 60_000;

/** Limit for loading the module of a third-party plugin with all of its imports. */
export const PLUGIN_LOAD_TIMEOUT_MS = 60_000;
/** Limit for `init` of a third-party plugin, which may have much to recover. */
export const PLUGIN_INIT_TIMEOUT_MS = 300_000;

/**
 * When the runtime is closed, work in progress may finish for this long, and its rollback may then take as long again. The next
 * start undoes or finishes interrupted work.
 */
export const CLOSE_GRACE_MS = 5000;

/** Limit for conmon to reopen a log file. */
export const REOPEN_LOG_TIMEOUT_MS = 5000;
/** Limit for a CheckpointContainer call that sets no timeout. Writing a large memory takes minutes. */
export const CHECKPOINT_TIMEOUT_MS = 600_000;
/** Maximum number of attempts at a netlink request whose replies get lost. */
export const NETLINK_ATTEMPTS = 5;
/** Limit for a bridge port to reach the forwarding state. */
export const PORT_FORWARDS_TIMEOUT_MS = 500;
/** First delay before checking whether the kernel has removed a pod's link with its network namespace. The delay grows with each check. */
export const LINK_END_POLL_MS = 10;
/** How long another process may keep that namespace alive before the runtime removes the link itself. */
export const LINK_END_TIMEOUT_MS = 10_000;
/** How long closing the network waits for such links. */
export const LINKS_END_GRACE_MS = 1000;
