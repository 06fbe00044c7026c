/**
 * Format version of the kubelet's files: checkpoints, pod statuses and image pull records. Increase it when the previous version of
 * Podwright could no longer read them; that version then refuses to start.
 */
export const KUBELET_FORMAT = 1;
