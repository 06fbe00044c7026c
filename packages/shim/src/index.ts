/** containerd shims: starting them, calling them over ttrpc, and receiving their events. See README.md. */

/** Options of runc's shim (`containerd.runc.v1.Options`): the OCI runtime and its state directory. */
export { OptionsSchema as RuncOptionsSchema } from './gen/containerd/runc/v1/options_pb.js';
/** containerd's Sandbox API, which shims may serve (`containerd.runtime.sandbox.v1`). */
export { Sandbox as SandboxService } from './gen/containerd/runtime/sandbox/v1/sandbox_pb.js';
/** The shims' task service, and its response for a task that has exited. */
export { Task as TaskService, type WaitResponse } from './gen/containerd/task/v2/shim_pb.js';
/** Metrics of a task or sandbox, as reported by its shim. */
export { MetricSchema } from './gen/containerd/types/metrics_pb.js';
/** The states of a task. */
export { Status } from './gen/containerd/v1/types/task_pb.js';
/** Options of shims other than runc's (`runtimeoptions.v1.Options`): the path of their configuration file. */
export { OptionsSchema as ConfigOptionsSchema } from './gen/runtimeoptions/v1/api_pb.js';
/** A connection to a running shim. */
export { Shim } from './shim.ts';
/** The address of a shim. */
export { type ShimEndpoint, socketPath } from './shim-endpoint.ts';
/** Events that shims forward: process exits and OOM kills. */
export type { ShimEvent, ShimEvents } from './shim-events.ts';
/** Converts a shim's metrics to cgroup statistics. */
export { statsOfMetric } from './shim-metrics.ts';
/** A shim's binary, and the parameters for invoking it. */
export { packOptions, type ShimCall, type ShimHome, type ShimProgram, startShim } from './shim-program.ts';
/** A runtime's shims: starts them, reconnects to them, and cleans up after them. */
export { Shims, type ShimsOptions } from './shims.ts';
