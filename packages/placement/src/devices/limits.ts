/** Device plugins: timers and bounds that are not options, with their sources. */

/** How long the devices of a plugin that has gone are counted, as upstream (endpointStopGracePeriod). */
export const DEVICE_PLUGIN_GRACE_MS = 5 * 60_000;
/** How long a plugin that registers may take to answer, as upstream's dial. */
export const DEVICE_PLUGIN_CONNECT_TIMEOUT_MS = 10_000;
/** How long a plugin may take to give out devices: upstream waits without end, and so do all pods after it. */
export const DEVICE_ALLOCATE_TIMEOUT_MS = 60_000;
/** Before the start of a container: upstream's KubeletPreStartContainerRPCTimeoutInSecs. */
export const DEVICE_PRE_START_TIMEOUT_MS = 30_000;
/** A list of devices: what a client of Go's gRPC takes. */
export const MAX_DEVICE_LIST_BYTES = 4 << 20;
/** What such a list has room for with ids of a sensible length. */
export const MAX_DEVICES = 65_536;
export const MAX_DEVICE_ID_LENGTH = 4096;
/** NUMA nodes that a host can have, as upstream's masks. */
export const MAX_DEVICE_NODES = 64;
/** Resources that plugins register: a kubelet keeps a connection for each. */
export const MAX_DEVICE_RESOURCES = 256;
