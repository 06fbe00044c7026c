export { danglingCondition, type FlowCondition } from './dangling-condition.ts';
export type { FlowClass } from './flow-class.ts';
export { ADJUST_EVERY_MS, FlowControl, FlowRefused } from './flow-control.ts';
export { FlowMetrics } from './flow-metrics.ts';
export type { FlowRequest } from './flow-request.ts';
export { LongRunning } from './long-running.ts';
export { type FlowChanges, flowChanges } from './maintain-flows.ts';
