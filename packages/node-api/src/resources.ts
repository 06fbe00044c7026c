/** What clients of a node's Kubernetes API need to find objects of any kind. */
export { ApiResources, pathIn } from './api-resources.ts';
export { inApplyOrder, isGround } from './apply-order.ts';
