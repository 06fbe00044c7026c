import { DEFAULT_HARD_THRESHOLDS, type KubeletConfiguration } from '@podwright/kubelet-configuration';

/** Upstream's defaults if evictionHard is unset, or merged with it if mergeDefaultEvictionSettings is set. */
export function hardThresholds({
  evictionHard: given,
  mergeDefaultEvictionSettings: merges,
}: KubeletConfiguration): Readonly<Record<string, string>> {
  return given === undefined || merges ? { ...DEFAULT_HARD_THRESHOLDS, ...given } : given;
}
