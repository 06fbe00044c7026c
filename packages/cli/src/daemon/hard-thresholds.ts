import { DEFAULT_HARD_THRESHOLDS, type KubeletConfiguration } from '@podwright/kubelet-configuration';

/** Upstream's where nobody says anything, or where what is said is to stand beside them. */
export function hardThresholds({
  evictionHard: given,
  mergeDefaultEvictionSettings: merges,
}: KubeletConfiguration): Readonly<Record<string, string>> {
  return given === undefined || merges ? { ...DEFAULT_HARD_THRESHOLDS, ...given } : given;
}
