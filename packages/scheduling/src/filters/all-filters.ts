import type { Filter } from './filter.ts';
import {
  nodeAffinity,
  nodeName,
  nodePorts,
  nodeResourcesFit,
  nodeUnschedulable,
  taintToleration,
} from './node-filters.ts';
import { interPodAffinity } from './pod-affinity.ts';
import { podTopologySpread } from './topology-spread.ts';
import { volumeBinding, volumeRestrictions, volumeZone } from './volume-filters.ts';

/** The filters in upstream's order. The first one that rejects a node provides the reason. */
export const FILTERS: readonly Filter[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
];
