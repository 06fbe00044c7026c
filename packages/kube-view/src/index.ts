export { ApiViewReader, type ViewCalls } from './api-view-reader.ts';
export type { Finding, LogEnd } from './causes/finding.ts';
export { explainPod, isPodWell } from './causes/pod-causes.ts';
export { probeText } from './causes/probe-text.ts';
export { explainRestarts } from './causes/restarts.ts';
export type { Explanation, Link } from './chains/explanation.ts';
export { why } from './chains/why.ts';
export { EXPLAINED, type Subject, VIEWED, type ViewReader } from './view-reader.ts';
export { isEndless, isWorkload, type Workload, type WorkloadState, workloadState } from './workload-state.ts';
