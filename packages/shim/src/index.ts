/** containerd's shims: start, calls by ttrpc, events. See README.md. */

/** The options message of runc's shim (`containerd.runc.v1.Options`): the OCI runtime and where it keeps its state. */
export { OptionsSchema as RuncOptionsSchema } from './gen/containerd/runc/v1/options_pb.js';
/** containerd's Sandbox API, as shims serve it (`containerd.runtime.sandbox.v1`). */
export { Sandbox as SandboxService } from './gen/containerd/runtime/sandbox/v1/sandbox_pb.js';
/** The task service of shims, and how a task ended by it. */
export { Task as TaskService, type WaitResponse } from './gen/containerd/task/v2/shim_pb.js';
/** What a shim counts of a task or sandbox. */
export { MetricSchema } from './gen/containerd/types/metrics_pb.js';
/** The states of a task. */
export { Status } from './gen/containerd/v1/types/task_pb.js';
/** The options message of other shims (`runtimeoptions.v1.Options`): where their configuration is. */
export { OptionsSchema as ConfigOptionsSchema } from './gen/runtimeoptions/v1/api_pb.js';
/** A connection to a running shim. */
export { Shim } from './shim.ts';
/** Where a shim is reached. */
export { type ShimEndpoint, socketPath } from './shim-endpoint.ts';
/** What shims forward: the ends of processes, and tasks that the kernel killed for memory. */
export type { ShimEvent, ShimEvents } from './shim-events.ts';
/** Metrics of a shim as statistics of a cgroup. */
export { statsOfMetric } from './shim-metrics.ts';
/** A shim's binary, and what it is called with. */
export { packOptions, type ShimCall, type ShimHome, type ShimProgram, startShim } from './shim-program.ts';
/** Shims of one runtime: start, find again, clean up. */
export { Shims, type ShimsOptions } from './shims.ts';
