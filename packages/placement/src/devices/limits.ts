/** Device plugin timeouts and limits that are not configurable, with references. */

/** Grace period during which the devices of a disconnected plugin still count (upstream's endpointStopGracePeriod). */
export const DEVICE_PLUGIN_GRACE_MS = 5 * 60_000;
/** Timeout for connecting to a registering plugin, the same as upstream's dial timeout. */
export const DEVICE_PLUGIN_CONNECT_TIMEOUT_MS = 10_000;
/** Timeout of Allocate. Upstream has none, but here other pods waiting for the resource would hang too. */
export const DEVICE_ALLOCATE_TIMEOUT_MS = 60_000;
/** Timeout of PreStartContainer (upstream's KubeletPreStartContainerRPCTimeoutInSecs). */
export const DEVICE_PRE_START_TIMEOUT_MS = 30_000;
/** Maximum size of a device list, the same as the default message size limit of Go's gRPC clients. */
export const MAX_DEVICE_LIST_BYTES = 4 << 20;
/** Maximum number of devices in a list. A list of this length, with IDs of typical length, stays within the maximum message size. */
export const MAX_DEVICES = 65_536;
export const MAX_DEVICE_ID_LENGTH = 4096;
/** Maximum number of NUMA nodes: the width of upstream's bit masks. */
export const MAX_DEVICE_NODES = 64;
/** Maximum number of registered resources. Each needs its own connection. */
export const MAX_DEVICE_RESOURCES = 256;
