/** Time limits of the container runtime, in milliseconds. Those for tasks and shims are next to their code. */

/** Timeout for an entire sandbox start or stop: the kubelet's deadline for RunPodSandbox (4 minutes). */
export const SANDBOX_WORK_TIMEOUT_MS = 240_000;
/**
 * How long a sandbox start may hold up the next one. A start that takes longer than this is waiting for something other than CPU time, so
 * the next one can proceed.
 */
export const SANDBOX_START_PATIENCE_MS = 250;
/** How long the runtime must have been idle before it creates sandboxes in advance. */
export const SANDBOX_REFILL_PAUSE_MS = 200;

/** How long a single call may keep RCU grace periods expedited. A call that takes longer is waiting for something else. */
export const EXPEDITE_LIMIT_MS = 2000;

/** Timeout for tearing down a network that has no record, or whose setup failed partway. */
export const NETWORK_TEAR_DOWN_TIMEOUT_MS = 60_000;
/** Timeout for a CNI plugin's response to STATUS. */
export const NETWORK_STATUS_TIMEOUT_MS = 20_000;
/** Timeout for one run of a packet filter program or ip(8). */
export const NETWORK_PROGRAM_TIMEOUT_MS = 20_000;
/** How often to check for missing packet filter rules, which `nft flush ruleset` or a firewall reload removes without notification. */
export const NETWORK_RECHECK_MS = 60_000;

/** Timeout for loading a third-party plugin's module with all of its imports. */
export const PLUGIN_LOAD_TIMEOUT_MS = 60_000;
/** Timeout for a third-party plugin's `init`, which might have a lot to recover. */
export const PLUGIN_INIT_TIMEOUT_MS = 300_000;

/**
 * Grace period for work in progress when the runtime is closed. Its rollback gets the same time again. Interrupted work is undone or
 * completed at the next start.
 */
export const CLOSE_GRACE_MS = 5000;

/** Timeout for conmon to reopen a log file. */
export const REOPEN_LOG_TIMEOUT_MS = 5000;
/** Default timeout for CheckpointContainer calls. Dumping a large amount of memory takes minutes. */
export const CHECKPOINT_TIMEOUT_MS = 600_000;
/** Maximum number of attempts at a netlink request if its responses get lost. */
export const NETLINK_ATTEMPTS = 5;
/** Timeout for a bridge port to reach the forwarding state. */
export const PORT_FORWARDS_TIMEOUT_MS = 500;
/**
 * Delay before the first check whether the kernel has removed a pod's network link along with its network namespace. Increases with each
 * check.
 */
export const LINK_END_POLL_MS = 10;
/** How long another process may keep a network namespace alive before the pod's link is removed by name. */
export const LINK_END_TIMEOUT_MS = 10_000;
/** How long closing the network waits for the kernel to remove released pods' links. */
export const LINKS_END_GRACE_MS = 1000;
