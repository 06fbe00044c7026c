/** Exports for clients of a node's Kubernetes API that look up objects of any kind. */
export { ApiResources, pathIn } from './api-resources.ts';
export { inApplyOrder, isGround } from './apply-order.ts';
