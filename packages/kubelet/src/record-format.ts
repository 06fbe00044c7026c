/**
 * The format of the kubelet's files: checkpoints, statuses of pods, pull records. Increase it when the version before could not read
 * them any more; a start of that version is then refused.
 */
export const KUBELET_FORMAT = 1;
